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

func TestFetch_EmptyMethodIsGET(t *testing.T) {
	t.Parallel()
	var site web.Replies
	site.Add(http.MethodGet, "https://example.com/", web.Reply{})
	resp, err := get(t, &site, "https://example.com/")
	require.NoError(t, err)
	require.True(t, resp.OK())
	require.Empty(t, resp.Text())
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

// A host may give an http.Client; its errors get the same codes.
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

// failingReader fails.
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
