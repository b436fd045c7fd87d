package modules_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/script/internal/modules"
)

// tree returns a file system. A text that is not JSON becomes a CommonJS module that exports the file's name.
func tree(files map[string]string) fstest.MapFS {
	made := fstest.MapFS{}
	for name, text := range files {
		made[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return made
}

// shop is a tree of packages in which Node.js and scripts find the same files.
var shop = map[string]string{
	"package.json":                              `{"name": "shop", "exports": {".": "./main.js", "./lib/*": "./lib/*.js"}, "imports": {"#price": "./lib/price.js", "#lib/*": "./lib/*.js", "#dep": "list", "#gone": null, "#out": "../x.js"}}`,
	"main.js":                                   ``,
	"lib/price.js":                              ``,
	"lib/price.json":                            `{}`,
	"lib/data.json":                             `{}`,
	"lib/plain":                                 ``,
	"lib/tax/index.js":                          ``,
	"lib/tax.js/index.js":                       ``,
	"lib/money/package.json":                    `{"main": "src/money"}`,
	"lib/money/src/money.js":                    ``,
	"lib/folder/package.json":                   `{"main": "src"}`,
	"lib/folder/src/index.json":                 `{}`,
	"lib/lost/package.json":                     `{"main": "nowhere"}`,
	"lib/lost/index.js":                         ``,
	"lib/void/package.json":                     `{"main": "nowhere"}`,
	"node_modules/list/package.json":            `{"name": "list", "main": "./list.js"}`,
	"node_modules/list/list.js":                 ``,
	"node_modules/list/sub/map.js":              ``,
	"node_modules/list/node_modules/a/index.js": ``,
	"node_modules/a/index.js":                   ``,
	"node_modules/single.js":                    ``,
	"node_modules/@org/kit/package.json":        `{"exports": "./kit.js"}`,
	"node_modules/@org/kit/kit.js":              ``,
	"node_modules/@org/kit/other.js":            ``,
	"node_modules/@org/old/lib/x.js":            ``,
	"node_modules/paths/package.json": `{"name": "paths", "exports": {
		".": [{"import": "./no.mjs"}, "not-a-path", "./index.js"],
		"./feature": {"import": "./f.mjs", "require": {"types": "./f.d.ts", "default": "./f.js"}},
		"./nested": {"require": {"import": "./f.mjs"}, "default": "./f.js"},
		"./listed": [null, "./f.js"],
		"./null": null,
		"./nullcond": {"require": null, "default": "./f.js"},
		"./empty": [],
		"./emptycond": {"require": [], "default": "./f.js"},
		"./missing": "./missing.js",
		"./noext": "./f",
		"./dir": "./dist/",
		"./up": "../list/list.js",
		"./deps": "./node_modules/x.js",
		"./number": 5,
		"./dist/*": "./dist/*",
		"./dist/private/*": null,
		"./twice/*": "./dist/*/*.js",
		"./styles/*.css": "./dist/*.css.js",
		"./styles/main*.css": "./f.js"
	}}`,
	"node_modules/paths/index.js":          ``,
	"node_modules/paths/f.js":              ``,
	"node_modules/paths/no.mjs":            ``,
	"node_modules/paths/dist/a.js":         ``,
	"node_modules/paths/dist/a/a.js":       ``,
	"node_modules/paths/dist/a.css.js":     ``,
	"node_modules/paths/dist/private/a.js": ``,
	"node_modules/mixed/package.json":      `{"exports": {".": "./index.js", "require": "./index.js"}}`,
	"node_modules/mixed/index.js":          ``,
	"node_modules/onlyesm/package.json":    `{"exports": {"import": "./index.js"}}`,
	"node_modules/onlyesm/index.js":        ``,
	"node_modules/nothing/package.json":    `{"exports": {}}`,
	"node_modules/nothing/index.js":        ``,
	"node_modules/bare/readme.md":          ``,
}

// shopCases are names required in folders of shop, and the resulting files, or "" for none.
var shopCases = []struct{ folder, name, file string }{
	{".", "./main", "main.js"},
	{".", "./main.js", "main.js"},
	{".", "/main", ""}, // Node.js looks for the absolute path.
	{".", "./lib/price", "lib/price.js"},
	{".", "./lib/price.json", "lib/price.json"},
	{".", "./lib/data", "lib/data.json"},
	{".", "./lib/plain", "lib/plain"},
	{".", "./lib/plain/", ""},
	{".", "./lib/tax", "lib/tax/index.js"},
	{".", "./lib/tax/", "lib/tax/index.js"},
	{".", "./lib/tax.js", "lib/tax.js/index.js"},
	{".", "./lib/money", "lib/money/src/money.js"},
	{".", "./lib/folder", "lib/folder/src/index.json"},
	{".", "./lib/lost", "lib/lost/index.js"},
	{".", "./lib/void", ""},
	{".", "./lib", ""},
	{".", "./nowhere", ""},
	{"lib", "./price", "lib/price.js"},
	{"lib", "../main", "main.js"},
	{"lib/tax", ".", "lib/tax/index.js"},
	{"lib/tax", "./", "lib/tax/index.js"},
	{"lib/money/src", "..", "lib/money/src/money.js"},
	{"lib/money/src", "../", "lib/money/src/money.js"},
	{"lib/tax", "./../price", "lib/price.js"},
	{"lib", "..price", ""},
	{".", "list", "node_modules/list/list.js"},
	{"lib/tax", "list", "node_modules/list/list.js"},
	{"lib", "list/sub/map", "node_modules/list/sub/map.js"},
	{".", "list/", "node_modules/list/list.js"},
	{".", "list/package.json", "node_modules/list/package.json"},
	{".", "list/sub", ""},
	{".", "list/../single", "node_modules/single.js"},
	{".", "a", "node_modules/a/index.js"},
	{"node_modules/list/sub", "a", "node_modules/list/node_modules/a/index.js"},
	{"node_modules/list", "list", "node_modules/list/list.js"},
	{".", "single", "node_modules/single.js"},
	{".", "bare", ""},
	{".", "nowhere", ""},
	{".", "@org/kit", "node_modules/@org/kit/kit.js"},
	{".", "@org/kit/kit.js", ""},
	{".", "@org/old/lib/x", "node_modules/@org/old/lib/x.js"},
	{".", "@org", ""},
	{".", "@org/", ""},
	{".", "paths", "node_modules/paths/index.js"},
	{".", "paths/", ""},
	{".", "paths/index.js", ""},
	{".", "paths/package.json", ""},
	{".", "paths/feature", "node_modules/paths/f.js"},
	{".", "paths/nested", "node_modules/paths/f.js"},
	{".", "paths/listed", "node_modules/paths/f.js"},
	{".", "paths/null", ""},
	{".", "paths/nullcond", ""},
	{".", "paths/empty", ""},
	{".", "paths/emptycond", ""},
	{".", "paths/missing", ""},
	{".", "paths/noext", ""},
	{".", "paths/dir", ""},
	{".", "paths/up", ""},
	{".", "paths/deps", ""},
	{".", "paths/number", ""},
	{".", "paths/dist/a.js", "node_modules/paths/dist/a.js"},
	{".", "paths/dist/a", ""},
	{".", "paths/dist/*", ""},
	{".", "paths/dist/../f.js", ""},
	{".", "paths/dist/node_modules/x.js", ""},
	{".", "paths/dist/private/a.js", ""},
	{".", "paths/twice/a", "node_modules/paths/dist/a/a.js"},
	{".", "paths/styles/a.css", "node_modules/paths/dist/a.css.js"},
	{".", "paths/styles/main2.css", "node_modules/paths/f.js"},
	{".", "paths/styles/main.css", ""},
	{"node_modules/paths/dist", "paths/feature", "node_modules/paths/f.js"},
	{"node_modules/paths/dist", "../f", "node_modules/paths/f.js"},
	{".", "mixed", ""},
	{".", "onlyesm", ""},
	{".", "onlyesm/index.js", ""},
	{".", "nothing", ""},
	{".", "shop", "main.js"},
	{"lib", "shop/lib/price", "lib/price.js"},
	{"lib", "shop/main.js", ""},
	{"lib/money/src", "shop", ""},
	{"lib", "#price", "lib/price.js"},
	{"lib", "#lib/data", ""},
	{"lib", "#lib/price", "lib/price.js"},
	{"lib", "#dep", "node_modules/list/list.js"},
	{"lib", "#gone", ""},
	{"lib", "#out", ""},
	{"lib", "#none", ""},
	{"lib", "#", ""},
	{"lib", "#/price", ""},
	{"node_modules/list", "#price", ""},
	{"node_modules", "#price", ""},
}

func TestFind_AsNode(t *testing.T) {
	t.Parallel()
	f := modules.New(tree(shop))
	for _, c := range shopCases {
		for range 2 { // The second result comes from the cache.
			file, err := f.Find(c.folder, c.name)
			if c.name == "/main" {
				require.Equal(t, "main.js", file)
				continue
			}
			require.Equal(t, c.file, file, "%s in %s: %v", c.name, c.folder, err)
			require.Equal(t, c.file == "", err != nil)
		}
	}
}

// scripts is a tree in which scripts find other files than Node.js does.
var scripts = map[string]string{
	"common.cjs":                       ``,
	"folder/index.cjs":                 ``,
	"both.cjs":                         ``,
	"both.json":                        `{}`,
	"node_modules/events/package.json": `{"main": "events.js"}`,
	"node_modules/events/events.js":    ``,
	"node_modules/order/package.json":  `{"exports": {"./a": {"node": "./node.js", "browser": "./browser.js", "require": "./require.js"}, "./b": {"require": "./require.js", "browser": "./browser.js"}, "./c": {"node": "./node.js", "default": {"browser": "./browser.js"}}}}`,
	"node_modules/order/browser.js":    ``,
	"node_modules/order/require.js":    ``,
	"node_modules/order/node.js":       ``,
	"node_modules/id/package.json": `{"type": "module", "exports": {".": {"browser": "./browser.js", "require": "./id.cjs"}, "./none": {"browser": "./browser.js"}},
		"browser": {"./id.cjs": "./browser.cjs"}}`,
	"node_modules/id/browser.js":  ``,
	"node_modules/id/browser.cjs": ``,
	"node_modules/id/id.cjs":      ``,
	"node_modules/web/package.json": `{"name": "web", "main": "lib/index", "imports": {"#self": "./lib/index.js"}, "browser": {
		"./lib/index.js": "./lib/browser", "./lib/util": false, "crypto": "./lib/crypto.js", "fs": false, "node:os": false,
		"old": "events", "#self": "./lib/crypto.js", "./lib/kept.js": true, "./lib/away.js": "nowhere", "./lib/one.js": "./lib/two.js", "./lib/two.js": "./lib/one.js"}}`,
	"node_modules/web/lib/index.js":   ``,
	"node_modules/web/lib/browser.js": ``,
	"node_modules/web/lib/util.js":    ``,
	"node_modules/web/lib/crypto.js":  ``,
	"node_modules/web/lib/kept.js":    ``,
	"node_modules/web/lib/away.js":    ``,
	"node_modules/web/lib/one.js":     ``,
	"node_modules/web/lib/two.js":     ``,
}

func TestFind_ForScripts(t *testing.T) {
	t.Parallel()
	f := modules.New(tree(scripts))
	const web = "node_modules/web/lib"
	for _, c := range []struct{ folder, name, file string }{
		{".", "./common", "common.cjs"},
		{".", "./folder", "folder/index.cjs"},
		{".", "./both", "both.json"},
		{"folder", "/common", "common.cjs"},
		{"/folder/", "../common", "common.cjs"},
		{"folder", "/../../common", "common.cjs"},
		{".", "events", "node_modules/events/events.js"},
		{".", "node:events", "node_modules/events/events.js"},
		{".", "order/a", "node_modules/order/browser.js"},
		{".", "order/b", "node_modules/order/require.js"},
		{".", "order/c", "node_modules/order/browser.js"},
		{".", "id", "node_modules/id/browser.cjs"},
		{".", "web", web + "/browser.js"},
		{web, ".", web + "/browser.js"},
		{web, "./util", modules.Empty},
		{web, "./util.js", modules.Empty},
		{".", "web/lib/util", modules.Empty},
		{web, "crypto", web + "/crypto.js"},
		{web, "node:crypto", web + "/crypto.js"},
		{web, "fs", modules.Empty},
		{web, "node:os", modules.Empty},
		{web, "old", "node_modules/events/events.js"},
		{web, "#self", web + "/crypto.js"},
		{web, "./kept", web + "/kept.js"},
		{web, "./one", web + "/two.js"},
		{web, "./two", web + "/one.js"},
	} {
		file, err := f.Find(c.folder, c.name)
		require.NoError(t, err, c.name)
		require.Equal(t, c.file, file, c.name)
	}
}

func TestFind_ErrorsSayWhatIsWrong(t *testing.T) {
	t.Parallel()
	files := tree(shop)
	maps.Copy(files, tree(scripts))
	files["broken/package.json"] = &fstest.MapFile{Data: []byte("{\n  \"main\": ]")}
	f := modules.New(files)
	for _, c := range []struct{ folder, name, want string }{
		{"lib", "./nowhere", `not found: there is no module "./nowhere" in the folder "lib"`},
		{"lib", "../../../etc/passwd", `not found: there is no module "../../../etc/passwd" in the folder "lib"`},
		{"lib", "nowhere", `not found: there is no module "nowhere" in node_modules of the folder "lib" or of any folder above it: install it, or correct the name`},
		{".", "fs", `not found: there is no module "fs": it is built into Node.js, and scripts do not have it`},
		{".", "node:fs/promises", `not found: there is no module "node:fs/promises": it is built into Node.js, and scripts do not have it`},
		{".", "list/fs", `not found: there is no module "list/fs" in node_modules of the folder "." or of any folder above it: install it, or correct the name`},
		{".", "./lib/void", `not found: there is no file "lib/void/nowhere", the main file of the package "lib/void"`},
		{".", "paths/index.js", `not found: the package "paths" has no "./index.js" among the exports of its package.json`},
		{".", "paths/missing", `not found: the package "paths" maps "./missing" to "node_modules/paths/missing.js" in the exports of its package.json, but there is no such file`},
		{".", "paths/up", `invalid argument: the package "paths" has a malformed target for "./up" in the exports of its package.json: ../list/list.js`},
		{".", "paths/dist/../f.js", `invalid argument: "./dist/../f.js" is not the name of a module: . and .. and node_modules cannot be parts of it`},
		{".", "mixed", `invalid argument: the exports of the package "node_modules/mixed" mix subpaths with conditions`},
		{".", "onlyesm", `not found: the package "node_modules/onlyesm" has no "." among the exports of its package.json`},
		{"lib", "#none", `not found: the package "shop" has no "#none" among the imports of its package.json`},
		{"node_modules", "#x", `not found: there is no module "#x": the folder "node_modules" has no package.json with imports`},
		{"lib", "#", `invalid argument: "#" is not the name of a module: # needs a name after it`},
		{"node_modules/web/lib", "./away", `not found: there is no module "nowhere" in node_modules of the folder "node_modules/web" or of any folder above it: install it, or correct the name`},
		{".", "./broken", `invalid argument: broken/package.json:2:11: this is not JSON: invalid character ']' looking for beginning of value`},
		{".", "", `invalid argument: the name of a module must not be empty`},
		{".", "./a\x00.js", `invalid argument: the name of the module "./a\x00.js" has a NUL character`},
		{".", strings.Repeat("../", 1000), `invalid argument: the name of a module has 3000 bytes; the limit is 1024`},
	} {
		_, err := f.Find(c.folder, c.name)
		require.EqualError(t, err, c.want)
	}
}

func TestFind_HostWithoutModules(t *testing.T) {
	t.Parallel()
	_, err := modules.New(nil).Find(".", "moment")
	require.ErrorIs(t, err, boterr.NotFound)
	require.EqualError(t, err, `not found: there is no module "moment": the host provides no modules, see Options.Modules`)
}

func TestFind_AFileThatIsAddedLater(t *testing.T) {
	t.Parallel()
	files := tree(nil)
	f := modules.New(files)
	_, err := f.Find(".", "./late")
	require.ErrorIs(t, err, boterr.NotFound)
	files["late.js"] = &fstest.MapFile{}
	file, err := f.Find(".", "./late")
	require.NoError(t, err)
	require.Equal(t, "late.js", file)
}

type counting struct {
	fs.FS
	opened int
}

func (c *counting) Open(name string) (fs.File, error) {
	c.opened++
	return c.FS.Open(name)
}

func TestFiles_RememberWhatTheyFound(t *testing.T) {
	t.Parallel()
	files := &counting{FS: tree(shop)}
	f := modules.New(files)
	ask := func() {
		file, err := f.Find("lib", "paths/styles/a.css")
		require.NoError(t, err)
		_, err = f.Read(file)
		require.NoError(t, err)
	}
	ask()
	before := files.opened
	ask()
	require.Positive(t, before)
	require.Equal(t, before, files.opened)
}

// nested returns deeply nested JSON. Each level has open, inside and closing.
func nested(open, inside, closing string, levels int) string {
	return strings.Repeat(open, levels) + inside + strings.Repeat(closing, levels)
}

func TestFind_HostileManifests(t *testing.T) {
	t.Parallel()
	stars := strings.Repeat("*/", 500)
	many := map[string]any{}
	for i := range 20_000 {
		many[fmt.Sprintf("./%d/*", i)] = fmt.Sprintf("./%d/*", i)
	}
	patterns, err := json.Marshal(many)
	require.NoError(t, err)
	for name, manifest := range map[string]string{
		"deep conditions":   `{"exports": ` + nested(`{"require":`, `"./x.js"`, "}", 2_000) + `}`,
		"deep lists":        `{"exports": ` + nested(`[`, `"x"`, "]", 2_000) + `}`,
		"too deep to parse": `{"exports": ` + nested(`[`, `"x"`, "]", 100_000) + `}`,
		"many patterns":     `{"exports": ` + string(patterns) + `}`,
		"many stars":        `{"exports": {"./*": "./` + stars + `"}}`,
		"a huge target":     `{"exports": {"./*": "./` + strings.Repeat("*", 1_000_000) + `"}}`,
		"imports in a ring": `{"name": "bad", "exports": {"./*": "./*"}, "imports": {"#x": "bad/y", "#y": "#x"}}`,
		"a main in a ring":  `{"main": "."}`,
		"a main above":      `{"main": "../../../../.."}`,
		"browser in a ring": `{"browser": {"x": "y", "y": "x", "#x": "#x", "./index.js": "./index.js", "bad": "bad"}}`,
		"not an object":     `[1, "2"]`,
		"odd types":         `{"name": 1, "main": {}, "type": [], "exports": 1, "imports": "x", "browser": {"x": 5, "y": ""}}`,
		"nothing":           ``,
		"NUL and UTF-8":     "{\"main\": \"a\\u0000\\ud800\", \"exports\": {\"./\xff*\": \"./\xff*\"}}",
		"too large":         `{"x": "` + strings.Repeat("x", 5<<20) + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := modules.New(tree(map[string]string{"node_modules/bad/package.json": manifest, "node_modules/bad/lib/y.js": ""}))
			for _, asked := range []string{
				"bad", "bad/", "bad/x", "bad/" + strings.Repeat("x", 1000), "bad/" + strings.Repeat("x/", 500), "bad/\xff1",
				"#x", "#y", "x", "y", ".", "..", "../..", "./lib", "@", "@/", "@/x", "@x", "/", "//", "node:", "node:/", "node:./x",
				"*", "%", "%2e%2e/x", `..\..\x`, "bad/%2e%2e/x", "CON", "C:x", "\xff", "bad/./x", "bad//x", "...", "./...",
			} {
				_, err := f.Find("node_modules/bad/lib", asked)
				require.Contains(t, []boterr.Code{boterr.NotFound, boterr.InvalidArgument}, boterr.CodeOf(err), "%q: %v", asked, err)
			}
		})
	}
}

func FuzzFind(f *testing.F) {
	for _, c := range shopCases {
		f.Add(c.folder, c.name, shop["node_modules/paths/package.json"])
	}
	f.Fuzz(func(t *testing.T, folder, name, manifest string) {
		files := tree(shop)
		files["node_modules/paths/package.json"] = &fstest.MapFile{Data: []byte(manifest)}
		found := modules.New(files)
		file, err := found.Find(folder, name)
		if err != nil {
			require.Contains(t, []boterr.Code{boterr.NotFound, boterr.InvalidArgument}, boterr.CodeOf(err))
			return
		}
		if file != modules.Empty {
			require.Contains(t, files, file)
		}
	})
}
