package outbound

import (
	"fmt"
	"net/netip"
	"net/url"
	"strings"

	"github.com/botctx/go-sdk/boterr"
)

// AllowList holds what may be reached although its address is not public. Its
// zero value allows nothing beyond public addresses. It cannot be changed, and
// is safe for concurrent use.
type AllowList struct {
	entries []allowed
}

// allowed is one entry: a name or a prefix of addresses, on one port or any.
type allowed struct {
	name   string
	prefix netip.Prefix
	port   uint16 // 0: any
}

// ParseAllowList reads entries of these forms:
//
//	files.internal         a name, whatever it resolves to, on any port
//	files.internal:8080    a name on one port
//	10.1.2.3, ::1          an address, also where a name resolves to it
//	127.0.0.1:80, [::1]:80 an address on one port
//	10.1.0.0/16            all addresses with a prefix
//
// Names are compared whole and without regard to case. Anything else is an
// InvalidArgument that names the entry, such as "allow[2]".
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

// parseAllowedHost reads an entry that is written as the host of a URL is.
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

// allows reports whether an entry has the name, in lower case, or the address.
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
