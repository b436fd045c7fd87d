package outbound_test

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/fakes/web"
	"github.com/botctx/go-sdk/outbound"
)

func TestFetch_DecodesWhatItAsksFor(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	n.resolves("example.com", somewhere)
	n.serves(somewhere+":80", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Accept-Encoding") != "gzip" {
			says("plain, asked by "+r.Header.Get("Accept-Encoding"))(w, r)
			return
		}
		w.Header().Set("Content-Encoding", "gzip")
		packed := gzip.NewWriter(w)
		_, _ = packed.Write([]byte("packed"))
		_ = packed.Close()
	})
	client := n.client(outbound.Config{})
	for asked, want := range map[string]string{
		"gzip": "packed", "x-gzip": "packed", "*": "packed", "gzip, deflate, br, zstd": "packed", "br;q=1.0, GZIP;q=0.2": "packed", "": "packed",
		"identity": "plain, asked by identity", "identity, br;q=0": "plain, asked by identity", "identity;q=1, *;q=0": "plain, asked by identity",
	} {
		resp, err := outbound.Fetch(t.Context(), client, outbound.Request{
			URL: "http://example.com/", Headers: map[string]string{"accept-encoding": asked},
		})
		require.NoError(t, err, asked)
		require.Equal(t, want, resp.Text(), asked)
	}
}

func TestFetch_AsksForNoEncodingThatItDoesNotRead(t *testing.T) {
	t.Parallel()
	var site web.Replies
	for _, asked := range []string{"br", "deflate", "zstd, br", "gzip;q=0", "gzip;q=0.000, br", "*;q=0", "hunter2"} {
		_, err := outbound.Fetch(t.Context(), &site, outbound.Request{
			URL: "https://example.com/", Headers: map[string]string{"Accept-Encoding": asked},
		})
		requireCode(t, err, boterr.InvalidArgument, "headers.Accept-Encoding")
		require.NotContains(t, err.Error(), "hunter2")
	}
	require.Empty(t, site.Requests())
}

func TestFetch_RefusesEncodingsThatItDoesNotRead(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	_, err := gzip.NewWriter(&packed).Write([]byte("packed"))
	require.NoError(t, err)
	for encoding, isRefused := range map[string]bool{
		"gzip": true, "X-Gzip": true, "br": true, "zstd": true, "deflate": true, "identity, br": true,
		"identity": false, "": false, "utf-8": false, "aws-chunked": false, // Servers say these of plain bodies.
	} {
		var site web.Replies
		reply := web.Reply{Header: http.Header{"Content-Encoding": {encoding}}, Body: packed.String()}
		site.Add(http.MethodGet, "https://example.com/", reply)
		site.Add(http.MethodHead, "https://example.com/", reply)
		_, err := get(t, &site, "https://example.com/")
		if isRefused {
			requireCode(t, err, boterr.Unavailable, "")
			require.ErrorContains(t, err, "encoded as", encoding)
		} else {
			require.NoError(t, err, encoding)
		}
		_, err = outbound.Fetch(t.Context(), &site, outbound.Request{URL: "https://example.com/", Method: http.MethodHead})
		require.NoError(t, err, "%s: no body is encoded", encoding)
	}
}

func TestGet_ReadsPastAByteOrderMark(t *testing.T) {
	t.Parallel()
	resp := &outbound.Response{Body: []byte("\ufeff" + `{"name": "a"}`)}
	require.Equal(t, "a", resp.Get("name").String())
	require.NotContains(t, resp.Text(), "\ufeff")
	require.Equal(t, "\ufeff"+`{"name": "a"}`, string(resp.Body), "the body is as it came")
}
