package locale_test

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/internal/scripttest"
	"github.com/botctx/go-sdk/script/internal/locale"
	"github.com/botctx/go-sdk/script/internal/quickjs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const boot = `(() => {
	const say = host
	return {
		ask(name, value) {
			const { result, error, code } = JSON.parse(say(JSON.stringify({ name, value })))
			if (error !== undefined) throw Object.assign(new Error(error), { code })
			return result
		},
	}
})()`

func newEngine(tb testing.TB, zone *time.Location) *quickjs.Instance {
	tb.Helper()
	machine, err := quickjs.Open(scripttest.CacheDir())
	require.NoError(tb, err)
	run := quickjs.Run{Busy: time.Hour, Zone: zone, Host: answering(locale.Functions())}
	engine, err := machine.New(tb.Context(), run, 64<<20)
	require.NoError(tb, err)
	tb.Cleanup(engine.Close)
	_, err = engine.Eval("locale.js", locale.Source+"("+boot+")")
	require.NoError(tb, err)
	return engine
}

func answering(functions map[string]locale.Function) func(string) (string, error) {
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

// eval returns a script's last value as a text.
func eval(tb testing.TB, engine *quickjs.Instance, source string) string {
	tb.Helper()
	value, err := engine.Eval("test.js", source)
	require.NoError(tb, err, source)
	text, err := engine.Text(value)
	require.NoError(tb, err)
	return text
}

// icu is the version of ICU in node that the package's data follows.
const icu = "78."

// byNode returns the result of a script in Node.js with the given time zone.
func byNode(t *testing.T, source, zone string) string {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node, whose results the methods are compared with, is not installed")
	}
	if version, err := exec.CommandContext(t.Context(), node, "-p", "process.versions.icu").Output(); err != nil || !strings.HasPrefix(string(version), icu) {
		t.Skipf("node has the version %s of ICU, and the order here is that of version %s (%v)", version, icu, err)
	}
	command := exec.CommandContext(t.Context(), node, "-")
	command.Env = append(os.Environ(), "TZ="+zone, "LC_ALL=en_US.UTF-8")
	command.Stdin = strings.NewReader("process.stdout.write(" + source + ")")
	printed, err := command.Output()
	require.NoError(t, err)
	return string(printed)
}

//go:embed testdata/cases.js
var cases string

// Each case has the same result as in Node.js, or is refused.
func TestSource_AsNode(t *testing.T) {
	t.Parallel()
	rounds.OnlyThorough(t)
	const zone = "Asia/Taipei"
	location, err := time.LoadLocation(zone)
	require.NoError(t, err)
	var want, got [][3]string
	require.NoError(t, json.Unmarshal([]byte(byNode(t, strings.TrimSpace(cases), zone)), &want))
	require.NoError(t, json.Unmarshal([]byte(eval(t, newEngine(t, location), cases)), &got))
	require.Len(t, got, len(want))
	all, refused := map[string]int{}, map[string]int{}
	for i := range want {
		group, source, result := got[i][0], got[i][1], got[i][2]
		all[group]++
		if result == "Unsupported" {
			refused[group]++
		} else if want[i] != got[i] {
			t.Errorf("%s: %s\n  here %s\n  node %s", group, source, result, want[i][2])
		}
	}
	for group, count := range refused {
		require.Less(t, count, all[group]/10, "%s: refused of %d", group, all[group])
	}
	t.Log(len(want), "cases, refused", refused)
}

// order is a script that sorts the characters of list. It returns the sorted list and, for each pair of
// neighbours, the level of their first difference and the sign of their comparison.
const order = `(() => {
	const levels = ['base', 'accent', 'variant'].map((sensitivity) => (a, b) => a.localeCompare(b, 'en', { sensitivity }))
	const between = (a, b) => levels.findIndex((compare) => compare(a, b) !== 0)
	const sorted = globalThis.Intl ? list.sort(new Intl.Collator('en').compare) : list
	return JSON.stringify([sorted, sorted.map((one, i) => i === 0 ? '' : [between(sorted[i - 1], one), Math.sign(sorted[i - 1].localeCompare(one))])])
})()`

// Node.js orders all supported characters in the same way, at all levels.
func TestSource_OrdersAllCharacters(t *testing.T) {
	t.Parallel()
	var list []string
	all := locale.Characters()
	step := max(1, len(all)/rounds.Of(t, 5_000, len(all)))
	for i := 0; i < len(all); i += step {
		list = append(list, string(all[i]))
	}
	listed := func(list []string) string {
		text, err := json.Marshal(list)
		require.NoError(t, err)
		return strings.Replace(order, "(() => {", "(() => { const list = "+string(text), 1)
	}
	want := byNode(t, listed(list), "UTC")
	var sorted []json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(want), &sorted))
	var inOrder []string
	require.NoError(t, json.Unmarshal(sorted[0], &inOrder))
	got := eval(t, newEngine(t, time.UTC), listed(inOrder))
	compareOrders(t, want, got)
}

// compareOrders reports the differences between two results of order.
func compareOrders(t *testing.T, want, got string) {
	t.Helper()
	var here, node []json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(got), &here))
	require.NoError(t, json.Unmarshal([]byte(want), &node))
	var list []string
	var levelsHere, levelsNode []json.RawMessage
	require.NoError(t, json.Unmarshal(node[0], &list))
	require.NoError(t, json.Unmarshal(here[1], &levelsHere))
	require.NoError(t, json.Unmarshal(node[1], &levelsNode))
	require.Len(t, levelsHere, len(levelsNode))
	for i := range list {
		if i > 0 && string(levelsHere[i]) != string(levelsNode[i]) {
			t.Errorf("%+q before %+q: here %s, node %s", list[i-1], list[i], levelsHere[i], levelsNode[i])
		}
	}
}

// An unsupported option is an error with a code and a remedy.
func TestSource_Refuses(t *testing.T) {
	t.Parallel()
	engine := newEngine(t, time.UTC)
	for source, message := range map[string]string{
		"new Date(0).toLocaleDateString('de-DE')":                        "the locale de-de is not supported: use moment: this.moment(date).format(...)",
		"new Date(0).toLocaleString('en-US', {timeZone: 'Asia/Taipei'})": "the option timeZone is not supported: use moment",
		"(1).toLocaleString('sv')":                                       "the locale sv",
		"(1).toLocaleString('en-u-nu-arab')":                             "the locale en-u-nu-arab",
		"(1).toLocaleString('en', {notation: 'compact'})":                "the option notation compact",
		"(1).toLocaleString('en', {style: 'unit', unit: 'liter'})":       "the option unit liter",
		"(1).toLocaleString('en', {style: 'currency', currency: 'AUD'})": "the currency AUD",
		"'a'.localeCompare('b', 'zh')":                                   "the locale zh",
		"'a'.localeCompare('b', 'en', {ignorePunctuation: true})":        "the option ignorePunctuation true",
		"'a'.localeCompare('b', 'en', {sensitivity: 'case'})":            "the sensitivity case",
		"'a'.localeCompare('b', 'en', {caseFirst: 'upper'})":             "the option caseFirst upper",
		`'a'.localeCompare('\u{20000}')`:                                 "U+20000",
		`'a'.localeCompare('\ud800')`:                                    "half of a surrogate pair",
		"'a'.localeCompare('b'.repeat(100001))":                          "at most 100000 bytes",
		"'\\u0661'.localeCompare('1', 'en', {numeric: true})":            "with numeric cannot order the digit",
		"'i'.toLocaleUpperCase('lt')":                                    "the locale lt",
		"'i'.toLocaleUpperCase('el')":                                    "the locale el",
	} {
		got := eval(t, engine, "try { "+source+" } catch (error) { `${error.code} ${error.message}` }")
		require.True(t, strings.HasPrefix(got, "Unsupported ") && strings.Contains(got, message), "%s: %s", source, got)
	}
	require.Equal(t, "ReferenceError: Intl is not defined", eval(t, engine, "try { Intl } catch (error) { String(error) }"))
}

// BenchmarkSort sorts a list, which calls the host once for each text.
func BenchmarkSort(b *testing.B) {
	engine := newEngine(b, time.UTC)
	for b.Loop() {
		eval(b, engine, "Array.from({length: 1000}, (_, i) => 'name ' + (i * 7919 % 1000)).sort((a, b) => a.localeCompare(b)); 1")
	}
}
