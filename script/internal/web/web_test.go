package web_test

import (
	"crypto/rand"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/scripttest"
	"github.com/botctx/go-sdk/script/internal/quickjs"
	"github.com/botctx/go-sdk/script/internal/web"
)

// Here the standards differ from Node.js 20.
func TestSource_AsTheStandards(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"new URL('x', 'mailto:u').href":                                                "TypeError",
		"new URL('http://-80').href":                                                   "TypeError", // The standard allows it; no host has this name.
		"String(new URLSearchParams(null))":                                            "null=",
		"new URLSearchParams('%e4é%bd') + ''":                                          "%EF%BF%BD%C3%A9%EF%BF%BD=",
		"structuredClone(new DOMException('m', 'AbortError')).code":                    "20",
		"structuredClone(new DOMException('m', 'AbortError')) instanceof DOMException": "true",
		"structuredClone(new Error('m', { cause: [1] })).cause":                        "1",
		"structuredClone(new URL('https://a'))":                                        "DataCloneError",
		"structuredClone(new SharedArrayBuffer(1))":                                    "DataCloneError",
		"structuredClone(1, { transfer: [{}] })":                                       "DataCloneError",
		"crypto.getRandomValues([1])":                                                  "TypeError",
		"typeof crypto.subtle":                                                         "undefined",
		"AbortSignal.timeout(-1)":                                                      "TypeError",
		"(() => { let a = new AbortController(), x = AbortSignal.any([a.signal]); a.signal.onabort = () => { a = x.aborted }; a.abort(); return a })()": "true",
		"new TextDecoder('latin1').decode(new Uint8Array([0x80, 0x81, 0xe9]))":                                                                          "€\u0081é",
		"new TextDecoder('sjis').decode(new Uint8Array(1), { stream: true })":                                                                           "TypeError",
		"new TextDecoder('replacement')":          "RangeError",
		"Object.keys(globalThis).includes('URL')": "false",
		"AbortController.prototype.abort.name":    "abort",
	} {
		got := resolved(t, newEngine(t), "(async () => "+source+")().catch((error) => error.name)")
		require.Equal(t, want, got, source)
	}
}

func TestFetch(t *testing.T) {
	t.Parallel()
	require.JSONEq(t, `[
		{"url":"https://a.example/b","method":"POST","headers":[["content-type","text/plain;charset=UTF-8"],["x","1"]],"body":"w6Q="},
		201, "Created", true, "https://a.example/c", true, "basic", ["a=1","b=2, c"], "TypeError", {"a":1}, true, "used"
	]`, inScript(t, `
		const answer = fetch('https://a.example/b#c', { method: 'post', body: 'ä', headers: { X: 1 } })
		begun[0].resolve({ status: 201, statusText: 'Created', url: 'https://a.example/c', body: btoa('\xef\xbb\xbf{"a":1}'),
			headers: [['Set-Cookie', 'a=1'], ['Set-Cookie', 'b=2, c']] })
		const r = await answer
		let locked
		try { r.headers.set('a', 'b') } catch (error) { locked = error.name }
		return [begun[0].value, r.status, r.statusText, r.ok, r.url, r.redirected, r.type, r.headers.getSetCookie(), locked,
			await r.json(), r.bodyUsed, await r.text().catch(() => 'used')]`))
}

func TestFetch_Clone(t *testing.T) {
	t.Parallel()
	require.JSONEq(t, `["https://a.example/",false,"basic","a","a",null,"",{"method":"HEAD","headers":[],"url":"https://a.example/","body":null}]`, inScript(t, `
		const both = [fetch('https://a.example'), fetch(new Request('https://a.example', { method: 'HEAD' }))]
		for (const one of begun) one.resolve({ status: 200, statusText: 'OK', url: 'https://a.example/', headers: [], body: btoa('a') })
		const [r, head] = await Promise.all(both)
		const copy = r.clone()
		return [copy.url, copy.redirected, copy.type, await r.text(), await copy.text(), head.body, await head.text(), begun[1].value]`))
}

func TestFetch_Fails(t *testing.T) {
	t.Parallel()
	require.JSONEq(t, `["gone","TypeError","TypeError",1]`, inScript(t, `
		const answer = fetch('https://a.example')
		begun[0].reject(new Error('gone'))
		const name = (error) => error.name
		return [await answer.catch((error) => error.message), await fetch('/relative').catch(name),
			await fetch('https://u:p@a.example').catch(name), begun.length]`))
}

func TestFetch_Aborted(t *testing.T) {
	t.Parallel()
	require.JSONEq(t, `["AbortError",true,"early",1,"TimeoutError",true,1000,200]`, inScript(t, `
		const stop = new AbortController()
		const answer = fetch('https://a.example', { signal: stop.signal })
		stop.abort()
		const first = await answer.catch((error) => error.name)
		const early = await fetch('https://a.example', { signal: AbortSignal.abort('early') }).catch((error) => error)
		const count = begun.length
		const slow = fetch(new Request('https://a.example', { signal: AbortSignal.timeout(1000) }))
		later[0].call()
		const last = [await slow.catch((error) => error.name), begun[1].canceled, later[0].wait]
		const done = fetch('https://a.example', { signal: (globalThis.late = new AbortController()).signal })
		begun[2].resolve({ status: 200, statusText: '', url: '', headers: [], body: null })
		const response = await done
		late.abort()
		if (begun[2].canceled) throw new Error('it was answered before')
		return [first, begun[0].canceled, early, count, ...last, response.status]`))
}

// The error for an unsupported option names the option.
func TestFetch_Refuses(t *testing.T) {
	t.Parallel()
	engine := newEngine(t)
	for options, want := range map[string]string{
		"redirect: 'manual'":                              "redirect",
		"redirect: 'error'":                               "redirect",
		"credentials: 'include'":                          "credentials",
		"mode: 'no-cors'":                                 "mode",
		"cache: 'only-if-cached'":                         "cache",
		"integrity: 'sha256-x'":                           "integrity",
		"body: new (class FormData {}), method: 'POST'":   "FormData",
		"body: new (class Blob {}), method: 'POST'":       "Blob",
		"body: (async function* () {})(), method: 'POST'": "AsyncGenerator",
	} {
		require.Contains(t, resolved(t, engine, "fetch('https://a.example', {"+options+"})"), "TypeError: ", options)
		require.Contains(t, resolved(t, engine, "fetch('https://a.example', {"+options+"})"), want, options)
	}
	for source, want := range map[string]string{
		"new Response('a').body":       "stream",
		"new Response('a').blob()":     "Blob",
		"new Response('a').formData()": "FormData",
	} {
		require.Contains(t, resolved(t, engine, "(async () => "+source+")()"), want, source)
	}
}

// Errors of a listener are thrown later, so that the other listeners are still called.
func TestAbortSignal_ListenerThrows(t *testing.T) {
	t.Parallel()
	require.JSONEq(t, `[true,"oh"]`, inScript(t, `
		const stop = new AbortController()
		let called = false
		stop.signal.onabort = () => { throw new Error('oh') }
		stop.signal.addEventListener('abort', () => { called = true })
		stop.abort()
		try { later[0].call() } catch (error) { return [called, error.message] }`))
}

// A script that changes built-in objects harms at most itself; the most common changes do no harm at all.
func TestSource_KeepsItsFunctions(t *testing.T) {
	t.Parallel()
	require.JSONEq(t, `["https://a/?b=1","é",{"a":1}]`, inScript(t, `
		Uint8Array.fromBase64 = Object.defineProperty = Object.keys = host = undefined
		globalThis.URL = globalThis.URLSearchParams = globalThis.structuredClone
		return [new Request('https://a?b=1').url, new TextDecoder().decode(new TextEncoder().encode('é')), structuredClone({ a: 1 })]`))
}

// Snapshots contain the globals, so defining them must not call the host.
func TestSource_NeedsNoHost(t *testing.T) {
	t.Parallel()
	_, err := newBareEngine(t, nil).Eval("web.js", web.Source+"("+boot+")")
	require.NoError(t, err)
}

func TestFunctions_URL(t *testing.T) {
	t.Parallel()
	parse := web.Functions(rand.Reader)["url"]
	for name, url := range map[string]string{
		"path": "http://a/" + strings.Repeat("b", 9000), "segments": "http://a" + strings.Repeat("/b", 600),
		"user": "http://" + strings.Repeat("@", 600) + "c", "backslashes": `http:\\a` + strings.Repeat(`\b`, 600),
		"data with a path": "data:/" + strings.Repeat("/b", 5000), "data with a line": "data:\n/" + strings.Repeat("/b", 5000),
		"query": "http://a?" + strings.Repeat("b", 300_000), "long data": "data:text/plain," + strings.Repeat("b", 300_000),
	} {
		value, err := json.Marshal(map[string]string{"url": url})
		require.NoError(t, err)
		_, err = parse(value)
		require.Equal(t, boterr.InvalidArgument, boterr.CodeOf(err), name)
		value, err = json.Marshal(map[string]string{"url": "http://a", "base": url})
		require.NoError(t, err)
		_, err = parse(value)
		require.Equal(t, boterr.InvalidArgument, boterr.CodeOf(err), name)
		value, err = json.Marshal(map[string]string{"url": "http://a", "set": "pathname", "to": url})
		require.NoError(t, err)
		_, err = parse(value)
		require.Equal(t, boterr.InvalidArgument, boterr.CodeOf(err), name)
	}
	_, err := parse([]byte(`{"url": "http://a", "set": "search", "to": "` + strings.Repeat("b", 300_000) + `"}`))
	require.Equal(t, boterr.InvalidArgument, boterr.CodeOf(err))
	for name, url := range map[string]string{
		"query": "http://a?" + strings.Repeat("/b", 50000), "data": "data:text/plain," + strings.Repeat("/b", 50000),
	} {
		value, err := json.Marshal(map[string]string{"url": url})
		require.NoError(t, err)
		made, err := parse(value)
		require.NoError(t, err, name)
		require.NotNil(t, made, name)
	}
}

func TestFunctions_Refuse(t *testing.T) {
	t.Parallel()
	functions := web.Functions(rand.Reader)
	for name, value := range map[string]string{"random": "65537", "decode": `{"encoding":"no"}`} {
		_, err := functions[name]([]byte(value))
		require.Equal(t, boterr.InvalidArgument, boterr.CodeOf(err), name)
	}
	for _, name := range []string{"url", "encode", "decode", "encoding", "random"} {
		_, err := functions[name]([]byte("{"))
		require.Error(t, err, name)
	}
	_, err := web.Functions(io.LimitReader(rand.Reader, 3))["random"]([]byte("4"))
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
}

// All random bytes must come from the host.
func TestFunctions_Random(t *testing.T) {
	t.Parallel()
	made, err := web.Functions(strings.NewReader("abcdef"))["random"]([]byte("4"))
	require.NoError(t, err)
	require.Equal(t, []byte("abcd"), made)
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// boot creates the object for Source from Functions. Started requests are in the global begun, and pending timers in
// the global later.
const boot = `(() => {
	const say = host
	globalThis.begun = []
	globalThis.later = []
	return {
		ask(name, value) {
			const { result, error, code } = JSON.parse(say(JSON.stringify({ name, value })))
			if (error !== undefined) throw Object.assign(new Error(error), { code })
			return result
		},
		begin(name, value) {
			const one = { name, value, canceled: false }
			const answer = new Promise((resolve, reject) => { Object.assign(one, { resolve, reject }) })
			begun.push(one)
			return { answer, cancel() { one.canceled = true } }
		},
		setTimeout(call, wait) { later.push({ call, wait }) },
	}
})()`

func newEngine(tb testing.TB) *quickjs.Instance {
	tb.Helper()
	engine := newBareEngine(tb, answering(web.Functions(rand.Reader)))
	_, err := engine.Eval("web.js", web.Source+"("+boot+")")
	require.NoError(tb, err)
	return engine
}

func newBareEngine(tb testing.TB, host func(string) (string, error)) *quickjs.Instance {
	tb.Helper()
	machine, err := quickjs.Open(scripttest.CacheDir())
	require.NoError(tb, err)
	engine, err := machine.New(tb.Context(), quickjs.Run{Busy: time.Hour, Host: host}, 64<<20)
	require.NoError(tb, err)
	tb.Cleanup(engine.Close)
	return engine
}

func answering(functions map[string]web.Function) func(string) (string, error) {
	return func(text string) (string, error) {
		var asked struct {
			Name  string          `json:"name"`
			Value json.RawMessage `json:"value"`
		}
		if err := json.Unmarshal([]byte(text), &asked); err != nil {
			return "", fmt.Errorf("the script's request %q cannot be read: %w", text, err)
		}
		answer := map[string]any{}
		result, err := functions[asked.Name](asked.Value)
		if answer["result"] = result; err != nil {
			answer["error"], answer["code"] = err.Error(), boterr.CodeOf(err)
		}
		made, err := json.Marshal(answer)
		return string(made), err
	}
}

// resolved runs an expression and returns the result of its promise as text.
func resolved(tb testing.TB, engine *quickjs.Instance, source string) string {
	tb.Helper()
	_, err := engine.Eval("test.js", "var outcome = 'pending'; Promise.resolve("+source+
		"\n).then((value) => { outcome = value }, (error) => { outcome = `${error}\\n${error.stack}` })")
	require.NoError(tb, err, source)
	require.NoError(tb, engine.RunJobs())
	value, err := engine.Eval("test.js", "outcome")
	require.NoError(tb, err)
	text, err := engine.Text(value)
	require.NoError(tb, err)
	return text
}

// inScript runs an async function with the given body and returns its result as JSON.
func inScript(tb testing.TB, body string) string {
	tb.Helper()
	return resolved(tb, newEngine(tb), "(async () => {"+body+"\n})().then((value) => JSON.stringify(value))")
}

//go:embed testdata/cases.js
var cases string

//go:embed testdata/run.js
var runCases string

// outcome is a case's group, source and result.
type outcome [3]string

func outcomesOf(tb testing.TB, text string) []outcome {
	tb.Helper()
	var outcomes []outcome
	require.NoError(tb, json.Unmarshal([]byte(text), &outcomes), text)
	return outcomes
}

// Each case must have the same result in Node.js, which passes the tests of the web platform.
func TestSource_AsNode(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node, whose results the globals are compared with, is not installed")
	}
	all := strings.TrimSpace(runCases) + "(" + strings.TrimSpace(cases) + ")"
	command := exec.CommandContext(t.Context(), node, "--no-warnings", "-")
	command.Stdin = strings.NewReader(all + ".then((text) => console.log(text))")
	printed, err := command.Output()
	require.NoError(t, err)
	want, got := outcomesOf(t, string(printed)), outcomesOf(t, resolved(t, newEngine(t), all))
	require.Len(t, got, len(want))
	for i := range want {
		if want[i] != got[i] {
			t.Errorf("%s\n  %s\n  here %s\n  node %s", want[i][0], want[i][1], got[i][2], want[i][2])
		}
	}
	t.Log(len(want), "cases")
}
