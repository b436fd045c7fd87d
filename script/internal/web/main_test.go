package web_test

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/scripttest"
	"github.com/botctx/go-sdk/script/internal/quickjs"
	"github.com/botctx/go-sdk/script/internal/web"
)

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
