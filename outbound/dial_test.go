package outbound_test

import (
	"bytes"
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
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/outbound"
)

func TestDial_PublicHost(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	n.resolves("example.com", somewhere)
	n.serves(somewhere+":80", says("hello"))
	client := n.client(outbound.Config{})
	for range 2 {
		resp, err := get(t, client, "http://example.com/")
		require.NoError(t, err)
		require.Equal(t, "hello", resp.Text())
		client.CloseIdleConnections()
	}
	require.Equal(t, []string{somewhere + ":80", somewhere + ":80"}, n.dialled)
}

func TestDial_TLSToNameOfURL(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	n.resolves("example.com", somewhere)
	n.resolves("example.org", somewhere)
	trusted := n.servesTLS(somewhere+":443", func(w http.ResponseWriter, r *http.Request) { says(r.Proto)(w, r) })
	client := n.client(outbound.Config{TLS: trusted})
	resp, err := get(t, client, "https://example.com/")
	require.NoError(t, err)
	require.Equal(t, "HTTP/2.0", resp.Text())
	_, err = get(t, client, "https://example.org/")
	requireCode(t, err, boterr.Unavailable, "")
	require.ErrorContains(t, err, "certificate")
	_, err = get(t, n.client(outbound.Config{}), "https://example.com/")
	requireCode(t, err, boterr.Unavailable, "")
}

func TestDial_NameOfPrivateAddress(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		addresses []string
		kind      string
	}{
		"loopback":               {[]string{"127.0.0.1"}, "a loopback"},
		"loopback of IPv6":       {[]string{"::1"}, "a loopback"},
		"private":                {[]string{"10.0.0.1"}, "a private"},
		"metadata":               {[]string{"169.254.169.254"}, "a link-local"},
		"link-local with a zone": {[]string{"fe80::1%eth0"}, "a link-local"},
		"unique local":           {[]string{"fd00::1"}, "a private"},
		"mapped":                 {[]string{"::ffff:192.168.0.1"}, "a private"},
		"embedded":               {[]string{"64:ff9b::a00:1"}, "a private"},
		"unspecified":            {[]string{"0.0.0.0"}, "an unspecified"},
		"private after public":   {[]string{somewhere, "10.0.0.1"}, "a private"},
		"private before public":  {[]string{"10.0.0.1", somewhere}, "a private"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newNetwork(t)
			n.resolves("rebound.example", c.addresses...)
			var log bytes.Buffer
			_, err := get(t, n.client(outbound.Config{Logger: slog.New(slog.NewTextHandler(&log, nil))}), "http://rebound.example/")
			requireRefused(t, err)
			require.ErrorContains(t, err, "the host rebound.example is not allowed; use one whose addresses are all public, or have")
			require.NotContains(t, err.Error(), c.kind, "bot logic must not learn what names mean in the host's network")
			require.Contains(t, log.String(), `host=rebound.example address="`+c.kind+` address"`)
			require.Empty(t, n.dialled)
		})
	}
}

func TestDial_EmptyAddress(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	n.names["empty.example"] = [][]netip.Addr{{{}}}
	_, err := get(t, n.client(outbound.Config{}), "http://empty.example/")
	requireRefused(t, err)
}

// A name could resolve to a public address for the check and to a private one for the connection. Resolving it only
// once prevents that.
func TestDial_CheckedAddress(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	n.resolves("rebound.example", somewhere)
	n.resolves("rebound.example", "127.0.0.1")
	n.serves("127.0.0.1:80", unreached(t))
	n.serves(somewhere+":80", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Connection", "close") // The next request must dial again.
	})
	client := n.client(outbound.Config{})
	_, err := get(t, client, "http://rebound.example/")
	require.NoError(t, err)
	require.Equal(t, []string{"rebound.example"}, n.lookedUp)

	_, err = get(t, client, "http://rebound.example/")
	requireRefused(t, err)
	require.Equal(t, []string{"rebound.example", "rebound.example"}, n.lookedUp)
	require.Equal(t, []string{somewhere + ":80"}, n.dialled)
}

func TestDial_LiteralWithoutLookUp(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	client := n.client(outbound.Config{})
	for _, host := range []string{"127.0.0.1", "[::1]", "2130706433", "0x7f.1", "localhost"} {
		_, err := get(t, client, "http://"+host+"/")
		requireRefused(t, err)
	}
	_, err := get(t, client, "http://8.8.8.8/")
	requireCode(t, err, boterr.Unavailable, "")
	require.Empty(t, n.lookedUp)
	require.Equal(t, []string{"8.8.8.8:80"}, n.dialled)
}

func TestDial_AllowedHost(t *testing.T) {
	t.Parallel()
	for _, entry := range []string{"files.internal", "FILES.internal:8080", "10.1.2.3", "10.1.2.3:8080", "10.1.0.0/16"} {
		t.Run(entry, func(t *testing.T) {
			t.Parallel()
			n := newNetwork(t)
			n.resolves("files.internal", "10.1.2.3")
			n.resolves("Files.Internal", "10.1.2.3")
			n.serves("10.1.2.3:8080", says("file"))
			client := n.client(outbound.Config{Allow: []string{entry}})
			for _, name := range []string{"files.internal", "Files.Internal"} {
				resp, err := get(t, client, "http://"+name+":8080/")
				require.NoError(t, err)
				require.Equal(t, "file", resp.Text())
			}
		})
	}
}

func TestDial_AllowedOnlyElsewhere(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	n.resolves("files.internal", "10.1.2.3")
	n.resolves("sub.files.internal", "10.1.2.3")
	n.resolves("mixed.internal", "10.1.2.4", "10.1.2.5")
	client := n.client(outbound.Config{Allow: []string{"files.internal:8080", "10.1.2.4"}})
	for _, target := range []string{"http://files.internal/", "http://sub.files.internal:8080/", "http://mixed.internal/"} {
		_, err := get(t, client, target)
		requireRefused(t, err)
	}
	require.Empty(t, n.dialled)
}

func TestDial_TriesNextAddress(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	n.resolves("example.com", "2606:4700::1111", somewhere)
	n.serves(somewhere+":80", says("hello"))
	resp, err := get(t, n.client(outbound.Config{}), "http://example.com/")
	require.NoError(t, err)
	require.Equal(t, "hello", resp.Text())
	require.Equal(t, []string{"[2606:4700::1111]:80", somewhere + ":80"}, n.dialled)
}

func TestDial_MappedAddressAsIPv4(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	n.resolves("example.com", "::ffff:"+somewhere)
	n.serves(somewhere+":80", says("hello"))
	_, err := get(t, n.client(outbound.Config{}), "http://example.com/")
	require.NoError(t, err)
	require.Equal(t, []string{somewhere + ":80"}, n.dialled)
}

func TestDial_NetworkFails(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	n.resolves("down.example", somewhere, elsewhere)
	n.resolves("void.example")
	client := n.client(outbound.Config{})
	for target, reason := range map[string]string{
		"http://down.example/?key=hunter2":    "dial " + somewhere,
		"http://missing.example/?key=hunter2": "no such host",
		"http://void.example/?key=hunter2":    "no address",
	} {
		_, err := get(t, client, target)
		requireCode(t, err, boterr.Unavailable, "")
		require.ErrorContains(t, err, reason)
		require.NotContains(t, err.Error(), "hunter2")
		require.NotContains(t, err.(*boterr.Error).Err.Error(), "hunter2") //nolint:errorlint // See requireCode.
	}
}

// This test uses the real resolver and dialer of the zero Config.
func TestDial_RealNetwork(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(says("hello"))
	t.Cleanup(server.Close)
	address := strings.TrimPrefix(server.URL, "http://")

	byName := strings.Replace(server.URL, "127.0.0.1", "localhost", 1)
	for target, allow := range map[string]string{server.URL: address, byName: "localhost"} {
		_, err := get(t, newClient(t, outbound.Config{}), target)
		requireRefused(t, err)
		resp, err := get(t, newClient(t, outbound.Config{Allow: []string{allow}}), target)
		require.NoError(t, err)
		require.Equal(t, "hello", resp.Text())
	}

	server.Close()
	_, err := get(t, newClient(t, outbound.Config{Allow: []string{address}}), server.URL)
	requireCode(t, err, boterr.Unavailable, "")
}

func TestDial_EndsWithRequest(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	n := newNetwork(t)
	n.resolves("example.com", somewhere)
	client := newClient(t, outbound.Config{Resolver: n, Dial: func(ctx context.Context, _ netip.AddrPort) (net.Conn, error) {
		cancel()
		<-ctx.Done()
		return nil, ctx.Err()
	}})
	_, err := outbound.Fetch(ctx, client, outbound.Request{URL: "http://example.com/"})
	requireCode(t, err, boterr.Canceled, "")
}

func TestAllowList_AllowsWhatItNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		entry   string
		allowed []string
		refused []string
	}{
		{
			"127.0.0.1",
			[]string{"http://127.0.0.1/", "https://127.0.0.1:8443/", "http://localhost/", "http://[::ffff:127.0.0.1]/"},
			[]string{"http://127.0.0.2/", "http://127.1/", "http://0x7f.0.0.1/", "http://[::1]/", "http://user@127.0.0.1/", "ftp://127.0.0.1/"},
		},
		{"127.0.0.1:8080", []string{"http://127.0.0.1:8080/"}, []string{"http://127.0.0.1/", "http://127.0.0.1:80800/"}},
		{"127.0.0.1:443", []string{"https://127.0.0.1/"}, []string{"http://127.0.0.1/"}},
		{"::ffff:10.0.0.1", []string{"http://10.0.0.1/"}, []string{"http://10.0.0.2/"}},
		{"::1", []string{"http://[::1]/"}, []string{"http://127.0.0.1/", "http://[::2]/"}},
		{"[::1]", []string{"http://[::1]/", "http://[0::1]:99/"}, nil},
		{"[::1]:80", []string{"http://[::1]/"}, []string{"https://[::1]/"}},
		{"10.1.0.0/16", []string{"http://10.1.255.255:1/"}, []string{"http://10.2.0.1/"}},
		{"10.1.2.3/16", []string{"http://10.1.255.255/"}, []string{"http://10.2.0.1/"}},
		{"fd00::/8", []string{"http://[fd00:ec2::254]/"}, []string{"http://[fc00::1]/"}},
		{"localhost", []string{"http://localhost:3000/", "http://LOCALHOST/"}, []string{"http://a.localhost/", "http://127.0.0.1/"}},
		{"LocalHost:3000", []string{"http://localhost:3000/"}, []string{"http://localhost/"}},
	} {
		t.Run(c.entry, func(t *testing.T) {
			t.Parallel()
			for _, text := range c.allowed {
				require.NoError(t, check(text, c.entry), text)
			}
			for _, text := range c.refused {
				requireRefused(t, check(text, c.entry))
			}
		})
	}
}

func TestParseAllowList_NamesBadEntry(t *testing.T) {
	t.Parallel()
	for _, entry := range []string{
		"", " ", "*", "*.example.com", "http://example.com", "example.com/", "user@example.com", "example.com:", "example.com:0",
		"example.com:http", "example.com.", "münchen.example", "127.1", "10.0.0.0/33", "10.0.0/8", "fe80::1%eth0", "[fe80::1%25eth0]",
		"::ffff:10.0.0.0/104", "[::1]:", "a?b", "a#b",
	} {
		_, err := outbound.ParseAllowList("files.internal", entry)
		requireCode(t, err, boterr.InvalidArgument, "allow[1]")
	}
}

// TestMain configures a proxy without a server in the environment, because net/http reads these variables once per
// process. A client that used the proxy would fail every test with a server.
func TestMain(m *testing.M) {
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"} {
		if err := os.Setenv(name, "http://127.0.0.1:1"); err != nil {
			panic(err)
		}
	}
	m.Run()
}

// Public addresses for servers of network.
const (
	somewhere = "93.184.215.14"
	elsewhere = "151.101.1.140"
)

// network is a small internet of names, addresses and servers.
type network struct {
	t testing.TB

	mu       sync.Mutex
	names    map[string][][]netip.Addr // the successive answers for a name; the last one repeats
	servers  map[netip.AddrPort]string // the address at which an address's server listens
	lookedUp []string
	dialled  []string
}

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

// serves starts a server for an address and port.
func (n *network) serves(address string, handler http.HandlerFunc) {
	server := httptest.NewServer(handler)
	n.t.Cleanup(server.Close)
	n.servers[netip.MustParseAddrPort(address)] = server.Listener.Addr().String()
}

// servesTLS starts an https server for an address and port, with a certificate for example.com. The returned
// configuration trusts the certificate.
func (n *network) servesTLS(address string, handler http.HandlerFunc) *tls.Config {
	server := httptest.NewUnstartedServer(handler)
	server.EnableHTTP2 = true
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError) // Some clients do not trust the certificate.
	server.StartTLS()
	n.t.Cleanup(server.Close)
	n.servers[netip.MustParseAddrPort(address)] = server.Listener.Addr().String()
	return server.Client().Transport.(*http.Transport).TLSClientConfig
}

// LookupNetIP implements the network's resolver.
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

func says(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) }
}

// unreached is a handler that must not be called.
func unreached(t *testing.T) http.HandlerFunc {
	t.Helper()
	return func(_ http.ResponseWriter, r *http.Request) { t.Errorf("%s %s arrived", r.Method, r.URL) }
}
