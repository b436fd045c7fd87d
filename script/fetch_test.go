package script_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/fakes/web"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/script"
)

func TestFetch_ReadsJSON(t *testing.T) {
	t.Parallel()
	s := newStage(t, script.Options{})
	s.ReplyHTTP(http.MethodPost, "https://api.example.com/orders", web.Reply{
		Status: http.StatusCreated, Header: http.Header{"X-Order": {"7"}}, Body: `{"id":7}`,
	})
	require.JSONEq(t, `[true,201,"Created","7",{"id":7},"used"]`, s.returns(`
		const response = await this.fetch('https://api.example.com/orders', {
			method: 'post', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ tea: 2 }),
		})
		const body = await response.json()
		return [response.ok, response.status, response.statusText, response.headers.get('x-order'), body,
			await response.text().catch(() => 'used')]`))
}

// echoing answers with what was sent.
func echoing(_ context.Context, _ *botctx.Context, asked outbound.Request) (*outbound.Response, error) {
	return &outbound.Response{
		Status: http.StatusOK, Header: http.Header{"Asked": {strings.TrimSpace(asked.Method + " " + asked.URL + " " + asked.Headers["content-type"])}}, Body: asked.Body,
	}, nil
}

func TestFetch_Requests(t *testing.T) {
	t.Parallel()
	s := newStage(t, script.Options{Fetch: echoing})
	for source, want := range map[string]string{
		"await fetch('https://a.example')":                                                                  `["GET https://a.example/",""]`,
		"await fetch(new URL('/b?c=1', 'https://a.example'))":                                               `["GET https://a.example/b?c=1",""]`,
		"await fetch('https://a.example', {method: 'PUT', body: 'ä'})":                                      `["PUT https://a.example/ text/plain;charset=UTF-8","ä"]`,
		"await fetch('https://a.example', {method: 'patch'})":                                               `["patch https://a.example/",""]`,
		"await fetch(new Request('https://a.example', {method: 'DELETE'}))":                                 `["DELETE https://a.example/",""]`,
		"await fetch('https://a.example', {method: 'POST', body: new Uint8Array([104, 105])})":              `["POST https://a.example/","hi"]`,
		"await fetch('https://a.example', {method: 'POST', body: new URLSearchParams({a: '1', b: 'x y'})})": `["POST https://a.example/ application/x-www-form-urlencoded;charset=UTF-8","a=1&b=x+y"]`,
	} {
		require.JSONEq(t, want, s.returns("const r = "+source+"\nreturn [r.headers.get('asked'), await r.clone().text()]"), source)
	}
}

func TestFetch_ReadsPastAByteOrderMark(t *testing.T) {
	t.Parallel()
	s := newStage(t, script.Options{Fetch: echoing})
	require.JSONEq(t, `[{"a":1},"{\"a\":1}",10]`, s.returns(`
		const r = await fetch('https://a.example', { method: 'POST', body: '\ufeff{"a":1}' })
		return [await r.clone().json(), await r.clone().text(), (await r.arrayBuffer()).byteLength]`))
}

func TestFetch_Aborted(t *testing.T) {
	t.Parallel()
	s := newStage(t, script.Options{
		Fetch: func(ctx context.Context, _ *botctx.Context, _ outbound.Request) (*outbound.Response, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		},
	})
	require.JSONEq(t, `["AbortError","TimeoutError"]`, s.returns(`
		const stop = new AbortController()
		setTimeout(() => stop.abort(), 5)
		const first = await fetch('https://a.example', { signal: stop.signal }).catch((e) => e.name)
		return [first, await fetch('https://a.example', { signal: AbortSignal.timeout(1) }).catch((e) => e.name)]`))
}

func TestFetch_SeveralAtOnce(t *testing.T) {
	t.Parallel()
	arrived := make(chan struct{})
	s := newStage(t, script.Options{
		Fetch: func(ctx context.Context, bot *botctx.Context, asked outbound.Request) (*outbound.Response, error) {
			select { // Each waits for the other.
			case arrived <- struct{}{}:
			case <-arrived:
			case <-ctx.Done():
			}
			return echoing(ctx, bot, asked)
		},
	})
	require.JSONEq(t, "[200,200]", s.returns(
		"const both = await Promise.all(['a', 'b'].map((h) => fetch(`https://${h}.example`)))\nreturn both.map((r) => r.status)"))
}

func TestFetch_ErrorsHaveACode(t *testing.T) {
	t.Parallel()
	s := newStage(t, script.Options{})
	require.JSONEq(t, `["InvalidArgument","fetch",true]`, s.returns(
		"try { await fetch('file:///etc/passwd') } catch (e) { return [e.code, e.operation, e instanceof Error] }"))
	require.JSONEq(t, `["TypeError","TypeError"]`, s.returns(
		"return Promise.all(['trace', 'CONNECT'].map((method) => fetch('https://a.example', { method }).catch((e) => e.name)))"))
	_, err := s.compile("\nawait fetch('https://nobody.example')").Run(t.Context(), s.ada.Context())
	require.ErrorContains(t, err, "test.js:2:")
	require.NotEqual(t, boterr.Internal, boterr.CodeOf(err))
}

func TestFetch_NotWaitedForIsSent(t *testing.T) {
	t.Parallel()
	sent := make(chan string, 1)
	s := newStage(t, script.Options{
		Fetch: func(ctx context.Context, bot *botctx.Context, asked outbound.Request) (*outbound.Response, error) {
			sent <- asked.URL
			return echoing(ctx, bot, asked)
		},
	})
	s.returns("fetch('https://a.example/log')")
	require.Equal(t, "https://a.example/log", <-sent)
}

func TestFetch_HostThatPanics(t *testing.T) {
	t.Parallel()
	s := newStage(t, script.Options{
		Fetch: func(context.Context, *botctx.Context, outbound.Request) (*outbound.Response, error) {
			panic("out of tea")
		},
	})
	_, err := s.compile("\nawait fetch('https://a.example')").Run(t.Context(), s.ada.Context())
	require.ErrorContains(t, err, "test.js:2:")
	require.ErrorContains(t, err, "out of tea")
}
