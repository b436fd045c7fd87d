package outbound_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/fakes/web"
	"github.com/botctx/go-sdk/outbound"
)

func TestFetch_SendsTheRequest(t *testing.T) {
	t.Parallel()
	var site web.Replies
	site.Add(http.MethodPut, "https://api.example.com/items", web.Text(http.StatusCreated, "made"))
	resp, err := outbound.Fetch(t.Context(), &site, outbound.Request{
		URL:     "https://api.example.com/items",
		Method:  "put",
		Headers: map[string]string{"x-api-key": "k", "Accept": "text/plain", "accept": "text/html"},
		Body:    []byte("an item"),
	})
	require.NoError(t, err)
	require.Equal(t, http.StatusCreated, resp.Status)
	require.Equal(t, "made", resp.Text())
	require.Equal(t, "text/plain; charset=utf-8", resp.Header.Get("Content-Type"))
	require.Equal(t, []web.Request{{
		Method:  http.MethodPut,
		URL:     "https://api.example.com/items",
		Header:  http.Header{"X-Api-Key": {"k"}, "Accept": {"text/plain", "text/html"}},
		Body:    "an item",
		Pattern: "https://api.example.com/items",
	}}, site.Requests())
}

func TestFetch_EncodesURLAsBrowsersDo(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	n.resolves("example.com", somewhere)
	n.serves(somewhere+":80", func(w http.ResponseWriter, r *http.Request) { says(r.RequestURI)(w, r) })
	client := n.client(outbound.Config{})
	for sent, want := range map[string]string{
		"/a b?q=new york&to=Zürich": "/a%20b?q=new%20york&to=Z%C3%BCrich",
		"/a%20b/%2F?q=a%20b+c%26":   "/a%20b/%2F?q=a%20b+c%26",
		"?q=~!*'();:@$,/?[]":        "/?q=~!*'();:@$,/?[]",
		"/#part":                    "/",
	} {
		resp, err := get(t, client, "http://example.com"+sent)
		require.NoError(t, err)
		require.Equal(t, want, resp.Text())
	}
}

func TestFetch_Refuses(t *testing.T) {
	t.Parallel()
	var site web.Replies
	for field, request := range map[string]outbound.Request{
		"url":         {URL: "http://user:hunter2@exam ple.com/?hunter2"},
		"method":      {URL: "https://example.com/", Method: "GET\r\nhunter2"},
		"headers.X-A": {URL: "https://example.com/", Headers: map[string]string{"X-A": "hunter2\n"}},
	} {
		_, err := outbound.Fetch(t.Context(), &site, request)
		requireCode(t, err, boterr.InvalidArgument, field)
		require.NotContains(t, err.Error(), "hunter2")
	}
	require.Empty(t, site.Requests())
}

func TestFetch_WithoutAClient(t *testing.T) {
	t.Parallel()
	_, err := get(t, nil, "https://example.com/")
	requireCode(t, err, boterr.Unsupported, "")
}

// The Doer may be an http.Client; its errors must get the same codes.
func TestFetch_ErrorsGetACode(t *testing.T) {
	t.Parallel()
	failing := &http.Client{Transport: transport(func(*http.Request) (*http.Response, error) { return nil, errors.New("down") })}
	_, err := get(t, failing, "https://example.com/?key=hunter2")
	requireCode(t, err, boterr.Unavailable, "")
	require.EqualError(t, err, "unavailable: the exchange with example.com failed: down")

	broken := &http.Client{Transport: transport(func(*http.Request) (*http.Response, error) {
		body := io.MultiReader(strings.NewReader("begun"), &failingReader{})
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(body)}, nil
	})}
	_, err = get(t, broken, "https://example.com/")
	requireCode(t, err, boterr.Unavailable, "")

	busy := &http.Client{Transport: transport(func(*http.Request) (*http.Response, error) { return nil, boterr.ResourceExhausted })}
	_, err = get(t, busy, "https://example.com/")
	requireCode(t, err, boterr.ResourceExhausted, "")
}

func TestFetch_ErrorsHideHostAddresses(t *testing.T) {
	t.Parallel()
	own, resolver := &net.TCPAddr{IP: net.IPv4(10, 1, 2, 3), Port: 43210}, "10.9.8.7:53"
	refused := &os.SyscallError{Syscall: "connect", Err: syscall.ECONNREFUSED}
	for name, test := range map[string]struct {
		err  error
		told string
	}{
		"a name that is not there": {
			err:  &net.DNSError{Err: "no such host", Name: "example.com", Server: resolver, IsNotFound: true},
			told: "lookup example.com: no such host",
		},
		"a resolver that is silent": {
			err: &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{
				Err: "read udp 10.1.2.3:43210->" + resolver + ": i/o timeout", Name: "example.com", Server: resolver, IsTimeout: true,
			}},
			told: "lookup example.com: the resolver did not answer",
		},
		"a connection that is refused": {
			err:  &url.Error{Op: "Get", URL: "https://example.com/", Err: &net.OpError{Op: "dial", Net: "tcp", Source: own, Addr: own, Err: refused}},
			told: "dial: connect: connection refused",
		},
		"one that breaks": {
			err:  &net.OpError{Op: "read", Net: "tcp", Source: own, Addr: own, Err: syscall.ECONNRESET},
			told: "read: connection reset by peer",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			failing := &http.Client{Transport: transport(func(*http.Request) (*http.Response, error) { return nil, test.err })}
			_, err := get(t, failing, "https://example.com/")
			require.EqualError(t, err, "unavailable: the exchange with example.com failed: "+test.told)
			_, hasAddresses := errors.AsType[*net.OpError](err)
			require.False(t, hasAddresses)
		})
	}
}

type failingReader struct{}

func (failingReader) Read([]byte) (int, error) { return 0, errors.New("connection reset") }

func TestOK_AnyStatusOfSuccess(t *testing.T) {
	t.Parallel()
	for status, ok := range map[int]bool{199: false, 200: true, 204: true, 299: true, 300: false, 304: false, 404: false, 500: false} {
		require.Equal(t, ok, (&outbound.Response{Status: status}).OK(), status)
	}
}

func TestGet_PathsOfJSON(t *testing.T) {
	t.Parallel()
	resp := &outbound.Response{Body: []byte(`{"items": [{"name": "a", "price": 1.5}, {"name": "b"}]}`)}
	require.Equal(t, "b", resp.Get("items.1.name").String())
	require.InDelta(t, 1.5, resp.Get("items.0.price").Float(), 0)
	require.Len(t, resp.Get("@this").Get("items").Array(), 2)
	require.False(t, resp.Get("items.2").Exists())
}

func TestGet_NoJSON(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"", "<html>", `{"a": 1`, `{"a": 1} x`, `{"a":` + strings.Repeat("[", 1<<20)} {
		require.False(t, (&outbound.Response{Body: []byte(body)}).Get("a").Exists())
	}
}

// redirects returns a handler that redirects every request to location.
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
	require.Equal(t, "http://b.example/there", resp.URL)
	resp, err = get(t, n.client(outbound.Config{}), "http://b.example/here")
	require.NoError(t, err)
	require.Empty(t, resp.URL)
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

// An allowed server on loopback redirects to one that is not allowed.
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

func TestRedirect_ErrorsShowNoSecret(t *testing.T) {
	t.Parallel()
	for location, want := range map[string]string{
		"/%zz?key=hunter2": "unavailable: a.example redirects to an invalid URL",
		"http://hunter2:hunter2@127.0.0.1/?key=hunter2": "invalid argument: url: redirects to a URL that is refused: " +
			"must have no user part; put credentials into a header",
	} {
		n := newNetwork(t)
		n.resolves("a.example", somewhere)
		n.serves(somewhere+":80", redirects(http.StatusFound, location))
		_, err := get(t, n.client(outbound.Config{}), "http://a.example/?key=hunter2")
		require.EqualError(t, err, want)
	}
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
