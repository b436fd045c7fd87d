package outbound_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/outbound"
)

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
