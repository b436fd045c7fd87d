package outbound_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/fakes/web"
	"github.com/botctx/go-sdk/outbound"
)

// transport is a function that answers requests.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

type trackedBody struct {
	io.Reader

	closed bool
}

func (b *trackedBody) Close() error {
	b.closed = true
	return nil
}

func TestNew_Refuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		field  string
		config outbound.Config
	}{
		{"maxResponseBytes", outbound.Config{MaxResponseBytes: -1}},
		{"maxRequestBytes", outbound.Config{MaxRequestBytes: -1}},
		{"maxBufferedBytes", outbound.Config{MaxBufferedBytes: -1}},
		{"maxBufferedBytes", outbound.Config{MaxBufferedBytes: outbound.DefaultMaxResponseBytes - 1}},
		{"maxConnsPerHost", outbound.Config{MaxConnsPerHost: -1}},
		{"maxRedirects", outbound.Config{MaxRedirects: new(-1)}},
		{"timeout", outbound.Config{Timeout: -1}},
		{"allow[1]", outbound.Config{Allow: []string{"a", "http://b"}}},
		{"resolver", outbound.Config{Resolver: (*net.Resolver)(nil)}},
		{"transport", outbound.Config{Transport: (*http.Transport)(nil)}},
		{"transport", outbound.Config{Transport: http.DefaultTransport, TLS: &tls.Config{}}},
		{"transport", outbound.Config{Transport: http.DefaultTransport, Resolver: newNetwork(t)}},
		{"transport", outbound.Config{Transport: http.DefaultTransport, Dial: newNetwork(t).dial}},
	} {
		client, err := outbound.New(c.config)
		requireCode(t, err, boterr.InvalidArgument, c.field)
		require.Nil(t, client)
	}
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

// net/http does not canonicalize header names that are set directly in the map.
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

// A server may redirect before it has read the body. The client then sends the whole body only to the new URL.
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

// silentBody is a response body that never arrives.
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
				synctest.Test(t, func(t *testing.T) { // Waiting takes no real time.
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

// counted starts a local server, and counts the connections that it accepts.
func counted(t *testing.T, handler http.HandlerFunc) (address string, accepted *atomic.Int64) {
	t.Helper()
	accepted = new(atomic.Int64)
	server := httptest.NewUnstartedServer(handler)
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			accepted.Add(1)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	return server.URL, accepted
}

// requireAnswers makes a number of concurrent requests, and requires an answer to each.
func requireAnswers(t *testing.T, client *outbound.Client, address string, requests int) {
	t.Helper()
	errs := make([]error, requests)
	var group sync.WaitGroup
	for i := range errs {
		group.Go(func() {
			_, errs[i] = outbound.Fetch(t.Context(), client, outbound.Request{URL: address})
		})
	}
	group.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
}

func TestConnections_AreKept(t *testing.T) {
	t.Parallel()
	const workers, rounds = 32, 20
	var waiting atomic.Int64
	var together atomic.Pointer[chan struct{}]
	address, accepted := counted(t, func(http.ResponseWriter, *http.Request) {
		all := *together.Load()
		if waiting.Add(1) == workers { // Each worker has a request in progress, on a separate connection.
			close(all)
		}
		select {
		case <-all:
		case <-t.Context().Done():
		}
	})
	client := newClient(t, outbound.Config{Allow: []string{"127.0.0.1"}})
	for range rounds {
		waiting.Store(0)
		together.Store(new(make(chan struct{})))
		requireAnswers(t, client, address, workers)
	}
	// On a busy machine, net/http may drop a connection if it learns too late that the request was written. If
	// connections were not reused at all, there would be 30 in each round.
	require.LessOrEqual(t, accepted.Load(), int64(2*workers))
}

func TestConnections_LimitPerHost(t *testing.T) {
	t.Parallel()
	const limit = 2
	var active, most atomic.Int64 // the requests in progress, one per connection
	address, _ := counted(t, func(http.ResponseWriter, *http.Request) {
		now := active.Add(1)
		defer active.Add(-1)
		for before := most.Load(); now > before && !most.CompareAndSwap(before, now); {
			before = most.Load()
		}
		runtime.Gosched() // Other requests may arrive.
	})
	client := newClient(t, outbound.Config{Allow: []string{"127.0.0.1"}, MaxConnsPerHost: limit})
	for range 10 {
		requireAnswers(t, client, address, 20)
	}
	require.LessOrEqual(t, most.Load(), int64(limit))
}

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
		"identity": false, "": false, "utf-8": false, "aws-chunked": false, // Servers send these for plain bodies.
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

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for given, want := range map[string]time.Duration{
		"7":                                7 * time.Second,
		"0":                                0,
		"Sun, 01 Mar 2026 12:00:07 GMT":    7 * time.Second,
		"Sunday, 01-Mar-26 12:00:07 GMT":   7 * time.Second,
		"Sun Mar  1 12:00:07 2026":         7 * time.Second,
		"Sun, 01 Mar 2026 11:59:59 GMT":    0,
		"3601":                             time.Hour,
		"4294967295":                       time.Hour,
		"99999999999999999999999999999999": time.Hour,
		"Fri, 31 Dec 9999 23:59:59 GMT":    time.Hour,
	} {
		wait, asks := outbound.RetryAfter(http.Header{"Retry-After": {given}}, now)
		require.True(t, asks, given)
		require.Equal(t, want, wait, given)
	}
	for _, given := range []string{"", "-5", "+5", "1.5", "soon", "7 s"} {
		wait, asks := outbound.RetryAfter(http.Header{"Retry-After": {given}}, now)
		require.False(t, asks, given)
		require.Zero(t, wait, given)
	}
	_, asks := outbound.RetryAfter(nil, now)
	require.False(t, asks)
}
