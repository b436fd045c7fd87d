package outbound

import "net/netip"

// public is the kind of an address that everyone may reach.
const public = "a public address"

// block is a range of addresses that is not public.
type block struct {
	prefix netip.Prefix
	kind   string
}

// specialBlocks are the blocks of IANA's special-purpose address registries
// (RFC 6890 and its updates) that lead, or may lead, elsewhere than to a public
// host. The first one that holds an address names its kind.
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
	// In no registry: a cloud answers here for the agents of its machines, much
	// as others do on link-local addresses.
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
	// globalUnicast is all of IPv6 that is given to networks.
	globalUnicast = netip.MustParsePrefix("2000::/3")
	// nat64 holds IPv4 addresses in their last four bytes (RFC 6052). Networks
	// without IPv4 reach public IPv4 hosts through it.
	nat64 = netip.MustParsePrefix("64:ff9b::/96")
)

// kindOf says in words what an address is: public, or why it is not. An IPv4
// address that is mapped into IPv6, or embedded for NAT64, is judged as itself.
// Mechanisms of transition that are out of use (IPv4-compatible addresses, 6to4,
// Teredo, ISATAP) are refused whatever they embed.
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

// isISATAP reports whether the interface identifier of an IPv6 address is one of
// ISATAP (RFC 5214), which embeds an IPv4 address: 0000:5efe or 0200:5efe.
func isISATAP(addr netip.Addr) bool {
	bytes := addr.As16()
	return bytes[8]&^0x02 == 0 && bytes[9] == 0 && bytes[10] == 0x5e && bytes[11] == 0xfe
}
