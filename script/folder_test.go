package script_test

import (
	"context"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/script"
)

func folder(files ...string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for i := 0; i < len(files); i += 2 {
		fsys[files[i]] = &fstest.MapFile{Data: []byte(files[i+1])}
	}
	return fsys
}

// onPlatform returns a platform that handles nodes, and Ada on it.
func onPlatform(t *testing.T, nodes ...*botctx.Node) (*fakes.Platform, *fakes.Actor) {
	t.Helper()
	p := fakes.New(fakes.For(t))
	p.Handle(nodes...)
	ada := p.AddMember(member.Member{FirstName: "Ada"})
	return p, ada
}

func TestLoad_ABotInAFolder(t *testing.T) {
	t.Parallel()
	nodes, err := script.Load(folder(
		"nodes.json", `{"nodes": [
			{
				"compositeId": "count", "trigger": "says.js", "preActions": ["count.js", "lib/more.js"],
				"responses": [{"type": "TEXT", "text": "{{meta.count}}"}], "postActions": "forget.js",
				"redirect": {"script": "next.js", "among": ["odd", "even"]}
			},
			{"compositeId": "odd", "responses": [{"type": "TEXT", "text": "odd"}]},
			{"compositeId": "even", "responses": [{"type": "TEXT", "text": "even"}]}
		]}`,
		"says.js", `return this.messageEvent.data.text === "count";`,
		"count.js", `this.step = require("./lib/step.js").step;`,
		"lib/step.js", `exports.step = 1;`,
		"lib/more.js", `this.member.meta.count = (this.member.meta.count ?? 0) + this.step;`,
		"forget.js", `delete this.step;`,
		"next.js", `return this.member.meta.count % 2 ? "odd" : "even";`,
	), onAnyMachine(script.Options{}))
	require.NoError(t, err)
	_, ada := onPlatform(t, nodes...)
	ada.Says("count")
	ada.Says("count")
	require.Equal(t, []string{"1", "odd", "2", "even"}, texts(ada))
}

// texts returns the texts that a member received.
func texts(actor *fakes.Actor) []string {
	var all []string
	for _, message := range actor.Messages() {
		all = append(all, message.Text())
	}
	return all
}

// Nodes with scripts and nodes in Go can redirect to each other.
func TestLoad_BesideNodesInGo(t *testing.T) {
	t.Parallel()
	inGo := []*botctx.Node{
		{ID: "menu", Trigger: botctx.TextIs("menu"), SavesPosition: true, Responses: botctx.Say("Tea?"), Redirect: botctx.To("tip")},
		{ID: "thanks", Pre: botctx.Do(func(_ context.Context, bot *botctx.Context) error {
			bot.Member.Meta.Set("by", bot.Values["by"])
			return nil
		}), Responses: botctx.Say("Thanks, {{meta.by}}.")},
	}
	files := folder("shop/nodes.json", `{"nodes": [
		{"compositeId": "tip", "responses": [{"type": "TEXT", "text": "Say yes."}]},
		{"compositeId": "yes", "parent": "menu", "trigger": {"text": "yes"}, "preActions": "yes.js", "redirect": "thanks"}
	]}`, "shop/yes.js", `this.by = this.member.firstName;`)
	_, err := script.Load(files, onAnyMachine(script.Options{}))
	require.ErrorContains(t, err, `has no node menu, which is the parent of yes`)
	nodes, err := script.Load(files, onAnyMachine(script.Options{}), inGo...)
	require.NoError(t, err)
	require.Len(t, nodes, 2, "those in Go are the host's to handle")
	_, ada := onPlatform(t, append(inGo, nodes...)...)
	ada.Says("menu")
	ada.Says("yes")
	require.Equal(t, []string{"Tea?", "Say yes.", "Thanks, Ada."}, texts(ada))
}

// Load reports all errors of a folder at once, each with its file, place and field.
func TestLoad_TellsAllThatIsWrong(t *testing.T) {
	t.Parallel()
	_, err := script.Load(folder(
		"nodes.json", `{"nodes": [
  {"compositeId": "a", "colour": "red", "preActions": ["gone.js", "clain.js", "broken.js"]},
  {"compositeId": "a"},
  {"compositeId": "b", "parent": "nobody", "redirect": "nowhere", "schedules": ["never"]},
  {"compositeId": "c", "redirect": {"script": "coupon/claim.js", "among": ["a", "z"]}, "responses": [{"type": "TEXT"}]}
]}`,
		"coupon/claim.js", `return "a";`,
		"broken.js", "const a = 1;\nreturn a +;",
	), onAnyMachine(script.Options{}))
	failed, ok := err.(*script.FolderError) //nolint:errorlint // Load returns it unwrapped.
	require.True(t, ok, "%v", err)
	require.ErrorIs(t, err, boterr.InvalidArgument)
	require.Equal(t, strings.Join([]string{
		"10 problems:",
		`broken.js:2:11: invalid argument: unexpected token in expression: ';'`,
		`nodes.json:2:24: invalid argument: nodes[0].colour: is no field: there are compositeId, description, entry, global, parent, ` +
			`postActions, preActions, priority, redirect, responses, savesPosition, schedules, tree, trigger`,
		`nodes.json:2:56: invalid argument: nodes[0].preActions[0]: "gone.js" is not there: write the script, or take its name out`,
		`nodes.json:2:67: invalid argument: nodes[0].preActions[1]: "clain.js" is not there: did you mean "coupon/claim.js"?`,
		`nodes.json:3:19: invalid argument: nodes[1].compositeId: there is a node a already: give each node of a tree a different ID`,
		`nodes.json:4:34: invalid argument: nodes[2].parent: the tree "" has no node nobody, which is the parent of b: ` +
			`pass the parent to Handle first, or in the same call`,
		`nodes.json:4:56: invalid argument: nodes[2].redirect: the node b redirects to nowhere, but there is no node nowhere: ` +
			`check the id, or give the node to Handle`,
		`nodes.json:4:80: invalid argument: nodes[2].schedules: the node b schedules never, but there is no node never: ` +
			`check the id, or give the node to Handle`,
		`nodes.json:5:36: invalid argument: nodes[3].redirect: the node c redirects to z, but there is no node z: ` +
			`check the id, or give the node to Handle: did you mean "a"?`,
		`nodes.json:5:102: invalid argument: nodes[3].responses[0].text: is missing; give a string`,
	}, "\n  "), failed.Error())
}

// The suggested name is relative to nodes.json, so that users can paste it.
func TestLoad_SuggestsAScriptByItsNameInTheFolderOfTheNodes(t *testing.T) {
	t.Parallel()
	for written, want := range map[string]string{
		"clain.js":      `"clain.js" is not there: did you mean "claim.js"?`,
		"shop/claim.js": `"shop/claim.js" is not there: did you mean "claim.js"?`,
		"greet.js":      `"greet.js" is not there: did you mean "../common/greet.js"?`,
	} {
		_, err := script.Load(folder(
			"shop/nodes.json", `{"nodes": [{"compositeId": "a", "preActions": "`+written+`", "entry": true}]}`,
			"shop/claim.js", "", "common/greet.js", "",
		), onAnyMachine(script.Options{}))
		require.ErrorContains(t, err, want)
	}
}

func TestLoad_NoFolder(t *testing.T) {
	t.Parallel()
	const want = "is missing; give the folder of the bot"
	_, err := script.Load(nil, onAnyMachine(script.Options{}))
	require.ErrorIs(t, err, boterr.InvalidArgument)
	require.ErrorContains(t, err, want)
	_, _, err = script.Watch(nil, onAnyMachine(script.Options{})).Look()
	require.ErrorIs(t, err, boterr.InvalidArgument)
	require.ErrorContains(t, err, want)
}

func TestLoad_OptionsThatAreNone(t *testing.T) {
	t.Parallel()
	_, err := script.Load(folder("nodes.json", `{"nodes": []}`), script.Options{MaxCalls: -1})
	require.ErrorIs(t, err, boterr.InvalidArgument)
}

// The error of a run names the node, the script and the line.
func TestLoad_ErrorsNameScriptAndLine(t *testing.T) {
	t.Parallel()
	nodes, err := script.Load(folder(
		"shop/nodes.json", `{"nodes": [{"compositeId": "a", "trigger": {"any": "text"}, "preActions": "fail.js"}]}`,
		"shop/fail.js", "const order = undefined;\n\nthis.member.meta.size = order.size;",
	), onAnyMachine(script.Options{}))
	require.NoError(t, err)
	_, ada := onPlatform(t, nodes...)
	err = ada.TrySays("hi")
	require.ErrorContains(t, err, "node a")
	require.ErrorContains(t, err, "shop/fail.js:3:")
}

func TestWatch_LoadsAgainWhatHasChanged(t *testing.T) {
	t.Parallel()
	files := folder("nodes.json", `{"nodes": [{"compositeId": "a", "trigger": {"any": "text"}, "preActions": "say.js"}]}`)
	write := func(name, text string, at int64) {
		files[name] = &fstest.MapFile{Data: []byte(text), ModTime: time.Unix(at, 0)}
	}
	says := func(text string) string {
		return `await this.sendResponse({response: {type: "TEXT", text: "` + text + `"}})`
	}
	write("say.js", says("one"), 1)
	var log strings.Builder
	options := onAnyMachine(script.Options{Console: slog.New(slog.NewTextHandler(&log, nil))})
	watcher := script.Watch(files, options)
	p, ada := onPlatform(t)
	look := func() { // Run does this at each tick.
		t.Helper()
		ticks := make(chan time.Time, 1)
		ticks <- time.Time{}
		close(ticks)
		watcher.Run(t.Context(), ticks, p.Runtime().Replace)
	}
	look()
	ada.Says("hi")
	require.Equal(t, "one", ada.Last())

	write("say.js", says("two"), 2)
	look()
	ada.Says("hi")
	require.Equal(t, "two", ada.Last())

	write("say.js", "return a +;", 3)
	look()
	ada.Says("hi")
	require.Equal(t, "two", ada.Last(), "a change that is broken leaves the bot as it was")
	require.Contains(t, log.String(), "say.js:1:11")
	broken := log.Len()
	look()
	require.Equal(t, broken, log.Len(), "it is told once")

	write("say.js", says("three"), 4)
	look()
	ada.Says("hi")
	require.Equal(t, "three", ada.Last())
	_, hasChanged, err := watcher.Look()
	require.NoError(t, err)
	require.False(t, hasChanged)
}

// unreadable is a folder that cannot be listed.
type unreadable struct{ fs.FS }

func (unreadable) Open(string) (fs.File, error) { return nil, fs.ErrPermission }

func TestWatcher_SaysOnceThatAFolderCannotBeRead(t *testing.T) {
	t.Parallel()
	watcher := script.Watch(unreadable{}, script.Options{})
	_, hasChanged, err := watcher.Look()
	require.ErrorIs(t, err, fs.ErrPermission)
	require.True(t, hasChanged)
	_, hasChanged, err = watcher.Look()
	require.Error(t, err)
	require.False(t, hasChanged)
}

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

// npmFolder is the folder of the packages of testdata/npm.
const npmFolder = "testdata/npm"

// withPackages skips the test unless npm has installed moment and lodash.
func withPackages(tb testing.TB) script.Options {
	tb.Helper()
	if _, err := os.Stat(npmFolder + "/node_modules/moment/moment.js"); err != nil {
		tb.Skip("moment and lodash are not there: run npm ci --ignore-scripts in script/testdata/npm")
	}
	return script.Options{Modules: os.DirFS(npmFolder)}
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
