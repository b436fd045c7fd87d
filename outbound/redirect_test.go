package outbound_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/outbound"
)

// redirects is a handler that sends every request on.
func redirects(status int, location string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", location)
		w.WriteHeader(status)
	}
}

func TestRedirect_Followed(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	n.resolves("a.example", somewhere)
	n.resolves("b.example", elsewhere)
	n.serves(somewhere+":80", redirects(http.StatusFound, "http://b.example/there"))
	n.serves(elsewhere+":80", func(w http.ResponseWriter, r *http.Request) { says(r.Host+r.URL.Path)(w, r) })
	resp, err := get(t, n.client(outbound.Config{}), "http://a.example/here")
	require.NoError(t, err)
	require.Equal(t, "b.example/there", resp.Text())
}

func TestRedirect_ToRefusedURL(t *testing.T) {
	t.Parallel()
	for _, location := range []string{
		"http://127.0.0.1/", "http://internal.example/", "http://2130706433/", "http://[::ffff:10.0.0.1]/", "//169.254.169.254/latest",
		"http://localhost/", "http://user:pass@b.example/", "ftp://b.example/", "file:///etc/passwd", "http://b.example:0/", "http:///x",
	} {
		t.Run(location, func(t *testing.T) {
			t.Parallel()
			n := newNetwork(t)
			n.resolves("a.example", somewhere)
			n.resolves("b.example", elsewhere)
			n.resolves("internal.example", "10.0.0.1")
			n.serves(somewhere+":80", redirects(http.StatusTemporaryRedirect, location))
			n.serves(elsewhere+":80", unreached(t))
			_, err := get(t, n.client(outbound.Config{}), "http://a.example/")
			requireRefused(t, err)
			require.Equal(t, []string{somewhere + ":80"}, n.dialled)
		})
	}
}

// A server on loopback that is allowed sends to one that is not.
func TestRedirect_FromAllowedHost(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	n.serves("127.0.0.1:8001", redirects(http.StatusFound, "http://127.0.0.1:8002/"))
	n.serves("127.0.0.1:8002", unreached(t))
	_, err := get(t, n.client(outbound.Config{Allow: []string{"127.0.0.1:8001"}}), "http://127.0.0.1:8001/")
	requireRefused(t, err)
	require.ErrorContains(t, err, "redirects to a URL that is refused: the host 127.0.0.1 is a loopback address")
}

func TestRedirect_Limited(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		limit *int
		hops  int
		ok    bool
	}{
		"default":        {nil, 5, true},
		"over default":   {nil, 6, false},
		"none allowed":   {new(0), 1, false},
		"none needed":    {new(0), 0, true},
		"as many as set": {new(2), 2, true},
		"more than set":  {new(2), 3, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newNetwork(t)
			n.resolves("a.example", somewhere)
			n.serves(somewhere+":80", func(w http.ResponseWriter, r *http.Request) {
				if left := strings.TrimPrefix(r.URL.Path, "/"); left != "" {
					redirects(http.StatusFound, "/"+left[1:])(w, r)
				}
			})
			_, err := get(t, n.client(outbound.Config{MaxRedirects: c.limit}), "http://a.example/"+strings.Repeat("x", c.hops))
			if c.ok {
				require.NoError(t, err)
			} else {
				requireCode(t, err, boterr.ResourceExhausted, "url")
			}
		})
	}
}

func TestRedirect_HTTPSToHTTP(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	n.resolves("example.com", somewhere)
	trusted := n.servesTLS(somewhere+":443", redirects(http.StatusFound, "http://example.com/"))
	n.serves(somewhere+":80", unreached(t))
	_, err := get(t, n.client(outbound.Config{TLS: trusted}), "https://example.com/")
	requireRefused(t, err)
}

func TestRedirect_InvalidURLShowsNoSecret(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	n.resolves("a.example", somewhere)
	n.serves(somewhere+":80", redirects(http.StatusFound, "/%zz?key=hunter2"))
	_, err := get(t, n.client(outbound.Config{}), "http://a.example/")
	requireCode(t, err, boterr.Unavailable, "")
	require.NotContains(t, err.Error(), "hunter2")
}

func TestRedirect_RefusedShowsNoSecret(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	n.resolves("a.example", somewhere)
	n.serves(somewhere+":80", redirects(http.StatusFound, "http://hunter2:hunter2@127.0.0.1/?key=hunter2"))
	_, err := get(t, n.client(outbound.Config{}), "http://a.example/?key=hunter2")
	requireRefused(t, err)
	require.NotContains(t, err.Error(), "hunter2")
}

func TestRedirect_NoCredentialsElsewhere(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		location string
		carried  bool
	}{
		"the same host":       {"/end", true},
		"the same host again": {"http://a.example/end", true},
		"another host":        {"http://b.example/end", false},
		"a host below":        {"http://sub.a.example/end", false},
		"another port":        {"http://a.example:8080/end", false},
		"and back":            {"http://b.example/back", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			arrived := headersAfterRedirect(t, c.location)
			require.Equal(t, "text/html", arrived.Get("Accept"))
			for _, name := range []string{"Authorization", "Cookie", "Proxy-Authorization", "X-Api-Key"} {
				require.Equal(t, c.carried, arrived.Get(name) == "secret", name)
			}
			require.Equal(t, c.carried, strings.Contains(arrived.Get("Referer"), "key=hunter2"))
		})
	}
}

// headersAfterRedirect fetches a URL with credentials that redirects, and returns
// the headers that arrived at the path /end.
func headersAfterRedirect(t *testing.T, location string) http.Header {
	t.Helper()
	arrived := make(chan http.Header, 1)
	serve := func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/start":
			redirects(http.StatusFound, location)(w, r)
		case "/back":
			redirects(http.StatusFound, "http://a.example/end")(w, r)
		default:
			arrived <- r.Header
		}
	}
	n := newNetwork(t)
	for _, name := range []string{"a.example", "b.example", "sub.a.example"} {
		n.resolves(name, somewhere)
	}
	n.serves(somewhere+":80", serve)
	n.serves(somewhere+":8080", serve)
	_, err := outbound.Fetch(t.Context(), n.client(outbound.Config{}), outbound.Request{
		URL: "http://a.example/start?key=hunter2",
		Headers: map[string]string{
			"Authorization": "secret", "Cookie": "secret", "Proxy-Authorization": "secret", "X-Api-Key": "secret", "Accept": "text/html",
		},
	})
	require.NoError(t, err)
	return <-arrived
}

func TestRedirect_HTTPToHTTPSKeepsHeaders(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	n.resolves("example.com", somewhere)
	n.serves(somewhere+":80", redirects(http.StatusMovedPermanently, "https://example.com/"))
	trusted := n.servesTLS(somewhere+":443", func(w http.ResponseWriter, r *http.Request) {
		says(r.Header.Get("Authorization"))(w, r)
	})
	resp, err := outbound.Fetch(t.Context(), n.client(outbound.Config{TLS: trusted}),
		outbound.Request{URL: "http://example.com/", Headers: map[string]string{"Authorization": "secret"}})
	require.NoError(t, err)
	require.Equal(t, "secret", resp.Text())
}

func TestRedirect_SendsBodyAgain(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]string{
		http.StatusPermanentRedirect: "POST:body",
		http.StatusTemporaryRedirect: "POST:body",
		http.StatusSeeOther:          "GET:",
	} {
		n := newNetwork(t)
		n.resolves("a.example", somewhere)
		n.serves(somewhere+":80", func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/start" {
				redirects(status, "/end")(w, r)
				return
			}
			body, err := io.ReadAll(r.Body)
			if err == nil {
				says(r.Method+":"+string(body))(w, r)
			}
		})
		resp, err := outbound.Fetch(t.Context(), n.client(outbound.Config{}),
			outbound.Request{URL: "http://a.example/start", Method: "post", Body: []byte("body")})
		require.NoError(t, err)
		require.Equal(t, want, resp.Text())
	}
}
