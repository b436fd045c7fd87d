package outbound

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/safelog"
)

// Limits for every connection, within the time limit of the request.
const (
	connectTimeout      = 10 * time.Second // for each address of a name
	tlsHandshakeTimeout = 10 * time.Second
	idleConnTimeout     = 90 * time.Second
	maxIdleConns        = 2 * DefaultMaxConnsPerHost
	maxHeaderBytes      = 1 << 20 // of a response
	maxStreamBytes      = 1 << 20 // for an HTTP/2 response that has arrived and was not read; the default is 4 MB
)

// Resolver looks up the addresses of a name. *net.Resolver implements it.
type Resolver interface {
	// LookupNetIP returns the addresses of the host; network is "ip", for both
	// versions.
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// transport returns the transport for requests: the given one, or one over TCP with connections made by a
// dialer.
func (c Config) transport(allow AllowList) http.RoundTripper {
	if c.Transport != nil {
		return c.Transport
	}
	guard := &dialer{
		allow: allow, resolver: c.Resolver, connect: c.Dial, timeout: cmp.Or(c.Timeout, DefaultTimeout),
		logger: safelog.New(cmp.Or(c.Logger, slog.Default())),
	}
	if guard.resolver == nil {
		guard.resolver = net.DefaultResolver
	}
	if guard.connect == nil {
		guard.connect = connectTCP
	}
	perHost := cmp.Or(c.MaxConnsPerHost, DefaultMaxConnsPerHost)
	return &http.Transport{
		Proxy:                  nil, // with a proxy, the dialer could not check addresses
		DialContext:            guard.dial,
		TLSClientConfig:        c.TLS.Clone(),
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

// HostTransport returns a transport for the host application's own requests, such as to a platform's API:
// without the checks of a Client, through the environment's proxy if there is one, and with the connection
// settings of a zero Config.
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

// GuardedTransport returns a transport for addresses that do not come from the host, such as an address in a
// channel's info. It only connects to public addresses and to addresses in allow. It uses no proxy, because a proxy
// would hide the addresses. A refused address is InvalidArgument. Redirects are up to the caller.
func GuardedTransport(allow AllowList) http.RoundTripper { return Config{}.transport(allow) }

// connectTCP is the Dial of a zero Config.
func connectTCP(ctx context.Context, address netip.AddrPort) (net.Conn, error) {
	// Do not use DialTCP: it binds a port before it connects, even to the zero address, and a bound port
	// serves only one connection to anywhere.
	var d net.Dialer
	return d.DialContext(ctx, "tcp", address.String())
}

// dialer connects to public addresses and to addresses in its allow list.
type dialer struct {
	allow    AllowList
	resolver Resolver
	connect  func(ctx context.Context, address netip.AddrPort) (net.Conn, error)
	// timeout limits a dial that outlives its request. http.Transport finishes such a dial for use by later requests.
	timeout time.Duration
	logger  *slog.Logger
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
		return nil, fmt.Errorf("parsing the port of %s: %w", host, err)
	}
	addrs, err := d.resolve(ctx, host)
	if err != nil {
		return nil, err
	}
	if err := d.check(ctx, host, addrs, uint16(port)); err != nil {
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
	addrs := make([]netip.Addr, len(found)) // a copy, because the resolver may keep the slice
	for i, addr := range found {
		addrs[i] = addr.Unmap()
	}
	return addrs, nil
}

// check returns an error unless every address is allowed. A name with both public and other addresses is refused as a
// whole; otherwise the result would depend on which address is tried first. The error does not show what a name resolves
// to, because bot logic must not explore the host's network. The log does.
func (d *dialer) check(ctx context.Context, host string, addrs []netip.Addr, port uint16) error {
	for _, addr := range addrs {
		kind := kindOf(addr)
		if kind == public || d.allow.allows(strings.ToLower(host), addr, port) {
			continue
		}
		if _, err := netip.ParseAddr(host); err == nil {
			return boterr.Invalid("url", "the host %s is %s; use a public one, or have the host application allow it", host, kind)
		}
		d.logger.LogAttrs(ctx, slog.LevelWarn, "outbound: name refused", slog.String("host", host), slog.String("address", kind))
		return boterr.Invalid("url", "the host %s is not allowed; use one whose addresses are all public, or have the host application allow it",
			host)
	}
	return nil
}

// first connects to the first address that answers, in the resolver's order. If none does, it returns the
// error for the first.
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

// public is kindOf's result for public addresses.
const public = "a public address"

// block is a range of addresses that are not public.
type block struct {
	prefix netip.Prefix
	kind   string
}

// specialBlocks are the blocks in IANA's special-purpose address registries (RFC 6890 and its updates) that may not
// lead to public hosts. The first block that contains an address determines its kind.
var specialBlocks = []block{
	{netip.MustParsePrefix("0.0.0.0/8"), "an unspecified address"},
	{netip.MustParsePrefix("10.0.0.0/8"), "a private address"},
	{netip.MustParsePrefix("100.64.0.0/10"), "a shared address of a carrier"},
	{netip.MustParsePrefix("127.0.0.0/8"), "a loopback address"},
	{netip.MustParsePrefix("169.254.0.0/16"), "a link-local address"},
	{netip.MustParsePrefix("172.16.0.0/12"), "a private address"},
	{netip.MustParsePrefix("192.0.0.0/24"), "a reserved address"},
	{netip.MustParsePrefix("192.0.2.0/24"), "a documentation address"},
	{netip.MustParsePrefix("192.88.99.0/24"), "a transition address"}, // relays of 6to4
	{netip.MustParsePrefix("192.168.0.0/16"), "a private address"},
	{netip.MustParsePrefix("198.18.0.0/15"), "a benchmarking address"},
	{netip.MustParsePrefix("198.51.100.0/24"), "a documentation address"},
	{netip.MustParsePrefix("203.0.113.0/24"), "a documentation address"},
	{netip.MustParsePrefix("224.0.0.0/4"), "a multicast address"},
	{netip.MustParsePrefix("255.255.255.255/32"), "a broadcast address"},
	{netip.MustParsePrefix("240.0.0.0/4"), "a reserved address"},
	// No registry lists this address: a cloud uses it for its agents on virtual machines, much like a link-local
	// address.
	{netip.MustParsePrefix("168.63.129.16/32"), "an address of a cloud's own services"},

	{netip.MustParsePrefix("::/128"), "an unspecified address"},
	{netip.MustParsePrefix("::1/128"), "a loopback address"},
	{netip.MustParsePrefix("::/96"), "a transition address"}, // IPv4-compatible
	{netip.MustParsePrefix("2001:db8::/32"), "a documentation address"},
	{netip.MustParsePrefix("2001:2::/48"), "a benchmarking address"},
	{netip.MustParsePrefix("2001::/32"), "a transition address"}, // Teredo
	{netip.MustParsePrefix("2001::/23"), "a reserved address"},   // protocol assignments
	{netip.MustParsePrefix("2002::/16"), "a transition address"}, // 6to4
	{netip.MustParsePrefix("3fff::/20"), "a documentation address"},
	{netip.MustParsePrefix("fc00::/7"), "a private address"}, // unique local
	{netip.MustParsePrefix("fe80::/10"), "a link-local address"},
	{netip.MustParsePrefix("fec0::/10"), "a private address"}, // site-local
	{netip.MustParsePrefix("ff00::/8"), "a multicast address"},
}

var (
	// globalUnicast is the part of IPv6 that is assigned to networks.
	globalUnicast = netip.MustParsePrefix("2000::/3")
	// nat64 embeds IPv4 addresses in its last four bytes (RFC 6052). Networks without IPv4 reach public IPv4 hosts
	// through it.
	nat64 = netip.MustParsePrefix("64:ff9b::/96")
)

// kindOf returns public, or the reason why an address is not public. An IPv4 address mapped into IPv6, or embedded
// for NAT64, is judged as an IPv4 address. Obsolete transition mechanisms (IPv4-compatible addresses, 6to4, Teredo,
// ISATAP) are refused whatever they embed.
func kindOf(addr netip.Addr) string {
	addr = addr.Unmap().WithZone("")
	if nat64.Contains(addr) {
		bytes := addr.As16()
		return kindOf(netip.AddrFrom4([4]byte(bytes[12:])))
	}
	for _, special := range specialBlocks {
		if special.prefix.Contains(addr) {
			return special.kind
		}
	}
	switch {
	case isISATAP(addr):
		return "a transition address"
	case addr.Is4(), globalUnicast.Contains(addr):
		return public
	default:
		return "a reserved address"
	}
}

// isISATAP reports whether the interface identifier of an IPv6 address is from ISATAP (RFC 5214), which
// embeds an IPv4 address: 0000:5efe or 0200:5efe.
func isISATAP(addr netip.Addr) bool {
	bytes := addr.As16()
	return bytes[8]&^0x02 == 0 && bytes[9] == 0 && bytes[10] == 0x5e && bytes[11] == 0xfe
}

// AllowList holds hosts and addresses that may be reached although they are not public. The zero value allows
// only public addresses. It is immutable, and safe for concurrent use.
type AllowList struct {
	entries []allowed
}

// allowed is an entry: a name or a prefix of addresses, on one port or any.
type allowed struct {
	name   string
	prefix netip.Prefix
	port   uint16 // 0: any
}

// ParseAllowList reads entries of these forms:
//
//	files.internal         a name, whatever it resolves to, on any port
//	files.internal:8080    a name on one port
//	10.1.2.3, ::1          an address, also if a name resolves to it
//	127.0.0.1:80, [::1]:80 an address on one port
//	10.1.0.0/16            all addresses with a prefix
//
// Names must match as a whole, ignoring case. Other forms are InvalidArgument, with the entry as the field,
// such as "allow[2]".
func ParseAllowList(entries ...string) (AllowList, error) {
	list := AllowList{entries: make([]allowed, 0, len(entries))}
	for i, text := range entries {
		entry, ok := parseAllowed(text)
		if !ok {
			return AllowList{}, boterr.Invalid(fmt.Sprintf("allow[%d]", i),
				"must be a name, an address or a prefix such as files.internal, files.internal:8080 or 10.1.0.0/16")
		}
		list.entries = append(list.entries, entry)
	}
	return list, nil
}

// parseAllowed reads one entry.
func parseAllowed(text string) (allowed, bool) {
	if prefix, err := netip.ParsePrefix(text); err == nil {
		return allowed{prefix: prefix.Masked()}, !prefix.Addr().Is4In6()
	}
	if addr, err := netip.ParseAddr(text); err == nil {
		return allowedAddr(addr, 0), addr.Zone() == ""
	}
	return parseAllowedHost(text)
}

// parseAllowedHost reads an entry that is written like the host of a URL.
func parseAllowedHost(text string) (allowed, bool) {
	u, err := url.Parse("http://" + text)
	if err != nil || u.Host != text || strings.HasSuffix(text, ":") {
		return allowed{}, false
	}
	host, err := parseEndpoint(u)
	if err != nil {
		return allowed{}, false
	}
	if u.Port() == "" {
		host.port = 0
	}
	if host.addr.IsValid() && !isLocalhost(host.name) {
		return allowedAddr(host.addr, host.port), true
	}
	return allowed{name: host.name, port: host.port}, true
}

// allowedAddr is the entry for one address.
func allowedAddr(addr netip.Addr, port uint16) allowed {
	addr = addr.Unmap()
	return allowed{prefix: netip.PrefixFrom(addr, addr.BitLen()), port: port}
}

// allows reports whether an entry matches the name, which must be in lower case, or the address.
func (l AllowList) allows(name string, addr netip.Addr, port uint16) bool {
	addr = addr.Unmap().WithZone("")
	for _, entry := range l.entries {
		if entry.port != 0 && entry.port != port {
			continue
		}
		if entry.name == name || entry.prefix.Contains(addr) {
			return true
		}
	}
	return false
}
