package script_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/script"
)

// A script that awaits nothing itself returns what it returns at once, and what that is to become is waited for all
// the same.
func TestRun_WaitsForWhatIsReturned(t *testing.T) {
	t.Parallel()
	s := newStage(t, script.Options{})
	for source, want := range map[string]string{
		"return Promise.resolve(1)":                                                      `1`,
		"return new Promise((done) => setTimeout(() => done({a: 1}), 5))":                `{"a":1}`,
		"return { then(done) { done(2) } }":                                              `2`,
		"return { then: 3 }":                                                             `{"then":3}`,
		"const f = async () => { await null; return 4 }; return f()":                     `4`,
		"return this.getChannel({}).catch((e) => e.operation ?? 5)":                      s.returns("try { return await this.getChannel({}) } catch (e) { return e.operation }"),
		"return (async () => { for (const x of [6]) { await x; return x } })()":          `6`,
		"class A { static async m() { return await 7 } } return A.m()":                   `7`,
		"let n = 0; Promise.resolve().then(() => { n = 8 }); return { toJSON: () => n }": `8`,
		"return this.then": `null`,
	} {
		require.JSONEq(t, want, s.returns(source), source)
	}
}

func TestRun_FailsByWhatIsReturned(t *testing.T) {
	t.Parallel()
	s := newStage(t, script.Options{})
	for source, want := range map[string]string{
		"\nthrow new RangeError('a')":                      "test.js:2:11: internal: RangeError: a",
		"\nreturn Promise.reject(new Error('b'))":          "test.js:2:27: internal: Error: b",
		"\nreturn { get then() { throw new Error('c') } }": "internal: Error: c",
		"\nreturn { then(_, no) { no(new Error('d')) } }":  "internal: Error: d",
		"\nawait null\nreturn 2n ** 64n":                   "test.js: invalid argument: result: ",
		"await 1; this.member.meta = []":                   "test.js: invalid argument: member.meta: ",
		"\nreturn (async () => {\nthrow 'e' })()":          "test.js: internal: the script threw e",
		"return new Promise(() => {})":                     "failed precondition",
	} {
		_, err := s.compile(source).Run(t.Context(), s.ada.Context())
		require.ErrorContains(t, err, want, source)
	}
}
