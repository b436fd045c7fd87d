package script_test

import (
	"os"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/script"
)

func TestRequire_FilesAndPackages(t *testing.T) {
	t.Parallel()
	s := newStage(t, script.Options{Modules: os.DirFS("testdata/modules")})
	require.JSONEq(t, `["€2.40 #1","Hello Ada",true]`, s.returns(
		"const { price } = require('./lib/price'); const Greeting = require('greeting')\n"+
			"return [price(2), `${new Greeting('Ada')}`, require('./lib/price.js').price === price]"))
	require.JSONEq(t, `"€1.20 #1"`, s.returns("return require('./lib/price').price(1)"), "each run has modules of its own")
}

func TestRequire_ErrorsNameTheModule(t *testing.T) {
	t.Parallel()
	s := newStage(t, script.Options{Modules: fstest.MapFS{
		"throws.js": {Data: []byte("exports.fail = () => {\n  throw new RangeError('out of tea') }")},
		"broken.js": {Data: []byte("let a = 1\nlet b = (;")},
	}})
	for source, want := range map[string]string{
		"require('./throws').fail()": "throws.js:2:13: internal: RangeError: out of tea",
		"require('./broken')":        "broken.js:2:10",
		"require('./nowhere')":       `test.js:1:1: not found: there is no module "./nowhere"`,
		"require('../../etc/x')":     "test.js:1:1: not found",
		"this.moment()":              `not found: there is no module "moment"`,
	} {
		_, err := s.compile(source).Run(t.Context(), s.ada.Context())
		require.ErrorContains(t, err, want)
	}
}

func TestRequire_ModulesThatRequireEachOther(t *testing.T) {
	t.Parallel()
	s := newStage(t, script.Options{Modules: fstest.MapFS{
		"a.js": {Data: []byte("exports.name = 'a'; exports.b = require('./b').name")},
		"b.js": {Data: []byte("exports.name = require('./a').name + 'b'")},
	}})
	require.JSONEq(t, `"ab"`, s.returns("return require('./a').b"))
}

// npmFolder is where npm puts the packages of testdata/npm.
const npmFolder = "testdata/npm"

// withPackages skips where npm has not put moment and lodash beside the tests.
func withPackages(tb testing.TB) script.Options {
	tb.Helper()
	if _, err := os.Stat(npmFolder + "/node_modules/moment/moment.js"); err != nil {
		tb.Skip("moment and lodash are not there: run npm ci --ignore-scripts in script/testdata/npm")
	}
	return script.Options{Modules: os.DirFS(npmFolder), MaxBusy: 2 * time.Second}
}

func TestModules_MomentAndLodash(t *testing.T) {
	t.Parallel()
	s := newStage(t, withPackages(t))
	require.JSONEq(t, `["2026-01-02","in a day",7,{"a":[1,3]},["Ada","Bob"],"fred, barney, & pebbles"]`, s.returns(`
		const { moment, lodash } = this
		const tomorrow = moment.utc().add(1, 'day')
		this.member.meta.at = tomorrow
		return [
			tomorrow.format('YYYY-MM-DD'), tomorrow.fromNow(), lodash.get({ a: [{ b: 7 }] }, 'a[0].b', 0),
			lodash.merge({ a: [1, 2] }, { a: [1, 3] }), lodash.sortBy(['Bob', 'Ada']),
			require('lodash/join')(['fred', 'barney', '& pebbles'], ', '),
		]`))
}

func TestHelpers_AreEachRunsOwn(t *testing.T) {
	t.Parallel()
	s := newStage(t, script.Options{
		Modules: fstest.MapFS{"node_modules/moment/index.js": {Data: []byte(
			"let n = 0; module.exports = () => ++n; module.exports.loaded = Date.now()")}},
	})
	for range 20 {
		require.JSONEq(t, "[1,2]", s.returns("return [this.moment(), this.moment()]"))
	}
}
