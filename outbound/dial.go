package outbound

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/botctx/go-sdk/boterr"
)

// Limits that hold for every connection, within the time limit of the request.
const (
	connectTimeout      = 10 * time.Second // for each address of a name
	tlsHandshakeTimeout = 10 * time.Second
	idleConnTimeout     = 90 * time.Second
	maxIdleConns        = 2 * DefaultMaxConnsPerHost
	maxHeaderBytes      = 1 << 20 // of a response
	maxStreamBytes      = 1 << 20 // of a response over HTTP/2 that has arrived and was not read; the default is 4 MB
)

// Resolver looks up the addresses of a name. *net.Resolver meets it.
type Resolver interface {
	// LookupNetIP returns the addresses of the host; network is "ip", for both
	// versions.
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// transport returns what carries the requests: the one that was given, or one
// over TCP whose every connection is made by a dialer.
func (c Config) transport(allow AllowList) http.RoundTripper {
	if c.Transport != nil {
		return c.Transport
	}
	guard := &dialer{allow: allow, resolver: c.Resolver, connect: c.Dial, timeout: orDefault(c.Timeout, DefaultTimeout)}
	if guard.resolver == nil {
		guard.resolver = net.DefaultResolver
	}
	if guard.connect == nil {
		guard.connect = connectTCP
	}
	perHost := orDefault(c.MaxConnsPerHost, DefaultMaxConnsPerHost)
	return &http.Transport{
		Proxy:                  nil, // a proxy of the environment would dial in the place of the dialer
		DialContext:            guard.dial,
		TLSClientConfig:        c.tls(),
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    tlsHandshakeTimeout,
		IdleConnTimeout:        idleConnTimeout,
		MaxIdleConns:           max(maxIdleConns, perHost),
		MaxIdleConnsPerHost:    perHost, // the default of http.Transport is 2
		MaxConnsPerHost:        perHost,
		MaxResponseHeaderBytes: maxHeaderBytes,
		HTTP2:                  &http.HTTP2Config{MaxReceiveBufferPerStream: maxStreamBytes},
	}
}

// HostTransport returns a transport for what the host application itself connects to, such
// as the API of a platform: without the guard of a Client, through the environment's proxy
// if there is one, and with the connections of a zero Config.
func HostTransport() *http.Transport {
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		ForceAttemptHTTP2:   true,
		TLSHandshakeTimeout: tlsHandshakeTimeout,
		IdleConnTimeout:     idleConnTimeout,
		MaxIdleConns:        maxIdleConns,
		MaxIdleConnsPerHost: DefaultMaxConnsPerHost,
		MaxConnsPerHost:     DefaultMaxConnsPerHost,

		MaxResponseHeaderBytes: maxHeaderBytes,
	}
}

// tls returns the configuration for https, as a copy.
func (c Config) tls() *tls.Config {
	if c.TLS == nil {
		return &tls.Config{MinVersion: tls.VersionTLS12}
	}
	return c.TLS.Clone()
}

// connectTCP is the Dial of a zero Config.
func connectTCP(ctx context.Context, address netip.AddrPort) (net.Conn, error) {
	// Not DialTCP: it binds a port before it connects, even to the zero address, and a port that
	// was bound serves one connection to anywhere.
	var d net.Dialer
	return d.DialContext(ctx, "tcp", address.String())
}

// dialer connects to public addresses, and to those that the list allows.
type dialer struct {
	allow    AllowList
	resolver Resolver
	connect  func(ctx context.Context, address netip.AddrPort) (net.Conn, error)
	// timeout ends a dial that outlives its request: http.Transport lets it go
	// on, for a later request to use.
	timeout time.Duration
}

// dial connects to "host:port". It resolves the host once, checks all addresses,
// and then connects to the first of them that answers.
func (d *dialer) dial(ctx context.Context, _, hostPort string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	host, portText, err := net.SplitHostPort(hostPort)
	if err != nil {
		return nil, err
	}
	port, err := strconv.ParseUint(portText, 10, 16)
	if err != nil {
		return nil, fmt.Errorf("port of %s: %w", host, err)
	}
	addrs, err := d.resolve(ctx, host)
	if err != nil {
		return nil, err
	}
	if err := d.check(host, addrs, uint16(port)); err != nil {
		return nil, err
	}
	return d.first(ctx, addrs, uint16(port))
}

// resolve returns the addresses of a host, at least one.
func (d *dialer) resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	if addr, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{addr.Unmap()}, nil
	}
	found, err := d.resolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%s has no address", host)
	}
	addrs := make([]netip.Addr, len(found)) // a copy: the resolver may keep its own
	for i, addr := range found {
		addrs[i] = addr.Unmap()
	}
	return addrs, nil
}

// check returns an error unless every address may be reached. A name that mixes
// public and other addresses is refused as a whole: which one is tried first
// must not decide, and an honest name has no reason to.
func (d *dialer) check(host string, addrs []netip.Addr, port uint16) error {
	for _, addr := range addrs {
		kind := kindOf(addr)
		if kind == public || d.allow.allows(strings.ToLower(host), addr, port) {
			continue
		}
		return boterr.Invalid("url", "the host %s leads to %s; use a public one, or have the host application allow it",
			host, kind)
	}
	return nil
}

// first connects to the first address that answers, in the resolver's order. If
// none does, the error is that of the first.
func (d *dialer) first(ctx context.Context, addrs []netip.Addr, port uint16) (net.Conn, error) {
	var failed error
	for _, addr := range addrs {
		conn, err := d.attempt(ctx, netip.AddrPortFrom(addr, port))
		if err == nil {
			return conn, nil
		}
		if failed == nil {
			failed = err
		}
	}
	return nil, failed
}

// attempt connects to one address within its share of the time.
func (d *dialer) attempt(ctx context.Context, address netip.AddrPort) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	return d.connect(ctx, address)
}
