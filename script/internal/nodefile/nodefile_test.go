package nodefile_test

import (
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/script/internal/nodefile"
	"github.com/botctx/go-sdk/send"
)

func folder(files ...string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for i := 0; i < len(files); i += 2 {
		fsys[files[i]] = &fstest.MapFile{Data: []byte(files[i+1])}
	}
	return fsys
}

func TestRead_Fields(t *testing.T) {
	t.Parallel()
	read := nodefile.Read(folder("nodes.json", `{
		"tree": "shop",
		"nodes": [
			{
				"compositeId": "coupon", "parent": "menu", "priority": -3, "global": "tree", "savesPosition": true,
				"trigger": "coupon/is-asked-for.js", "preActions": ["coupon/claim.js", "log.js"], "postActions": "log.js",
				"responses": [{"type": "TEXT", "text": "Hello {{firstName}}"}],
				"redirect": {"nodeCompositeId": "menu", "redirectOptions": {"sendResponse": false}, "meta": {"from": "coupon"}},
				"schedules": ["reminder", {"compositeId": "late", "tree": "night"}], "entry": true
			},
			{"compositeId": "menu", "tree": "", "redirect": {"script": "route.js", "among": ["coupon"]}}
		]
	}`))
	require.Empty(t, read.Problems)
	require.True(t, read.HasAllIDs)
	require.Len(t, read.Nodes, 2)
	coupon, menu := read.Nodes[0], read.Nodes[1]
	base := coupon.Base
	require.Equal(t, botctx.NodeRef{CompositeID: "coupon", Tree: "shop"}, base.Ref())
	require.Equal(t, "menu", base.Parent)
	require.Equal(t, -3, base.Priority)
	require.Equal(t, botctx.GlobalInTree, base.Global)
	require.True(t, base.SavesPosition)
	require.True(t, base.Entry)
	require.Equal(t, []send.Response{send.Template("Hello {{firstName}}")}, base.Responses)
	require.Equal(t, []botctx.NodeRef{{CompositeID: "reminder"}, {CompositeID: "late", Tree: "night"}}, base.Schedules)
	require.Equal(t, botctx.Redirect{
		NodeCompositeID: "menu", Meta: document.O("from", "coupon"), Options: botctx.RedirectOptions{SendResponse: new(false)},
	}.Always(), base.Redirect)
	require.Equal(t, "coupon/is-asked-for.js", coupon.Trigger.File)
	require.Equal(t, []string{"coupon/claim.js", "log.js"}, []string{coupon.Pre[0].File, coupon.Pre[1].File})
	require.Equal(t, "nodes[0].preActions[1]", coupon.Pre[1].Field)
	require.Equal(t, "nodes.json:6:76", coupon.Pre[1].Place.String())
	require.Equal(t, "log.js", coupon.Post[0].File)
	require.Empty(t, menu.Base.Tree, "a node may be of another tree than its file")
	require.Equal(t, "route.js", menu.Redirect.File)
	require.Equal(t, botctx.Nodes("coupon"), menu.Among)
}

func TestRead_Triggers(t *testing.T) {
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
		read := nodefile.Read(folder("nodes.json", `{"nodes": [{"compositeId": "a", "trigger": `+text+`}]}`))
		require.Empty(t, read.Problems, text)
		require.Equal(t, want, read.Nodes[0].Base.Trigger.String())
	}
}

func TestRead_FilesOfAllFolders(t *testing.T) {
	t.Parallel()
	one := func(id string) string { return `{"nodes": [{"compositeId": "` + id + `", "preActions": "act.js"}]}` }
	read := nodefile.Read(folder(
		"night/nodes.json", one("night"), "nodes.json", one("top"), "day/late/nodes.json", one("late"), "day/nodes.json", one("day"),
		"node_modules/moment/nodes.json", "no JSON", ".git/nodes.json", "no JSON", "day/other.json", "no JSON",
	))
	require.Empty(t, read.Problems)
	var files []string
	for _, node := range read.Nodes {
		files = append(files, node.Base.ID+" "+node.Pre[0].File)
	}
	require.Equal(t, []string{"top act.js", "day day/act.js", "late day/late/act.js", "night night/act.js"}, files)
}

// Only the sent text of a template has a length. Everything else must be right in the file.
func TestRead_Templates(t *testing.T) {
	t.Parallel()
	wrong := nodefile.Read(folder("nodes.json", `{"nodes": [{"compositeId": "again", "responses": [
		{"text": "Hello {{firstName}}"},
		{"type": "BUTTON", "text": "{{firstName}}", "buttons": [{"type": "web_url", "title": "{{meta.long}} is far too long now", "url": "{{meta.url}}"}]}
	]}]}`))
	require.Len(t, wrong.Problems, 2)
	require.Contains(t, wrong.Problems[0].String(), "responses[0].type: is missing")
	require.Contains(t, wrong.Problems[1].String(), "responses[1].buttons[0].title: is 22 characters long; the limit is 20")
	read := nodefile.Read(folder("nodes.json", `{"nodes": [{"compositeId": "again", "responses": [
		{"type": "BUTTON", "text": "Again?", "buttons": [{"type": "postback", "title": "{{meta.favourite.drink}}", "payload": "again"}]}
	]}]}`))
	require.Empty(t, read.Problems)
	again := send.Buttons("Again?", send.Postback("{{meta.favourite.drink}}", "again")).WithPlaceholders()
	require.Equal(t, []send.Response{again}, read.Nodes[0].Base.Responses)
}

// Read reports all problems at once, each with its place, its field and a remedy.
func TestRead_Problems(t *testing.T) {
	t.Parallel()
	read := nodefile.Read(folder("shop/nodes.json", `{
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
}`))
	told := make([]string, len(read.Problems))
	for i, problem := range read.Problems {
		told[i] = strings.TrimPrefix(problem.String(), "shop/nodes.json:")
	}
	require.Equal(t, []string{
		`2:3: tre: is no field: did you mean "tree"?`,
		`4:21: nodes[0].compositeId: must be a text, got a number`,
		`4:24: nodes[0].priorty: is no field: did you mean "priority"?`,
		`4:38: nodes[0].colour: is no field: there are compositeId, description, entry, global, parent, postActions, preActions, priority, redirect, responses, savesPosition, schedules, tree, trigger`,
		`5:38: nodes[1].priority: must be a whole number, got 1.5`,
		`5:53: nodes[1].global: must be "tree" or "channel", where the node answers wherever the conversation stands, got "world"`,
		`5:79: nodes[1].savesPosition: must be true or false, got a text`,
		`5:86: nodes[1].compositeId: is there twice: keep one`,
		`6:20: nodes[2].responses[0].text: is missing; give a string`,
		`6:38: nodes[2].responses[1]: must be an object such as {"type": "TEXT", "text": "Hello {{firstName}}"}, got a text`,
		`6:47: nodes[2].responses[2].buttons[0].title: is 26 characters long; the limit is 20`,
		`6:5: nodes[2].compositeId: is missing; give every node an id, by which others name it`,
		`7:41: nodes[3].preActions[0]: must be the file of a script, whose name ends in .js, got "claim"`,
		`7:50: nodes[3].preActions[1]: "../../secret.js" is not in the folder of the bot: name it from where shop/nodes.json stands`,
		`7:69: nodes[3].preActions[2]: "/etc/x.js" is not in the folder of the bot: name it from where shop/nodes.json stands`,
		`7:82: nodes[3].preActions[3]: must be a text, got null`,
		`7:109: nodes[3].trigger.text: is empty: give a text, or several`,
		"7:124: nodes[3].trigger.matches: is no pattern of Go's package regexp: error parsing regexp: missing closing ): `(`; a script can use those of JavaScript",
		`8:38: nodes[4].redirect: leads nowhere: give a nodeCompositeId, or the file of a script that decides as script`,
		`8:66: nodes[4].trigger: is empty: say what matches, as text, matches, payload or any, or leave the trigger out`,
		`9:117: nodes[5].redirect.redirectOptions.sendResponse: must be true or false, got a number`,
		`9:120: nodes[5].redirect.redirectOptions.x: is no field: there are runPostAction, runPreAction, sendResponse`,
		`9:137: nodes[5].redirect.meta: must be an object, got an array`,
		`9:38: nodes[5].redirect: has a nodeCompositeId and a script: give one of them`,
		`10:38: nodes[6].redirect: has nodes among which a script chooses, and no script: give it, or remove among`,
		`10:99: nodes[6].trigger.any: must be "text" or "event", got "thing"`,
		`10:122: nodes[6].schedules: must be an array, got a text`,
		`11:38: nodes[7].redirect: has a script and treeId, redirectOptions or meta: the script returns them with the id`,
		`12:38: nodes[8].redirect: has a script and treeId, redirectOptions or meta: the script returns them with the id`,
		`13:38: nodes[9].redirect: has a script and treeId, redirectOptions or meta: the script returns them with the id`,
		`14:66: nodes[10].redirect.among: is empty: list the nodes among which the script chooses, or remove among`,
		`15:5: nodes[11]: must be an object, got a text`,
	}, told)
}

func TestRead_NoNodes(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ text, want string }{
		"empty":         {"", `nodes.json:1:1: is not valid JSON: the file ends too early: a bracket or a quote is open`},
		"cut off":       {"{\n  \"nodes\": [", `nodes.json:2:13: is not valid JSON: the file ends too early: a bracket or a quote is open`},
		"a comma":       {"{\n  \"nodes\": [],\n}", `nodes.json:2:15: is not valid JSON: invalid character '}' looking for beginning of object key string`},
		"two":           {`{"nodes": []} {}`, `nodes.json:1:16: is not valid JSON: there is text after the end of the object; a file must contain a single object`},
		"an array":      {"[]", `nodes.json:1:1: must be an object, got an array`},
		"no nodes":      {"{}", `nodes.json:1:1: nodes: is missing; give an array of nodes`},
		"a number":      {`{"nodes": 7}`, `nodes.json:1:11: nodes: must be an array, got a number`},
		"much too deep": {strings.Repeat(`{"nodes":[`, 60), `nodes.json:1:502: is not valid JSON: objects and arrays are nested more than 100 levels deep`},
	} {
		read := nodefile.Read(folder("nodes.json", test.text))
		require.Len(t, read.Problems, 1, name)
		require.Equal(t, test.want, read.Problems[0].String(), name)
	}
	read := nodefile.Read(folder("greet.js", ""))
	require.Len(t, read.Problems, 1)
	require.Equal(t, "nodes.json: is not there: the nodes of a bot stand in files of this name", read.Problems[0].String())
}

func FuzzRead(f *testing.F) {
	f.Add(`{"nodes": [{"compositeId": "a", "redirect": "b", "responses": [{"type": "TEXT", "text": "x"}]}]}`)
	f.Add(`{"tree": "", "nodes": [{}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		read := nodefile.Read(folder("nodes.json", text))
		for _, problem := range read.Problems {
			require.NotEmpty(t, problem.Text)
			require.GreaterOrEqual(t, problem.Place.Line, 1)
		}
		for _, node := range read.Nodes {
			require.NotEmpty(t, node.Problem(boterr.Invalid("ID", "x")).Place.Line)
		}
	})
}

// The time per node must not grow with the file.
func BenchmarkRead(b *testing.B) {
	for _, count := range []int{100, 10_000} {
		nodes := strings.Repeat(`{"compositeId": "a", "responses": [{"type": "TEXT", "text": "Hello"}]},`+"\n", count)
		bot := folder("nodes.json", `{"nodes": [`+strings.TrimSuffix(nodes, ",\n")+"]}")
		b.Run(strconv.Itoa(count), func(b *testing.B) {
			for b.Loop() {
				require.Empty(b, nodefile.Read(bot).Problems)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*count), "ns/node")
		})
	}
}
