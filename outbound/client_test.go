package outbound_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/outbound"
)

// transport is a function that answers requests.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// trackedBody is a body that knows whether it was closed.
type trackedBody struct {
	io.Reader

	closed bool
}

func (b *trackedBody) Close() error {
	b.closed = true
	return nil
}

func TestNew_RefusesContradictions(t *testing.T) {
	t.Parallel()
	for field, config := range map[string]outbound.Config{
		"maxResponseBytes": {MaxResponseBytes: -1},
		"maxRequestBytes":  {MaxRequestBytes: -1},
		"maxBufferedBytes": {MaxBufferedBytes: -1},
		"maxConnsPerHost":  {MaxConnsPerHost: -1},
		"maxRedirects":     {MaxRedirects: new(-1)},
		"timeout":          {Timeout: -1},
		"allow[1]":         {Allow: []string{"a", "http://b"}},
		"transport":        {Transport: http.DefaultTransport, TLS: &tls.Config{}},
	} {
		client, err := outbound.New(config)
		requireCode(t, err, boterr.InvalidArgument, field)
		require.Nil(t, client)
	}
	_, err := outbound.New(outbound.Config{Transport: http.DefaultTransport, Resolver: newNetwork(t)})
	requireCode(t, err, boterr.InvalidArgument, "transport")
	_, err = outbound.New(outbound.Config{Transport: http.DefaultTransport, Dial: newNetwork(t).dial})
	requireCode(t, err, boterr.InvalidArgument, "transport")
}

func TestClient_NotMadeByNew(t *testing.T) {
	t.Parallel()
	for _, client := range []*outbound.Client{nil, {}} {
		_, err := get(t, client, "http://example.com/")
		requireCode(t, err, boterr.FailedPrecondition, "")
		client.CloseIdleConnections()
	}
}

func TestDo_RefusesWithoutURL(t *testing.T) {
	t.Parallel()
	for _, req := range []*http.Request{nil, {}} {
		_, err := newClient(t, outbound.Config{}).Do(req) //nolint:bodyclose // There is none.
		requireRefused(t, err)
	}
}

func TestDo_ClosesRefusedBody(t *testing.T) {
	t.Parallel()
	body := &trackedBody{Reader: strings.NewReader("x")}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1/", body)
	require.NoError(t, err)
	_, err = newClient(t, outbound.Config{}).Do(req) //nolint:bodyclose // There is none.
	requireRefused(t, err)
	require.True(t, body.closed)
}

func TestDo_RefusesAnotherHostHeader(t *testing.T) {
	t.Parallel()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://example.com/", nil)
	require.NoError(t, err)
	req.Host = "internal.example"
	_, err = newClient(t, outbound.Config{}).Do(req) //nolint:bodyclose // There is none.
	requireCode(t, err, boterr.InvalidArgument, "headers.Host")
}

func TestDo_LeavesTheRequest(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	n.resolves("example.com", somewhere)
	n.serves(somewhere+":80", says(""))
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://example.com/", strings.NewReader("body"))
	require.NoError(t, err)
	body, header := req.Body, req.Header.Clone()
	resp, err := n.client(outbound.Config{}).Do(req)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, body, req.Body)
	require.Equal(t, header, req.Header)
}

func TestDo_RefusesUnsendableHeaders(t *testing.T) {
	t.Parallel()
	client := newClient(t, outbound.Config{Transport: transport(func(*http.Request) (*http.Response, error) {
		return nil, errors.New("arrived")
	})})
	for _, c := range []struct{ name, value, field string }{
		{"Host", "internal.example", "headers.Host"},
		{"host", "internal.example", "headers.Host"},
		{"Content-Length", "5", "headers.Content-Length"},
		{"transfer-encoding", "chunked", "headers.Transfer-Encoding"},
		{"Trailer", "X", "headers.Trailer"},
		{"X-A", "a\r\nX-B: b", "headers.X-A"},
		{"X-A", "a\x00", "headers.X-A"},
		{"X-A", "a\x7f", "headers.X-A"},
		{"", "a", "headers"},
		{"X A", "a", "headers"},
		{"X-A:", "a", "headers"},
		{"X\r\nY", "a", "headers"},
		{"X-Ä", "a", "headers"},
	} {
		_, err := outbound.Fetch(t.Context(), client, outbound.Request{URL: "http://example.com/", Headers: map[string]string{c.name: c.value}})
		requireCode(t, err, boterr.InvalidArgument, c.field)
	}
}

// Names that are written into the map of a header past its methods.
func TestDo_RefusesOddHeaderSpelling(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"host", "HOST", "transfer-Encoding"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://example.com/", nil)
		require.NoError(t, err)
		req.Header[name] = []string{"x"}
		_, err = newClient(t, outbound.Config{}).Do(req) //nolint:bodyclose // There is none.
		requireCode(t, err, boterr.InvalidArgument, "headers."+name)
	}
}

func TestResponse_Limited(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	n.resolves("example.com", somewhere)
	n.serves(somewhere+":80", says("0123456789"))
	for limit, ok := range map[int64]bool{1: false, 9: false, 10: true, 11: true, 1<<63 - 1: true} {
		resp, err := get(t, n.client(outbound.Config{MaxResponseBytes: limit}), "http://example.com/")
		if ok {
			require.NoError(t, err)
			require.Equal(t, "0123456789", resp.Text())
		} else {
			requireCode(t, err, boterr.ResourceExhausted, "")
			require.Nil(t, resp)
		}
	}
}

func TestResponse_TooLongIsNeverWhole(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	n.resolves("example.com", somewhere)
	n.serves(somewhere+":80", says("0123456789"))
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://example.com/", nil)
	require.NoError(t, err)
	resp, err := n.client(outbound.Config{MaxResponseBytes: 9}).Do(req)
	require.NoError(t, err)
	text, err := io.ReadAll(resp.Body)
	requireCode(t, err, boterr.ResourceExhausted, "")
	require.Equal(t, "012345678", string(text))
	_, err = resp.Body.Read(make([]byte, 1))
	requireCode(t, err, boterr.ResourceExhausted, "")
	require.NoError(t, resp.Body.Close())
}

func TestResponse_LimitedDecompressed(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	_, err := writer.Write(make([]byte, 1<<20))
	require.NoError(t, err)
	require.NoError(t, writer.Close())
	n := newNetwork(t)
	n.resolves("example.com", somewhere)
	n.serves(somewhere+":80", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		says(packed.String())(w, r)
	})
	_, err = get(t, n.client(outbound.Config{MaxResponseBytes: 1 << 19}), "http://example.com/")
	requireCode(t, err, boterr.ResourceExhausted, "")
	resp, err := get(t, n.client(outbound.Config{MaxResponseBytes: 1 << 20}), "http://example.com/")
	require.NoError(t, err)
	require.Len(t, resp.Body, 1<<20)
}

func TestRequest_Limited(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	n.resolves("example.com", somewhere)
	n.serves(somewhere+":80", func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(w, r.Body); err != nil {
			panic(http.ErrAbortHandler)
		}
	})
	client := n.client(outbound.Config{MaxRequestBytes: 4})
	resp, err := outbound.Fetch(t.Context(), client, outbound.Request{URL: "http://example.com/", Method: "POST", Body: []byte("1234")})
	require.NoError(t, err)
	require.Equal(t, "1234", resp.Text())

	bodies := map[string]io.Reader{
		"of a known length":    strings.NewReader("12345"),
		"of an unknown length": io.MultiReader(strings.NewReader("12345")),
	}
	for name, body := range bodies {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://example.com/", body)
			require.NoError(t, err)
			_, err = client.Do(req) //nolint:bodyclose // There is none.
			requireCode(t, err, boterr.ResourceExhausted, "body")
		})
	}
}

// A server may redirect before it has read the body, which is then sent whole for
// the first time.
func TestRequest_LimitedWhenRedirected(t *testing.T) {
	t.Parallel()
	client := newClient(t, outbound.Config{MaxRequestBytes: 4, Transport: transport(func(req *http.Request) (*http.Response, error) {
		if req.URL.Path == "/start" {
			return &http.Response{StatusCode: http.StatusTemporaryRedirect, Header: http.Header{"Location": {"/end"}}}, nil
		}
		_, err := io.Copy(io.Discard, req.Body)
		return &http.Response{StatusCode: http.StatusOK}, err
	})})
	_, err := outbound.Fetch(t.Context(), client,
		outbound.Request{URL: "http://example.com/start", Method: "POST", Body: []byte("12345")})
	requireCode(t, err, boterr.ResourceExhausted, "body")
}

func TestContext_EndsRequest(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	n := newNetwork(t)
	n.resolves("example.com", somewhere)
	release := make(chan struct{})
	n.serves(somewhere+":80", func(http.ResponseWriter, *http.Request) {
		cancel()
		<-release
	})
	t.Cleanup(func() { close(release) })
	_, err := outbound.Fetch(ctx, n.client(outbound.Config{}), outbound.Request{URL: "http://example.com/?key=hunter2"})
	requireCode(t, err, boterr.Canceled, "")
	require.ErrorIs(t, err, context.Canceled)
	require.NotContains(t, err.Error(), "hunter2")
}

func TestContext_EndsBody(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	n := newNetwork(t)
	n.resolves("example.com", somewhere)
	release := make(chan struct{})
	n.serves(somewhere+":80", func(w http.ResponseWriter, r *http.Request) {
		says("begun")(w, r)
		_ = http.NewResponseController(w).Flush()
		<-release
	})
	t.Cleanup(func() { close(release) })
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://example.com/", nil)
	require.NoError(t, err)
	resp, err := n.client(outbound.Config{}).Do(req)
	require.NoError(t, err)
	_, err = io.ReadFull(resp.Body, make([]byte, len("begun")))
	require.NoError(t, err)
	cancel()
	_, err = resp.Body.Read(make([]byte, 1))
	requireCode(t, err, boterr.Canceled, "")
	require.NoError(t, resp.Body.Close())
}

func TestContext_EndedSendsNothing(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	n := newNetwork(t)
	n.resolves("example.com", somewhere)
	n.serves(somewhere+":80", unreached(t))
	_, err := outbound.Fetch(ctx, n.client(outbound.Config{}), outbound.Request{URL: "http://example.com/"})
	requireCode(t, err, boterr.Canceled, "")
}

// silent is a transport that never answers.
func silent(req *http.Request) (*http.Response, error) {
	<-req.Context().Done()
	return nil, context.Cause(req.Context())
}

// silentBody is the body of a response that never comes.
type silentBody struct{ ctx context.Context }

func (b silentBody) Read([]byte) (int, error) {
	<-b.ctx.Done()
	return 0, b.ctx.Err()
}

func (silentBody) Close() error { return nil }

func TestTimeout_EndsRequest(t *testing.T) {
	t.Parallel()
	transports := map[string]transport{
		"before the response": silent,
		"within the body": func(req *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusOK, Body: silentBody{req.Context()}}, nil
		},
	}
	for name, answer := range transports {
		for limit, want := range map[time.Duration]time.Duration{0: outbound.DefaultTimeout, time.Minute: time.Minute} {
			t.Run(name+" "+want.String(), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) { // time passes at once, and exactly
					begun := time.Now() //nolint:forbidigo // The virtual clock of synctest.
					_, err := get(t, newClient(t, outbound.Config{Transport: answer, Timeout: limit}), "http://example.com/")
					requireCode(t, err, boterr.Unavailable, "")
					require.ErrorContains(t, err, want.String())
					require.Equal(t, want, time.Since(begun)) //nolint:forbidigo // As above.
				})
			})
		}
	}
}

func TestContext_DeadlineIsCanceled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		client := newClient(t, outbound.Config{Transport: transport(silent)})
		_, err := outbound.Fetch(ctx, client, outbound.Request{URL: "http://example.com/"})
		requireCode(t, err, boterr.Canceled, "")
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

func TestClient_ChecksGivenTransport(t *testing.T) {
	t.Parallel()
	client := newClient(t, outbound.Config{MaxResponseBytes: 3, Transport: transport(func(req *http.Request) (*http.Response, error) {
		resp := &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(req.URL.Path))}
		switch req.URL.Path {
		case "/redirect":
			resp.StatusCode, resp.Header = http.StatusFound, http.Header{"Location": {"http://10.0.0.1/"}}
		case "/malformed":
			resp.StatusCode, resp.Header, resp.Body = http.StatusFound, http.Header{"Location": {"%zz"}}, nil
		case "/nothing":
			return nil, nil //nolint:nilnil // A transport that breaks its contract.
		}
		return resp, nil
	})})
	_, err := get(t, client, "http://127.0.0.1/")
	requireRefused(t, err)
	_, err = get(t, client, "http://example.com/redirect")
	requireRefused(t, err)
	_, err = get(t, client, "http://example.com/malformed")
	requireCode(t, err, boterr.Unavailable, "")
	_, err = get(t, client, "http://example.com/nothing")
	requireCode(t, err, boterr.Unavailable, "")
	_, err = get(t, client, "http://example.com/long")
	requireCode(t, err, boterr.ResourceExhausted, "")
	resp, err := get(t, client, "http://example.com/ok")
	require.NoError(t, err)
	require.Equal(t, "/ok", resp.Text())
}

func TestClient_ConcurrentUse(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	n.resolves("a.example", somewhere)
	n.resolves("b.example", "10.0.0.1")
	n.serves(somewhere+":80", says("hello"))
	client := n.client(outbound.Config{})
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			if resp, err := get(t, client, "http://a.example/"); err != nil || resp.Text() != "hello" {
				t.Errorf("a.example: %v", err)
			}
			if _, err := get(t, client, "http://b.example/"); !errors.Is(err, boterr.InvalidArgument) {
				t.Errorf("b.example: %v", err)
			}
		})
	}
	all.Wait()
}

func TestBody_EndReleasesContext(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(io.ReadCloser) error{
		"read":  func(body io.ReadCloser) error { _, err := io.Copy(io.Discard, body); return err },
		"close": func(body io.ReadCloser) error { return body.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var sent context.Context
			client := newClient(t, outbound.Config{Transport: transport(func(req *http.Request) (*http.Response, error) {
				sent = req.Context() //nolint:fatcontext // Kept to be looked at, not to be nested.
				return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader("text"))}, nil
			})})
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://example.com/", nil)
			require.NoError(t, err)
			resp, err := client.Do(req) //nolint:bodyclose // The case ends it.
			require.NoError(t, err)
			require.NoError(t, sent.Err())
			require.NoError(t, end(resp.Body))
			require.ErrorIs(t, sent.Err(), context.Canceled)
		})
	}
}
