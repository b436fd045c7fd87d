package modules_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/script/internal/modules"
)

func TestRead(t *testing.T) {
	t.Parallel()
	const mark = "\uFEFF"
	for name, c := range map[string]struct {
		file, text, source string
		isJSON             bool
	}{
		"CommonJS":               {"a.js", "exports.a = 1\n", "exports.a = 1\n", false},
		"a byte order mark":      {"a.js", mark + "exports.a = 1", "exports.a = 1", false},
		"a first line for Unix":  {"a.cjs", "#!/usr/bin/env node\nexports.a = 1", "///usr/bin/env node\nexports.a = 1", false},
		"both":                   {"a", mark + "#!x\r\n1", "//x\r\n1", false},
		"#! further down":        {"a.js", "1\n#!x", "1\n#!x", false},
		"no text":                {"a.js", "", "", false},
		"invalid UTF-8":          {"a.js", "'\xff'", "'\uFFFD'", false},
		"JSON":                   {"a.json", ` {"a": [1, 2.50]} `, ` {"a": [1, 2.50]} `, true},
		"JSON with a mark":       {"a.json", mark + `"a"`, `"a"`, true},
		"as large as is allowed": {"a.js", strings.Repeat(" ", 4<<20), strings.Repeat(" ", 4<<20), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := modules.New(tree(map[string]string{c.file: c.text}))
			for range 2 {
				module, err := f.Read(c.file)
				require.NoError(t, err)
				require.Equal(t, modules.Module{Source: c.source, IsJSON: c.isJSON}, module)
			}
		})
	}
}

func TestRead_OnlyCommonJS(t *testing.T) {
	t.Parallel()
	f := modules.New(tree(map[string]string{
		"x.mjs":                               ``,
		"node_modules/es/package.json":        `{"name": "es", "type": "module", "exports": {"require": "./index.js", "default": "./x.mjs"}}`,
		"node_modules/es/index.js":            ``,
		"node_modules/es/index.cjs":           ``,
		"node_modules/es/data.json":           `{}`,
		"node_modules/es/lib/x.mjs":           ``,
		"node_modules/es/cjs/package.json":    `{"type": "commonjs"}`,
		"node_modules/es/cjs/index.js":        ``,
		"node_modules/es/node_modules/a/a.js": ``,
		"node_modules/es/addon.node":          ``,
	}))
	file, err := f.Find(".", "es")
	require.NoError(t, err)
	const es = " is an ES module, which scripts cannot load: "
	for file, want := range map[string]string{
		file:                                  "node_modules/es/index.js" + es + `install a version of the package "es" that has CommonJS`,
		"node_modules/es/lib/x.mjs":           "node_modules/es/lib/x.mjs" + es + `install a version of the package "es" that has CommonJS`,
		"x.mjs":                               "x.mjs" + es + "write it as CommonJS",
		"node_modules/es/addon.node":          "node_modules/es/addon.node is machine code for Node.js, which scripts cannot load",
		"node_modules/es/index.cjs":           "",
		"node_modules/es/data.json":           "",
		"node_modules/es/cjs/index.js":        "",
		"node_modules/es/node_modules/a/a.js": "",
	} {
		_, err := f.Read(file)
		if want == "" {
			require.NoError(t, err)
			continue
		}
		require.EqualError(t, err, "invalid argument: the module "+want)
	}
}

func TestRead_ErrorsNameTheFile(t *testing.T) {
	t.Parallel()
	f := modules.New(tree(map[string]string{
		"a.json":   "{\n  \"a\": 1,\n}",
		"cut.json": "\uFEFF[1,",
		"huge.js":  strings.Repeat(" ", 4<<20+1),
		"lib/x.js": "",
	}))
	for file, want := range map[string]string{
		"a.json":    "invalid argument: a.json:3:1: this is not JSON: invalid character '}' looking for beginning of object key string",
		"cut.json":  "invalid argument: cut.json:1:3: this is not JSON: unexpected end of JSON input",
		"huge.js":   "invalid argument: the module huge.js is larger than the limit of 4 MiB: split it",
		"gone.js":   `not found: there is no module "gone.js"`,
		"lib":       `not found: there is no module "lib"`,
		"../gone":   `not found: there is no module "../gone"`,
		"/lib/x.js": `not found: there is no module "/lib/x.js"`,
	} {
		_, err := f.Read(file)
		require.EqualError(t, err, want)
	}
	_, err := modules.New(nil).Read("a.js")
	require.ErrorIs(t, err, boterr.NotFound)
}

func TestRead_NothingForEmpty(t *testing.T) {
	t.Parallel()
	module, err := modules.New(tree(nil)).Read(modules.Empty)
	require.NoError(t, err)
	require.Zero(t, module)
}

func TestFiles_UsedByManyAtOnce(t *testing.T) {
	t.Parallel()
	f := modules.New(tree(shop))
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for _, c := range shopCases {
				file, err := f.Find(c.folder, c.name)
				if err == nil {
					_, err = f.Read(file)
					require.NoError(t, err)
				}
			}
		})
	}
	all.Wait()
}

func TestFiles_ForgetWhenTheyHoldTooMuch(t *testing.T) {
	t.Parallel()
	f := modules.New(tree(map[string]string{"a.js": ""}))
	detour := strings.Repeat("./", 400)
	for i := range 20_000 { // The names have 20 MB in total.
		file, err := f.Find(".", detour+fmt.Sprintf("%d/../a", i))
		require.NoError(t, err)
		require.Equal(t, "a.js", file)
	}
	require.Less(t, f.Remembered(), 6<<20)
}
