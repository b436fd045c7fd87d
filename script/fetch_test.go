package script_test

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/web"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/member"
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

// echoing responds with the request as JSON.
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

func TestFetch_Redirected(t *testing.T) {
	t.Parallel()
	var to string
	s := newStage(t, script.Options{Fetch: func(context.Context, *botctx.Context, outbound.Request) (*outbound.Response, error) {
		return &outbound.Response{URL: to, Status: http.StatusOK}, nil
	}})
	const source = "const r = await fetch('https://here.example/'); return [r.url, r.redirected]"
	require.JSONEq(t, `["https://here.example/",false]`, s.returns(source))
	to = "https://there.example/"
	require.JSONEq(t, `["https://there.example/",true]`, s.returns(source))
}

// As in Node.js, the characters of headers are bytes.
func TestFetch_HeadersAreBytes(t *testing.T) {
	t.Parallel()
	var sent string
	s := newStage(t, script.Options{Fetch: func(_ context.Context, _ *botctx.Context, asked outbound.Request) (*outbound.Response, error) {
		sent = asked.Headers["x-name"]
		return &outbound.Response{Status: http.StatusOK, Header: http.Header{"Utf-8": {"\u6728"}, "Latin-1": {"caf\xe9"}}}, nil
	}})
	require.JSONEq(t, `["\u00e6\u009c\u00a8","caf\u00e9"]`, s.returns(`
		const r = await fetch('https://a.example', { headers: { 'X-Name': 'caf\u00e9' } })
		return [r.headers.get('utf-8'), r.headers.get('latin-1')]`))
	require.Equal(t, "caf\xe9", sent)
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
			select { // Each request waits until the other has started.
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

// Responses stay in memory until the script gets them.
func TestFetch_ResponsesThatWaitAreFew(t *testing.T) {
	t.Parallel()
	var sent atomic.Int64
	engine := newEngine(t, script.Options{
		Fetch: func(context.Context, *botctx.Context, outbound.Request) (*outbound.Response, error) {
			sent.Add(1)
			return &outbound.Response{Status: http.StatusOK}, nil
		},
	})
	program, err := engine.Compile("test.js", `
		const stop = new AbortController(), all = []
		for (let i = 0; i < 50; i++) all.push(fetch('https://a.example'), fetch('https://a.example', stop).catch(() => {}))
		await this.redirectMemberToNode({ memberId: this.member._id, nodeCompositeId: 'slow' })
		stop.abort()
		await Promise.all(all)`)
	require.NoError(t, err)
	synctest.Test(t, func(t *testing.T) {
		p := fakes.New(fakes.For(t))
		p.Handle(
			&botctx.Node{ID: "begin", Trigger: botctx.TextIs("go"), Pre: botctx.Do(program.Action())},
			&botctx.Node{ID: "slow", Pre: botctx.Do(func(context.Context, *botctx.Context) error {
				synctest.Wait()
				require.EqualValues(t, 16, sent.Load())
				return nil
			})},
		)
		p.AddMember(member.Member{}).Says("go")
	})
	require.Less(t, sent.Load(), int64(70), "requests that are aborted before they have a place are not sent")
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

// patchOf runs a script for a member with the given meta. It returns the patch that the run wrote back.
func patchOf(t *testing.T, meta document.Object, source string) string {
	t.Helper()
	s := newStage(t, script.Options{})
	ada := s.AddMember(member.Member{FirstName: "Ada", Meta: meta})
	before := ada.Member()
	s.HandleFunc(s.compile(source).Action())
	ada.Says("go")
	patch, err := members.WrittenBackOf(before).Changes(members.WrittenBackOf(ada.Member()))
	require.NoError(t, err)
	return patch.String()
}

func TestMember_OnlyWhatChangedIsWritten(t *testing.T) {
	t.Parallel()
	meta := document.O("a", document.O("b", int64(1), "c", 2.5), "list", document.A(1, document.A(2)), "at", time.UnixMilli(7), "n", 5.0)
	for source, want := range map[string]string{
		"this.member.meta.a.b = 1; this.member.meta.n = 5":                             "null",
		"this.member.meta.a.b++":                                                       `{"$set":{"meta.a.b":2}}`,
		"delete this.member.meta.a.c":                                                  `{"$unset":{"meta.a.c":""}}`,
		"this.member.meta.a.c = undefined":                                             `{"$unset":{"meta.a.c":""}}`,
		"this.member.meta.a.c = null":                                                  `{"$set":{"meta.a.c":null}}`,
		"this.member.meta.list[1].push('x')":                                           `{"$set":{"meta.list":[1,[2,"x"]]}}`,
		"this.member.meta.at.setTime(8)":                                               `{"$set":{"meta.at":"1970-01-01T00:00:00.008Z"}}`,
		"this.member.meta = {...this.member.meta, n: 6}":                               `{"$set":{"meta.n":6}}`,
		"Object.assign(this.member, {customLocale: 'de', group: 'g1', lastName: 'L'})": `{"$set":{"customLocale":"de","group":"g1"}}`,
		"this.member.botMeta.tempData = {}":                                            "null",
		"this.member.botMeta.tempData.x = 1":                                           `{"$set":{"botMeta.tempData.x":1}}`,
		"return {member: {...this.member, meta: {}}, ok: 1}":                           `{"$unset":{"meta.a":"","meta.list":"","meta.at":"","meta.n":""}}`,
		"return await this.findAndModifyMember({filter: {_id: this.member._id}, patch: {$set: {'meta.n': 9}}, option: {new: true}})": `{"$set":{"meta.n":9}}`,
		"return {member: null}": "null",
	} {
		require.Equal(t, want, patchOf(t, meta, source), source)
	}
}

func TestThis_ValuesGoOnToTheNextNode(t *testing.T) {
	t.Parallel()
	s := newStage(t, script.Options{})
	first, second := s.compile("this.cart = {lines: [1]}; this.help = () => 1"), s.compile(
		"this.cart.lines.push(typeof this.help); this.member.meta.cart = this.cart\n"+
			"this.member.meta.node = this.node.compositeId; this.member.meta.from = this.agendaMeta.from")
	s.Handle(
		&botctx.Node{ID: "cart", Trigger: botctx.AnyText(), Pre: botctx.Do(first.Action()), Redirect: s.compile(
			"return {nodeCompositeId: 'pay', meta: {from: 'cart'}}").Redirect().Among(botctx.Nodes("pay")...)},
		&botctx.Node{ID: "pay", Pre: botctx.Do(second.Action())},
	)
	s.ada.Says("go")
	require.JSONEq(t, `{"cart":{"lines":[1,"undefined"]},"node":"pay","from":"cart"}`, s.ada.Member().Meta.String())
}

func TestTrigger_MatchesWhatCountsAsTrue(t *testing.T) {
	t.Parallel()
	s := newStage(t, script.Options{})
	s.Handle(
		&botctx.Node{ID: "menu", Trigger: s.compile("return this.messageEvent.data.text.match(/^menu/i)").Trigger(), Responses: botctx.Say("Tea")},
		&botctx.Node{ID: "else", Trigger: botctx.AnyText(), Priority: botctx.FallbackPriority, Responses: botctx.Say("Pardon?")},
	)
	s.ada.Says("Menu please")
	require.Equal(t, "Tea", s.ada.Last())
	s.ada.Says("hm")
	require.Equal(t, "Pardon?", s.ada.Last())
}

func TestOperation_ErrorGoesOn(t *testing.T) {
	t.Parallel()
	p := fakes.New()
	engine := newEngine(t, script.Options{})
	program, err := engine.Compile("test.js", "await this.newAgenda({memberId: this.member._id})")
	require.NoError(t, err)
	_, err = program.Run(t.Context(), p.AddMember(member.Member{}).Context())
	require.ErrorIs(t, err, boterr.InvalidArgument)
	failed, ok := boterr.AsError(err)
	require.True(t, ok)
	require.Equal(t, "newAgenda", failed.Op)
}

func TestConsole_GoesToTheLog(t *testing.T) {
	t.Parallel()
	var lines bytes.Buffer
	s := newStage(t, script.Options{Console: slog.New(slog.NewTextHandler(&lines, &slog.HandlerOptions{
		ReplaceAttr: func(_ []string, attr slog.Attr) slog.Attr {
			if attr.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return attr
		},
	}))})
	s.returns("Promise.reject(1).catch(() => {}); console.log('hi', {a: [1]}, new Error('no'))\nconsole.warn(undefined)\nthis.getMember({memberId: 'x'})")
	require.Equal(t, `level=INFO msg="hi {\"a\":[1]} Error: no" script=test.js:1`+"\n"+
		`level=WARN msg=undefined script=test.js:2`+"\n"+
		`level=WARN msg="a script did not wait for what failed" script=test.js `+
		`error="test.js:3:6: getMember: not found: memberId: there is no member x here"`+"\n", lines.String())
}

// The results are the same as in Node.js, except that objects are shown as JSON.
func TestConsole_Placeholders(t *testing.T) {
	t.Parallel()
	var lines strings.Builder
	s := newStage(t, script.Options{Console: slog.New(slog.NewJSONHandler(&lines, nil))})
	for source, want := range map[string]string{
		`'%s is %d', 'Ada', 7`:             `Ada is 7`,
		`'%s %s', 'a'`:                     `a %s`,
		`'%s', 'a', 'b', { c: 1 }`:         `a b {\"c\":1}`,
		`'100% %s %x', 'sure'`:             `100% sure %x`,
		`'%d%% of %d%', 5, 9, 1`:           `5% of 9% 1`,
		`'5%%'`:                            `5%%`,
		`'%%', 1`:                          `% 1`,
		`'%s', 'a%sb', 'c'`:                `a%sb c`,
		`'%d %d %d %d', '1.5', 2n, {}, -0`: `1.5 2n NaN -0`,
		`'%i %i', '7.9px', Symbol()`:       `7 NaN`,
		`'%f', '1.50'`:                     `1.5`,
		`'%j %j', { a: [1] }, undefined`:   `{\"a\":[1]} undefined`,
		`'%o %O', 'a', { b: 1 }`:           `\"a\" {\"b\":1}`,
		`'%cred%c', 'color: red', ''`:      `red`,
		`'%s %s', null, undefined`:         `null undefined`,
		`'%s', { toString: () => 'own' }`:  `own`,
		`'%s %s', new Error('no'), [1, 2]`: `Error: no [1,2]`,
		`'%s', { toString() { throw 1 } }`: `a value that cannot be shown`,
		`new Error('a', { cause: 1 })`:     `Error: a, caused by 1`,
		`1, '%s', 2`:                       `1 %s 2`,
	} {
		lines.Reset()
		s.returns("console.log(" + source + ")")
		require.Contains(t, lines.String(), `"msg":"`+want+`"`, source)
	}
	lines.Reset()
	s.returns("console.assert(1 > 2, '%s!', 'no')")
	require.Contains(t, lines.String(), `"msg":"Assertion failed: no!"`)
}

func TestConsole_HiddenCharacters(t *testing.T) {
	t.Parallel()
	var lines strings.Builder
	s := newStage(t, script.Options{Console: slog.New(slog.NewJSONHandler(&lines, nil))})
	s.returns(`console.log('a\x1b[2J\u009b\u202eb', { c: '\u2066' })`)
	require.Contains(t, lines.String(), `a\\x1b[2J\\u009b\\u202eb {\"c\":\"\\u2066\"}`)
}

// runOutcomes is a JavaScript function that calls functions and returns their results as texts.
//
//go:embed testdata/outcomes.js
var runOutcomes string

// asNode compares the results of scripts with Node.js. Each source is a function body that returns a list of
// functions.
func asNode(t *testing.T, options script.Options, folder string, sources map[string]string) {
	t.Helper()
	want := byNode(t, folder, sources)
	s := newStage(t, options)
	for name, source := range sources {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program, err := s.engine.Compile(name, outcomesOf(source))
			require.NoError(t, err)
			value, err := program.Run(t.Context(), s.ada.Context())
			require.NoError(t, err)
			text, isText := value.(string)
			require.True(t, isText)
			var got []string
			require.NoError(t, json.Unmarshal([]byte(text), &got))
			require.Len(t, got, len(want[name]))
			require.NotEmpty(t, got)
			for i, one := range want[name] {
				if one.Result != got[i] {
					t.Errorf("%s\n  here %s\n  node %s", one.Source, got[i], one.Result)
				}
			}
		})
	}
}

// outcomesOf returns a script that calls a source's functions and returns the outcomes.
func outcomesOf(source string) string {
	return "return JSON.stringify(await (" + strings.TrimSpace(runOutcomes) + ")(await (async () => {" + source + "\n})()))"
}

// outcome is the text of a function with its result.
type outcome struct {
	Source string `json:"source"`
	Result string `json:"result"`
}

// nodeOutcomes is a script for Node.js that reads sources and prints the outcomes of each.
const nodeOutcomes = `
const { createRequire } = require('node:module')
const { folder, run, sources } = JSON.parse(require('node:fs').readFileSync(0))
const AsyncFunction = (async () => {}).constructor
const outcomesOf = async (source) => {
	for (const file in require.cache) delete require.cache[file] // Each source loads its modules anew.
	const functions = await new AsyncFunction('require', source)(createRequire(folder + '/script.js'))
	const results = await eval(run)(functions)
	return functions.map((one, i) => ({ source: String(one), result: results[i] }))
}
(async () => {
	const outcomes = {}
	for (const name in sources) outcomes[name] = await outcomesOf(sources[name])
	process.stdout.write(JSON.stringify(outcomes))
})()
`

// byNode returns the outcomes of sources in Node.js.
func byNode(t *testing.T, folder string, sources map[string]string) map[string][]outcome {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node, whose results those of scripts are compared with, is not installed")
	}
	folder, err = filepath.Abs(folder)
	require.NoError(t, err)
	input, err := json.Marshal(map[string]any{"folder": folder, "run": runOutcomes, "sources": sources})
	require.NoError(t, err)
	command := exec.CommandContext(t.Context(), node, "-e", nodeOutcomes)
	command.Env = append(os.Environ(), "NODE_ENV=production", "LC_ALL=en_US.UTF-8")
	command.Stdin = strings.NewReader(string(input))
	printed, err := command.Output()
	require.NoError(t, err)
	var outcomes map[string][]outcome
	require.NoError(t, json.Unmarshal(printed, &outcomes))
	return outcomes
}

func sourcesIn(t *testing.T, folder string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.js"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	sources := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		sources[strings.TrimSuffix(filepath.Base(file), ".js")] = string(text)
	}
	return sources
}

func TestLibraries_AsNode(t *testing.T) {
	t.Parallel()
	options := withPackages(t)
	sources := sourcesIn(t, "testdata/libraries")
	for name := range sources {
		if _, err := os.Stat(filepath.Join(npmFolder, "node_modules", name)); err != nil {
			t.Skipf("%s is not there: run npm ci --ignore-scripts in script/testdata/npm", name)
		}
	}
	options.MaxBusy, options.Console = 20*time.Second, slog.New(slog.DiscardHandler)
	asNode(t, options, npmFolder, sources)
}

func TestPatterns_AsNode(t *testing.T) {
	t.Parallel()
	asNode(t, script.Options{MaxBusy: 20 * time.Second}, "testdata", sourcesIn(t, "testdata/patterns"))
}
