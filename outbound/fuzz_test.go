package outbound_test

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/outbound"
)

// FuzzCheckURL holds whatever passes to what must be true of it, by definitions
// of its own: plain characters, no user, and a public address where the host is
// an address to any reader, however generous.
func FuzzCheckURL(f *testing.F) {
	for _, seed := range []string{
		"https://example.com/", "http://127.1/", "http://0x7f.1:80/", "http://017700000001/", "http://[::ffff:127.0.0.1]/",
		"http://[64:ff9b::1.2.3.4]/", "http://user:pass@host/", "http://8.8.8.8/", "http://[2606:4700::1]/", "http://１２７.1/",
		"http://a.0x/", "http://[fe80::1%25a]/",
	} {
		f.Add(seed, "example.com")
		f.Add("http://example.com/", seed)
	}
	f.Fuzz(func(t *testing.T, text, host string) {
		for _, u := range []*url.URL{parsed(text), {Scheme: "http", Host: host}} {
			if outbound.CheckURL(u, outbound.AllowList{}) == nil {
				requireHarmless(t, u)
			}
		}
	})
}

// parsed returns the URL, nil where the text is none.
func parsed(text string) *url.URL {
	u, err := url.Parse(text)
	if err != nil {
		return nil
	}
	return u
}

// requireHarmless requires what must be true of every URL that passes.
func requireHarmless(t *testing.T, u *url.URL) {
	t.Helper()
	require.Contains(t, []string{"http", "https"}, u.Scheme)
	require.Nil(t, u.User)
	host := u.Hostname()
	require.Empty(t, strings.Trim(host, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:"))
	addr, err := netip.ParseAddr(host)
	if err == nil {
		require.True(t, isGlobal(addr.Unmap()), host)
	}
	if generous, ok := inetAton(host); ok {
		require.Equal(t, generous, addr, "%s is an address to inet_aton", host)
	}
}

// isGlobal says whether an address is public, from the predicates of net/netip
// and, for what they do not know, ranges compared as numbers.
func isGlobal(addr netip.Addr) bool {
	if !addr.IsGlobalUnicast() || addr.IsPrivate() || addr.IsLoopback() || addr.IsLinkLocalUnicast() {
		return false
	}
	b := addr.As16()
	if addr.Is4() {
		first, second := b[12], b[13]
		shared := first == 100 && second/64 == 1
		benchmark := first == 198 && second/2 == 9
		return first != 0 && first < 224 && !shared && !benchmark
	}
	if text := addr.StringExpanded(); strings.HasPrefix(text, "0064:ff9b:0000:0000:0000:0000:") {
		return isGlobal(netip.AddrFrom4([4]byte(b[12:])))
	}
	transition := b[0] == 0x20 && b[1] == 0x02 || b[0] == 0x20 && b[1] == 0x01 && b[2] < 2
	documentation := b[0] == 0x20 && b[1] == 0x01 && b[2] == 0x0d && b[3] == 0xb8
	return b[0]>>5 == 1 && !transition && !documentation
}

// inetAton reads an IPv4 address as the C function of that name does: up to four
// numbers, decimal, octal or hexadecimal, the last of which fills the rest.
func inetAton(text string) (netip.Addr, bool) {
	parts := strings.Split(text, ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var whole uint64
	for i, part := range parts {
		number, err := strconv.ParseUint(cNumber(part), 0, 32)
		if err != nil || strings.Contains(part, "_") {
			return netip.Addr{}, false
		}
		last := i == len(parts)-1
		switch room := 8 * (4 - i); {
		case last && number >= 1<<room, !last && number > 255:
			return netip.Addr{}, false
		case last:
			whole += number
		default:
			whole += number << (room - 8)
		}
	}
	return netip.AddrFrom4([4]byte{byte(whole >> 24), byte(whole >> 16), byte(whole >> 8), byte(whole)}), true
}

// cNumber makes Go's syntax of a number out of C's, which differ in 0o and 0b.
func cNumber(text string) string {
	if len(text) > 1 && text[0] == '0' && strings.ContainsAny(text[1:2], "oObB") {
		return "no number"
	}
	return text
}
