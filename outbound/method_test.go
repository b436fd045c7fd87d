package outbound_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/fakes/web"
	"github.com/botctx/go-sdk/outbound"
)

func TestMethod_Normalised(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"": "GET", "get": "GET", "dElEtE": "DELETE", "head": "HEAD", "options": "OPTIONS", "post": "POST", "Put": "PUT",
		"PATCH": "PATCH", "patch": "patch", "pAtCh": "pAtCh", "PROPFIND": "PROPFIND", "chicken": "chicken", "x-y": "x-y", "tracer": "tracer",
	} {
		method, err := outbound.ParseMethod(given)
		require.NoError(t, err, given)
		require.Equal(t, want, method, given)
		var site web.Replies
		site.Add(want, "https://example.com/", web.Reply{})
		_, err = outbound.Fetch(t.Context(), &site, outbound.Request{URL: "https://example.com/", Method: given})
		require.NoError(t, err, given)
		require.Equal(t, want, site.Requests()[0].Method)
	}
}

func TestMethod_Refused(t *testing.T) {
	t.Parallel()
	client := newClient(t, outbound.Config{Transport: transport(func(req *http.Request) (*http.Response, error) {
		t.Errorf("%s arrived", req.Method)
		return nil, http.ErrAbortHandler
	})})
	for _, method := range []string{
		"CONNECT", "TRACE", "TRACK", "connect", "tRaCe", "track", " GET", "GET ", "GET /", "G\x00T", "GET\r\n", "GÉT", "(GET)", " ",
	} {
		_, err := outbound.Fetch(t.Context(), client, outbound.Request{URL: "https://example.com/", Method: method})
		requireCode(t, err, boterr.InvalidArgument, "method")
		_, err = outbound.Fetch(t.Context(), http.DefaultClient, outbound.Request{URL: "https://example.com/", Method: method})
		requireCode(t, err, boterr.InvalidArgument, "method")
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://example.com/", nil)
		require.NoError(t, err)
		req.Method = method
		_, err = client.Do(req) //nolint:bodyclose // There is none.
		requireCode(t, err, boterr.InvalidArgument, "method")
	}
}
