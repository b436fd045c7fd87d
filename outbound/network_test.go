package outbound_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/outbound"
)

// TestMain gives all tests an environment with a proxy at an address where
// nothing is. net/http reads it once in a process, so it has to stand from the
// start; a client that used it would fail every test that reaches a server.
func TestMain(m *testing.M) {
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"} {
		if err := os.Setenv(name, "http://127.0.0.1:1"); err != nil {
			panic(err)
		}
	}
	m.Run()
}

// Public addresses that stand for servers of the network below.
const (
	somewhere = "93.184.215.14"
	elsewhere = "151.101.1.140"
)

// network is a small internet: names with addresses, and servers behind them.
type network struct {
	t testing.TB

	mu       sync.Mutex
	names    map[string][][]netip.Addr // the answers for a name; the last one stays
	servers  map[netip.AddrPort]string // where the server of an address listens
	lookedUp []string
	dialled  []string
}

// newNetwork returns a network with nothing in it.
func newNetwork(tb testing.TB) *network {
	tb.Helper()
	return &network{t: tb, names: map[string][][]netip.Addr{}, servers: map[netip.AddrPort]string{}}
}

// resolves adds an answer for a name.
func (n *network) resolves(name string, addresses ...string) {
	addrs := make([]netip.Addr, len(addresses))
	for i, text := range addresses {
		addrs[i] = netip.MustParseAddr(text)
	}
	n.names[name] = append(n.names[name], addrs)
}

// serves puts a server at an address with a port.
func (n *network) serves(address string, handler http.HandlerFunc) {
	server := httptest.NewServer(handler)
	n.t.Cleanup(server.Close)
	n.servers[netip.MustParseAddrPort(address)] = server.Listener.Addr().String()
}

// servesTLS puts a server for https at an address with a port. Its certificate is
// for example.com; the configuration that it returns trusts it.
func (n *network) servesTLS(address string, handler http.HandlerFunc) *tls.Config {
	server := httptest.NewUnstartedServer(handler)
	server.EnableHTTP2 = true
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError) // clients that do not trust it are expected
	server.StartTLS()
	n.t.Cleanup(server.Close)
	n.servers[netip.MustParseAddrPort(address)] = server.Listener.Addr().String()
	return server.Client().Transport.(*http.Transport).TLSClientConfig
}

// LookupNetIP answers as the network's resolver.
func (n *network) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lookedUp = append(n.lookedUp, host)
	answers, ok := n.names[host]
	if !ok {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	if len(answers) > 1 {
		n.names[host] = answers[1:]
	}
	return answers[0], nil
}

// dial connects to the server of an address.
func (n *network) dial(ctx context.Context, address netip.AddrPort) (net.Conn, error) {
	n.mu.Lock()
	n.dialled = append(n.dialled, address.String())
	server, ok := n.servers[address]
	n.mu.Unlock()
	if !ok {
		return nil, fmt.Errorf("dial %s: connection refused", address)
	}
	var d net.Dialer
	return d.DialContext(ctx, "tcp", server)
}

// client returns a client in the network.
func (n *network) client(config outbound.Config) *outbound.Client {
	n.t.Helper()
	config.Resolver, config.Dial = n, n.dial
	return newClient(n.t, config)
}

// newClient returns a client whose connections end with the test.
func newClient(tb testing.TB, config outbound.Config) *outbound.Client {
	tb.Helper()
	client, err := outbound.New(config)
	require.NoError(tb, err)
	tb.Cleanup(client.CloseIdleConnections)
	return client
}

// get fetches a URL.
func get(t *testing.T, doer outbound.Doer, target string) (*outbound.Response, error) {
	t.Helper()
	return outbound.Fetch(t.Context(), doer, outbound.Request{URL: target})
}

// says is a handler that answers with a text.
func says(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) }
}

// unreached is a handler that must not be called.
func unreached(t *testing.T) http.HandlerFunc {
	t.Helper()
	return func(_ http.ResponseWriter, r *http.Request) { t.Errorf("%s %s arrived", r.Method, r.URL) }
}
