package outbound

import (
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/botctx/go-sdk/boterr"
)

// maxNameLength is DNS's limit on the length of a name, in bytes.
const maxNameLength = 253

// endpoint is the host and port of a URL.
type endpoint struct {
	// name is the host in lower case, without brackets.
	name string
	// addr is the address given in the URL. It is the zero Addr for a name, which must be resolved.
	addr netip.Addr
	// port is the port of the URL, or of its scheme.
	port uint16
}

// CheckURL returns InvalidArgument with the field "url" if a script must not use the URL. It does not use the
// network: names pass, because a Client checks their addresses when it connects.
//
// A URL passes if
//   - its scheme is http or https;
//   - it has a host and no user part;
//   - the host is an IPv4 address of four decimal numbers, an IPv6 address in brackets without a zone, or a
//     name of ASCII letters, digits, hyphens and underscores without a trailing dot. Names in other scripts
//     must be in Punycode. Other notations of addresses (2130706433, 0x7f.1, 127.1) are refused even if the
//     address is public;
//   - an address is public, and the name is not localhost or a subdomain of it, unless the list allows it.
//
// The error never shows the query or the user part.
func CheckURL(u *url.URL, allow AllowList) error {
	if u == nil {
		return boterr.Invalid("url", "is missing")
	}
	if err := checkForm(u); err != nil {
		return err
	}
	to, err := parseEndpoint(u)
	if err != nil {
		return err
	}
	if !to.addr.IsValid() {
		return nil
	}
	if kind := kindOf(to.addr); kind != public && !allow.allows(to.name, to.addr, to.port) {
		return boterr.Invalid("url", "the host %s is %s; use a public one, or have the host application allow it",
			to.name, kind)
	}
	return nil
}

// ParseURL reads a URL. As browsers do, it percent-encodes spaces and non-ASCII characters in the query,
// which net/http would send unchanged. A malformed URL is InvalidArgument with the field "url", and the error
// does not show any part of it. The URL is not checked; see CheckURL.
func ParseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil {
		// The error of url.Parse quotes the text, and may show a password.
		return nil, boterr.Invalid("url", "is not a URL; write it as https://host/path")
	}
	u.RawQuery = escapeQuery(u.RawQuery)
	return u, nil
}

// escapeQuery percent-encodes spaces and non-ASCII bytes. url.Parse has already refused control characters.
func escapeQuery(query string) string {
	var escaped strings.Builder
	for i := range len(query) {
		if c := query[i]; c == ' ' || c > '~' {
			fmt.Fprintf(&escaped, "%%%02X", c)
		} else {
			escaped.WriteByte(c)
		}
	}
	return escaped.String()
}

// checkForm checks all of the URL except its host.
func checkForm(u *url.URL) error {
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return boterr.Invalid("url", "must begin with https:// or http://")
	case u.User != nil:
		return boterr.Invalid("url", "must have no user part; put credentials into a header")
	case u.Hostname() == "", u.Opaque != "":
		return boterr.Invalid("url", "has no host; write it as https://host/path")
	}
	return nil
}

// parseEndpoint reads the host and port of the URL. Its errors show the host only if it is well-formed, because a
// malformed one may contain anything.
func parseEndpoint(u *url.URL) (endpoint, error) {
	port, err := parsePort(u)
	if err != nil {
		return endpoint{}, err
	}
	addr, err := parseHost(u)
	if err != nil {
		return endpoint{}, err
	}
	return endpoint{name: strings.ToLower(u.Hostname()), addr: addr, port: port}, nil
}

func parsePort(u *url.URL) (uint16, error) {
	text := u.Port()
	switch {
	case text == "" && u.Scheme == "https":
		return 443, nil
	case text == "":
		return 80, nil
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil || port == 0 {
		return 0, boterr.Invalid("url", "the port must be between 1 and 65535")
	}
	return uint16(port), nil
}

// parseHost returns the address in the URL, loopback for localhost, and the zero Addr for any other name.
func parseHost(u *url.URL) (netip.Addr, error) {
	host := u.Hostname()
	if strings.HasPrefix(u.Host, "[") {
		return parseIPv6(host)
	}
	if endsInNumber(host) {
		return parseIPv4(host)
	}
	if err := checkName(host); err != nil {
		return netip.Addr{}, err
	}
	if isLocalhost(host) {
		return netip.AddrFrom4([4]byte{127, 0, 0, 1}), nil
	}
	return netip.Addr{}, nil
}

// parseIPv6 reads the text inside brackets.
func parseIPv6(text string) (netip.Addr, error) {
	addr, err := netip.ParseAddr(text)
	if err != nil || !addr.Is6() || addr.Zone() != "" {
		return netip.Addr{}, boterr.Invalid("url", "the part in brackets must be an IPv6 address without a zone")
	}
	return addr, nil
}

// parseIPv4 reads a host that ends in a number.
func parseIPv4(text string) (netip.Addr, error) {
	addr, err := netip.ParseAddr(text)
	if err != nil || !addr.Is4() {
		return netip.Addr{}, boterr.Invalid("url",
			"a host that ends in a number must be an IPv4 address of four decimal numbers without leading zeros")
	}
	return addr, nil
}

// endsInNumber reports whether a host is an IPv4 address in the lenient reading of inet_aton and the URL
// Standard, in which 127.1, 2130706433 and 0x7f000001 are addresses: its last label is a decimal, octal or
// hexadecimal number.
func endsInNumber(host string) bool {
	host = strings.TrimSuffix(host, ".")
	label := strings.ToLower(host[strings.LastIndexByte(host, '.')+1:])
	if digits, ok := strings.CutPrefix(label, "0x"); ok {
		return strings.Trim(digits, "0123456789abcdef") == ""
	}
	return label != "" && strings.Trim(label, "0123456789") == ""
}

// checkName returns an error unless the host consists of labels of ASCII letters, digits, hyphens and underscores.
func checkName(name string) error {
	for i := range len(name) {
		if !isNameByte(name[i]) {
			return boterr.Invalid("url", "the host must be of ASCII letters, digits, hyphens and dots; "+
				"write other scripts in Punycode")
		}
	}
	if len(name) > maxNameLength {
		return boterr.Invalid("url", "the host must have at most %d bytes", maxNameLength)
	}
	if name == "" || strings.HasPrefix(name, ".") || strings.HasSuffix(name, ".") || strings.Contains(name, "..") {
		return boterr.Invalid("url", "the host must have no empty label and no trailing dot")
	}
	return nil
}

// isNameByte reports whether a name may contain the byte c.
func isNameByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_' || c == '.'
}

// isLocalhost reports whether the name means loopback by RFC 6761, even if a resolver disagrees.
func isLocalhost(name string) bool {
	name = strings.ToLower(name)
	return name == "localhost" || strings.HasSuffix(name, ".localhost")
}
