package outbound_test

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/outbound"
)

func requireRefused(t *testing.T, err error) {
	t.Helper()
	requireCode(t, err, boterr.InvalidArgument, "url")
}

func requireCode(t *testing.T, err error, code boterr.Code, field string) {
	t.Helper()
	require.Error(t, err)
	coded, ok := err.(*boterr.Error) //nolint:errorlint // The error itself must be one, not what it wraps.
	require.True(t, ok, "%T: %v", err, err)
	require.Equal(t, code, coded.Code, "%v", err)
	require.Equal(t, field, coded.Field, "%v", err)
	require.NotEmpty(t, coded.Message())
}

// check reads a URL and checks it against a list.
func check(text string, allow ...string) error {
	list, err := outbound.ParseAllowList(allow...)
	if err != nil {
		return err
	}
	u, err := outbound.ParseURL(text)
	if err != nil {
		return err
	}
	return outbound.CheckURL(u, list)
}

// The addresses include IPv4 addresses that are mapped into IPv6, or embedded for NAT64.
func TestCheckURL_RefusesNonPublic(t *testing.T) {
	t.Parallel()
	for kind, hosts := range map[string][]string{
		"an unspecified address": {"0.0.0.0", "0.1.2.3", "[::]"},
		"a loopback address": {
			"127.0.0.1", "127.255.255.254", "[::1]", "[0:0:0:0:0:0:0:1]", "localhost", "LocalHost", "a.localhost",
			"[::ffff:127.0.0.1]", "[64:ff9b::127.0.0.1]",
		},
		"a private address": {
			"10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.0.1", "[fc00::1]", "[fd00:ec2::254]", "[fec0::1]",
			"[0:0:0:0:0:ffff:10.0.0.1]", "[64:ff9b::192.168.1.1]",
		},
		"a shared address of a carrier": {"100.64.0.1", "100.100.100.200", "100.127.255.255"},
		"a link-local address": {
			"169.254.169.254", "169.254.0.1", "[fe80::1]", "[febf::1]", "[::ffff:a9fe:a9fe]", "[64:ff9b::a9fe:a9fe]",
		},
		"an address of a cloud's own services": {"168.63.129.16"},
		"a documentation address": {
			"192.0.2.1", "198.51.100.1", "203.0.113.1", "[2001:db8::1]", "[3fff::1]", "[3fff:fff::1]",
		},
		"a benchmarking address": {"198.18.0.1", "198.19.255.255", "[2001:2::1]"},
		"a multicast address":    {"224.0.0.1", "239.255.255.255", "[ff02::1]", "[ff0e::1]"},
		"a broadcast address":    {"255.255.255.255"},
		"a reserved address": {
			"240.0.0.1", "254.1.2.3", "192.0.0.192", "[100::1]", "[64:ff9b:1::1]", "[2001:20::1]", "[5f00::1]",
			"[4000::1]", "[::1:0:0:0]",
		},
		"a transition address": {
			"192.88.99.1", "[::127.0.0.1]", "[::8.8.8.8]", "[2002:7f00:1::]", "[2002:808:808::1]", "[2001:0:808:808::1]",
			"[2606:4700::5efe:10.0.0.1]", "[2606:4700::200:5efe:8.8.8.8]",
		},
	} {
		for _, host := range hosts {
			for _, target := range []string{"http://" + host, "https://" + host + ":8443/path?a=b"} {
				err := check(target)
				requireRefused(t, err)
				require.ErrorContains(t, err, " is "+kind+"; use a public one", target)
			}
		}
	}
}

func TestCheckURL_OnlyPlainSpelling(t *testing.T) {
	t.Parallel()
	for _, host := range []string{
		// Notations of 127.0.0.1 and 8.8.8.8 that inet_aton accepts.
		"2130706433", "017700000001", "0x7f000001", "0X7F000001", "0x7f.1", "0x7f.0.0.1", "0177.0.0.1", "127.1", "127.0.1",
		"127.0.0.0x1", "127.0.0.01", "127.0.0.1.", "127.1.", "0", "0x", "00000000177.1", "134744072", "010.010.010.010",
		"8.8.8.8.", "8.8.8", "8.8.8.0x8", "0x8080808", "8.8.8.256", "1.2.3.4.5", "4294967295", "example.0x7f", "example.1",
		"example.com.", "example..com", ".example.com", ".", "..", "localhost.", "a.localhost.",
		"１２７.0.0.1", "127。0。0。1", "①②⑦.0.0.1", "ⓛocalhost", "localhoſt", "\u212aernel.org", "münchen.example", "127.0.0.1\u00ad",
		"exa%6dple.com", "%31%32%37.0.0.1", "127.0.0.1%00", "127.0.0.1%0a", "127.0.0.1%2f", "%e3%80%82example.com",
		"exam ple.com", "example.com\\@127.0.0.1", "example.com!", "a,b", "a;b", "a=b", "$HOME", "*", "(a)",
		"[fe80::1%25eth0]", "[2606:4700::1111%25eth0]", "[8.8.8.8]", "[example.com]", "[]", "[::1", "::1]", "::1", "[::g]",
		"[v1.a]", "2606:4700::1111", "[::ffff:0177.0.0.1]", "[1:2:3:4:5:6:7:8:9]",
		strings.Repeat("a.", 127) + "com",
	} {
		t.Run(host, func(t *testing.T) {
			t.Parallel()
			requireRefused(t, check("http://"+host+"/"))
			requireRefused(t, outbound.CheckURL(&url.URL{Scheme: "https", Host: host, Path: "/"}, outbound.AllowList{}))
		})
	}
}

func TestCheckURL_RefusesForms(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "example.com", "//example.com/", "/path", "?q", "#f", "http:", "http:example.com", "http:/example.com", "http:///path",
		"https://", "http://?q", "http://:80/", "http://#f",
		"ftp://example.com/", "file:///etc/passwd", "gopher://example.com:70/_x", "javascript:alert(1)", "data:,x", "ws://example.com/",
		"unix:///run/docker.sock", "http+unix://example.com/", "httpx://example.com/", "jar:http://example.com!/",
		"http://user@example.com/", "http://user:secret@example.com/", "http://@example.com/", "http://:@example.com/",
		"http://example.com@127.0.0.1/", "http://127.0.0.1#@example.com/", "http://example.com:80@127.0.0.1/",
		"http://example.com:0/", "http://example.com:65536/", "http://example.com:-1/", "http://example.com:8a/",
		"http://example.com:99999999999999999999/", "http://example.com\n.evil/", "http://exa\tmple.com", " http://example.com",
		"http://example.com/\x7f", "http://[::1]x/", "http://[::1]:80:90/", "http://\x00/",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			requireRefused(t, check(text))
		})
	}
}

func TestCheckURL_MadeByCode(t *testing.T) {
	t.Parallel()
	for name, u := range map[string]*url.URL{
		"nothing":         nil,
		"zero":            {},
		"capital scheme":  {Scheme: "HTTP", Host: "example.com"},
		"opaque":          {Scheme: "http", Host: "example.com", Opaque: "//10.0.0.1/"},
		"user in host":    {Scheme: "http", Host: "user:secret@example.com"},
		"path in host":    {Scheme: "http", Host: "example.com/path"},
		"query in host":   {Scheme: "http", Host: "example.com?secret"},
		"break in host":   {Scheme: "http", Host: "example.com\r\nX: y"},
		"zone in host":    {Scheme: "http", Host: "[fe80::1%eth0]"},
		"bare IPv6":       {Scheme: "http", Host: "2606:4700::1111"},
		"colon at front":  {Scheme: "http", Host: ":80"},
		"several ports":   {Scheme: "http", Host: "example.com:80:90"},
		"port with space": {Scheme: "http", Host: "example.com: 80"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requireRefused(t, outbound.CheckURL(u, outbound.AllowList{}))
		})
	}
}

func TestCheckURL_PublicHosts(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"http://example.com", "https://example.com/", "HTTPS://EXAMPLE.com/Path?q=1#f", "http://example.com:8080/", "http://example.com:/",
		"https://xn--mnchen-3ya.example/", "https://a_b.example.com/", "https://a-b.1.example.com/", "https://3com.com/", "http://intranet/",
		"http://localhost.example.com/", "http://notlocalhost/", "http://0x7g/", "http://1.2.3.4a/", "http://0xcafe.example/",
		"http://8.8.8.8/", "https://1.1.1.1:443/", "http://100.63.255.255/", "http://100.128.0.1/", "http://172.15.0.1/",
		"http://172.32.0.1/", "http://11.0.0.1/", "http://126.255.255.255/", "http://128.0.0.1/", "http://169.253.0.1/", "http://192.0.1.1/",
		"http://192.169.0.1/", "http://198.17.0.1/", "http://198.20.0.1/", "http://223.255.255.255/",
		"http://[2606:4700:4700::1111]/", "http://[2A00:1450:4001:800::200e]:8080/", "http://[::ffff:8.8.8.8]/", "http://[64:ff9b::8.8.8.8]/",
		"http://[2001:200::1]/", "http://[2003::1]/", "http://[3fff:1000::1]/", "http://[2606:4700::1:5efe:1:1]/",
		"https://example.com/?to=http://127.0.0.1/", "https://example.com/@127.0.0.1", "https://example.com/user:secret@host",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			require.NoError(t, check(text))
		})
	}
}

func TestCheckURL_ErrorsShowNoSecret(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"http://user:hunter2@example.com/", "http://user:hunter2/", "http://127.0.0.1/?key=hunter2", "ftp://example.com/?hunter2",
		"http://[hunter2]/", "http://exam ple/?hunter2", "http://hunter2@[::1/", "http://example.com:hunter2/", "hunter2", "hunter2://a",
		"http://a%zz?hunter2", "http://user:hunter2@127.0.0.1:x/",
	} {
		err := check(text)
		requireRefused(t, err)
		require.NotContains(t, err.Error(), "hunter2", text)
	}
	err := outbound.CheckURL(&url.URL{Scheme: "http", Host: "user:hunter2@x.localhost"}, outbound.AllowList{})
	requireRefused(t, err)
	require.NotContains(t, err.Error(), "hunter2")
}

// FuzzCheckURL checks accepted URLs against independent definitions: plain characters, no user part, and a public
// address if any reader, however lenient, would read the host as an address.
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

// parsed returns the URL, or nil if the text is malformed.
func parsed(text string) *url.URL {
	u, err := url.Parse(text)
	if err != nil {
		return nil
	}
	return u
}

// requireHarmless requires the properties of every URL that passes.
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

// isGlobal reports whether an address is public. It uses the predicates of net/netip, and compares numbers for other
// ranges.
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

// inetAton reads an IPv4 address like the C function: up to four decimal, octal or hexadecimal numbers. The last
// number fills the remaining bytes.
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

// cNumber converts a number from C's syntax to Go's, which differ in 0o and 0b.
func cNumber(text string) string {
	if len(text) > 1 && text[0] == '0' && strings.ContainsAny(text[1:2], "oObB") {
		return "no number"
	}
	return text
}
