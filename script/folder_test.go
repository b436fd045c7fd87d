package script_test

import (
	"context"
	"fmt"
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
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/script"
	"github.com/botctx/go-sdk/send"
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

func TestLoad_Fields(t *testing.T) {
	t.Parallel()
	others := []*botctx.Node{{ID: "reminder", Tree: "shop"}, {ID: "late", Tree: "night"}, {ID: "top", Tree: "shop"}}
	nodes, err := script.Load(folder("nodes.json", `{
		"tree": "shop",
		"nodes": [
			{
				"compositeId": "coupon", "parent": "top", "priority": -3, "global": "tree", "savesPosition": true,
				"trigger": "coupon/is-asked-for.js", "preActions": ["coupon/claim.js", "log.js"], "postActions": "log.js",
				"responses": [{"type": "TEXT", "text": "Hello {{firstName}}"}],
				"redirect": {"nodeCompositeId": "menu", "redirectOptions": {"sendResponse": false}, "meta": {"from": "coupon"}},
				"schedules": ["reminder", {"compositeId": "late", "tree": "night"}], "entry": true
			},
			{"compositeId": "menu", "redirect": {"script": "log.js", "among": ["coupon"]}},
			{"compositeId": "plain", "tree": ""}
		]
	}`, "coupon/is-asked-for.js", "", "coupon/claim.js", "", "log.js", ""), onAnyMachine(script.Options{}), others...)
	require.NoError(t, err)
	require.Len(t, nodes, 3)
	coupon, menu := *nodes[0], nodes[1]
	require.Equal(t, "coupon/is-asked-for.js", coupon.Trigger.String())
	require.Len(t, coupon.Pre, 2)
	require.Len(t, coupon.Post, 1)
	coupon.Trigger, coupon.Pre, coupon.Post = nil, nil, nil
	require.Equal(t, botctx.Node{
		ID: "coupon", Tree: "shop", Parent: "top", Priority: -3, Global: botctx.GlobalInTree, SavesPosition: true, Entry: true,
		Responses: []send.Response{send.Template("Hello {{firstName}}")},
		Redirect: botctx.Redirect{
			NodeCompositeID: "menu", Meta: document.O("from", "coupon"), Options: botctx.RedirectOptions{SendResponse: new(false)},
		}.Always(),
		Schedules: []botctx.NodeRef{{CompositeID: "reminder"}, {CompositeID: "late", Tree: "night"}},
	}, coupon)
	among, _ := menu.Redirect.Targets()
	require.Equal(t, botctx.Nodes("coupon"), among)
	require.Empty(t, nodes[2].Tree, "a node may be of another tree than its file")
}

func TestLoad_Triggers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"text": "menu"}`:                      `text is "menu"`,
		`{"text": ["menu", "start"]}`:           `text is "menu" or "start"`,
		`{"payload": "ORDER"}`:                  `payload is "ORDER"`,
		`{"matches": "(?i)^order \\d+"}`:        `text matches (?i)^order \d+`,
		`{"any": "text"}`:                       `any text`,
		`{"any": "event"}`:                      `any event`,
		`{"text": "menu", "payload": ["MENU"]}`: `text is "menu" or payload is "MENU"`,
	} {
		nodes, err := script.Load(folder("nodes.json", `{"nodes": [{"compositeId": "a", "trigger": `+text+`}]}`), onAnyMachine(script.Options{}))
		require.NoError(t, err, text)
		require.Equal(t, want, nodes[0].Trigger.String())
	}
}

func TestLoad_FilesOfAllFolders(t *testing.T) {
	t.Parallel()
	one := func(id string) string { return `{"nodes": [{"compositeId": "` + id + `", "trigger": "act.js"}]}` }
	nodes, err := script.Load(folder(
		"night/nodes.json", one("night"), "nodes.json", one("top"), "day/late/nodes.json", one("late"), "day/nodes.json", one("day"),
		"night/act.js", "", "act.js", "", "day/late/act.js", "", "day/act.js", "",
		"node_modules/moment/nodes.json", "no JSON", ".git/nodes.json", "no JSON", "day/other.json", "no JSON",
	), onAnyMachine(script.Options{}))
	require.NoError(t, err)
	var files []string
	for _, node := range nodes {
		files = append(files, node.ID+" "+node.Trigger.String())
	}
	require.Equal(t, []string{"top act.js", "day day/act.js", "late day/late/act.js", "night night/act.js"}, files)
}

// Load reports all problems at once, each with its place, its field and a remedy.
func TestLoad_Problems(t *testing.T) {
	t.Parallel()
	_, err := script.Load(folder("shop/r.js", "", "shop/nodes.json", `{
  "tre": "shop",
  "nodes": [
    {"compositeId": 7, "priorty": 1, "colour": "red"},
    {"compositeId": "a", "priority": 1.5, "global": "world", "savesPosition": "yes", "compositeId": "b"},
    {"responses": [{"type": "TEXT"}, "Hello", {"type": "BUTTON", "text": "Go", "buttons": [{"type": "postback", "title": "This title is far too long", "payload": "x"}]}]},
    {"compositeId": "c", "preActions": ["claim", "../../secret.js", "/etc/x.js", null], "trigger": {"text": [], "matches": "("}},
    {"compositeId": "d", "redirect": {"treeId": "x"}, "trigger": {}},
    {"compositeId": "e", "redirect": {"nodeCompositeId": "a", "script": "r.js", "redirectOptions": {"sendResponse": 1, "x": 2}, "meta": []}},
    {"compositeId": "f", "redirect": {"nodeCompositeId": "a", "among": ["b"]}, "trigger": {"any": "thing"}, "schedules": "g"},
    {"compositeId": "h", "redirect": {"script": "r.js", "treeId": "night"}},
    {"compositeId": "i", "redirect": {"script": "r.js", "redirectOptions": {"sendResponse": false}}},
    {"compositeId": "j", "redirect": {"script": "r.js", "meta": {"from": "j"}}},
    {"compositeId": "k", "redirect": {"script": "r.js", "among": []}},
    "node"
  ]
}`), onAnyMachine(script.Options{}))
	failed, ok := err.(*script.FolderError) //nolint:errorlint // Load returns it unwrapped.
	require.True(t, ok, "%v", err)
	told := make([]string, len(failed.Problems))
	for i, problem := range failed.Problems {
		told[i] = strings.TrimPrefix(problem.Error(), "shop/nodes.json:")
	}
	require.Equal(t, []string{
		`2:3: invalid argument: tre: is no field: did you mean "tree"?`,
		`4:21: invalid argument: nodes[0].compositeId: must be a text, got a number`,
		`4:24: invalid argument: nodes[0].priorty: is no field: did you mean "priority"?`,
		`4:38: invalid argument: nodes[0].colour: is no field: there are compositeId, description, entry, global, parent, postActions, preActions, priority, redirect, responses, savesPosition, schedules, tree, trigger`,
		`5:38: invalid argument: nodes[1].priority: must be a whole number, got 1.5`,
		`5:53: invalid argument: nodes[1].global: must be "tree" or "channel", where the node answers wherever the conversation stands, got "world"`,
		`5:79: invalid argument: nodes[1].savesPosition: must be true or false, got a text`,
		`5:86: invalid argument: nodes[1].compositeId: is there twice: keep one`,
		`6:5: invalid argument: nodes[2].compositeId: is missing; give every node an id, by which others name it`,
		`6:20: invalid argument: nodes[2].responses[0].text: is missing; give a string`,
		`6:38: invalid argument: nodes[2].responses[1]: must be an object such as {"type": "TEXT", "text": "Hello {{firstName}}"}, got a text`,
		`6:47: invalid argument: nodes[2].responses[2].buttons[0].title: is 26 characters long; the limit is 20`,
		`7:41: invalid argument: nodes[3].preActions[0]: must be the file of a script, whose name ends in .js, got "claim"`,
		`7:50: invalid argument: nodes[3].preActions[1]: "../../secret.js" is not in the folder of the bot: name it from where shop/nodes.json stands`,
		`7:69: invalid argument: nodes[3].preActions[2]: "/etc/x.js" is not in the folder of the bot: name it from where shop/nodes.json stands`,
		`7:82: invalid argument: nodes[3].preActions[3]: must be a text, got null`,
		`7:109: invalid argument: nodes[3].trigger.text: is empty: give a text, or several`,
		"7:124: invalid argument: nodes[3].trigger.matches: is no pattern of Go's package regexp: error parsing regexp: missing closing ): `(`; a script can use those of JavaScript",
		`8:38: invalid argument: nodes[4].redirect: leads nowhere: give a nodeCompositeId, or the file of a script that decides as script`,
		`8:66: invalid argument: nodes[4].trigger: is empty: say what matches, as text, matches, payload or any, or leave the trigger out`,
		`9:38: invalid argument: nodes[5].redirect: has a nodeCompositeId and a script: give one of them`,
		`9:117: invalid argument: nodes[5].redirect.redirectOptions.sendResponse: must be true or false, got a number`,
		`9:120: invalid argument: nodes[5].redirect.redirectOptions.x: is no field: there are runPostAction, runPreAction, sendResponse`,
		`9:137: invalid argument: nodes[5].redirect.meta: must be an object, got an array`,
		`10:38: invalid argument: nodes[6].redirect: has nodes among which a script chooses, and no script: give it, or remove among`,
		`10:99: invalid argument: nodes[6].trigger.any: must be "text" or "event", got "thing"`,
		`10:122: invalid argument: nodes[6].schedules: must be an array, got a text`,
		`11:38: invalid argument: nodes[7].redirect: has a script and treeId, redirectOptions or meta: the script returns them with the id`,
		`12:38: invalid argument: nodes[8].redirect: has a script and treeId, redirectOptions or meta: the script returns them with the id`,
		`13:38: invalid argument: nodes[9].redirect: has a script and treeId, redirectOptions or meta: the script returns them with the id`,
		`14:66: invalid argument: nodes[10].redirect.among: is empty: list the nodes among which the script chooses, or remove among`,
		`15:5: invalid argument: nodes[11]: must be an object, got a text`,
	}, told)
}

func TestLoad_ListOfNoTextsIsOneProblem(t *testing.T) {
	t.Parallel()
	for _, field := range []string{"text", "payload"} {
		_, err := script.Load(folder("nodes.json", `{"nodes": [{"compositeId": "a", "trigger": {"`+field+`": []}}]}`), onAnyMachine(script.Options{}))
		require.EqualError(t, err, fmt.Sprintf(
			"nodes.json:1:%d: invalid argument: nodes[0].trigger.%s: is empty: give a text, or several", 49+len(field), field))
	}
}

func TestLoad_NoNodes(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ text, want string }{
		"empty":    {"", `nodes.json:1:1: invalid argument: is not valid JSON: the file ends too early: a bracket or a quote is open`},
		"cut off":  {"{\n  \"nodes\": [", `nodes.json:2:13: invalid argument: is not valid JSON: the file ends too early: a bracket or a quote is open`},
		"a comma":  {"{\n  \"nodes\": [],\n}", `nodes.json:3:1: invalid argument: is not valid JSON: invalid character '}' looking for beginning of object key string`},
		"two":      {`{"nodes": []} {}`, `nodes.json:1:15: invalid argument: is not valid JSON: invalid character '{' after top-level value`},
		"an array": {"[]", `nodes.json:1:1: invalid argument: must be an object, got an array`},
		"no nodes": {"{}", `nodes.json:1:1: invalid argument: nodes: is missing; give an array of nodes`},
		"a number": {`{"nodes": 7}`, `nodes.json:1:11: invalid argument: nodes: must be an array, got a number`},
	} {
		_, err := script.Load(folder("nodes.json", test.text), onAnyMachine(script.Options{}))
		require.EqualError(t, err, test.want, name)
	}
	_, err := script.Load(folder("greet.js", ""), onAnyMachine(script.Options{}))
	require.EqualError(t, err, "nodes.json: invalid argument: is not there: the nodes of a bot stand in files of this name")
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
