package modules_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/script/internal/modules"
)

// question is a name that a file in a folder requires.
type question struct {
	Folder string `json:"folder"`
	Name   string `json:"name"`
}

// resolver is a script for Node.js that answers questions with the file or the error.
const resolver = `
const { createRequire } = require('node:module'), path = require('node:path')
const questions = JSON.parse(require('node:fs').readFileSync(0))
process.removeAllListeners('warning')
console.log(JSON.stringify(questions.map(({ folder, name }) => {
	try {
		const file = createRequire(path.resolve(folder, 'asking.js')).resolve(name)
		return { file: path.relative('.', file).split(path.sep).join('/') }
	} catch (error) {
		return { error: String(error) }
	}
})))`

// answer is the answer of resolver.
type answer struct {
	File  string `json:"file"`
	Error string `json:"error"`
}

// askNode writes a tree of files to a folder, and returns Node.js's answers to questions about it.
func askNode(t *testing.T, files map[string]string, questions []question) (root string, answers []answer) {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("Node.js is not installed, so nothing can be compared with it: install node 20 or later")
	}
	root, err = filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	for name, text := range files {
		file := filepath.Join(root, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o750))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	asked, err := json.Marshal(questions)
	require.NoError(t, err)
	command := exec.CommandContext(t.Context(), node, "--no-warnings", "-e", resolver)
	command.Dir, command.Stdin = root, strings.NewReader(string(asked))
	said, err := command.Output()
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(said, &answers))
	require.Len(t, answers, len(questions))
	return root, answers
}

// requireSame fails unless Node.js and scripts find the same files. It returns the number of files found.
func requireSame(t *testing.T, files map[string]string, questions []question) (found int) {
	t.Helper()
	root, answers := askNode(t, files, questions)
	f := modules.New(os.DirFS(root))
	for i, want := range answers {
		file, err := f.Find(questions[i].Folder, questions[i].Name)
		require.Equal(t, want.File, file, "%+v:\nNode.js: %s\nscripts: %v", questions[i], want.Error, err)
		if err == nil {
			found++
		}
	}
	return found
}

func TestFind_NodeAgrees(t *testing.T) {
	t.Parallel()
	var questions []question
	for _, c := range shopCases {
		if !filepath.IsAbs(c.name) {
			questions = append(questions, question{c.folder, c.name})
		}
	}
	require.NotZero(t, requireSame(t, shop, questions))
}

// TestFind_NodeAgreesOnAnything compares random packages and names. One process of Node.js checks many projects, each
// in its own folder.
func TestFind_NodeAgreesOnAnything(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	files := map[string]string{}
	var questions []question
	for i := range rounds.Of(t, 60, 2000) {
		g := generator{random, fmt.Sprintf("p%d", i), files}
		g.project()
		for range 20 {
			folder := g.root + g.pick("", "/lib", "/node_modules/a", "/node_modules/a/lib", "/node_modules/b/lib")
			questions = append(questions, question{folder, g.name()})
		}
	}
	require.Greater(t, requireSame(t, files, questions), len(questions)/10)
}

// generator writes projects of three packages: the project itself, a and b.
type generator struct {
	*rand.Rand

	root  string
	files map[string]string
}

func (g generator) pick(from ...string) string { return from[g.IntN(len(from))] }

func (g generator) project() {
	for _, name := range []string{"self", "a", "b"} {
		folder := ""
		if name != "self" {
			folder = "/node_modules/" + name
		}
		for _, file := range []string{"index.js", "x.js", "lib/x.js", "lib/index.json", "lib/y.json", "lib/x/x.js", "x/index.js", "lib/package.json"} {
			if g.IntN(3) > 0 {
				g.files[g.root+folder+"/"+file] = "{}"
			}
		}
		g.files[g.root+folder+"/lib/z.js"] = ""
		g.files[g.root+folder+"/package.json"] = g.manifest(name)
	}
}

// manifest returns a package.json.
func (g generator) manifest(name string) string {
	fields := []string{fmt.Sprintf("%q: %q", "name", name)}
	if g.IntN(2) == 0 {
		fields = append(fields, `"main": `+g.pick(`"lib"`, `"x"`, `"./lib/x.js"`, `"lib/"`, `"nowhere"`, `""`, `"../b"`, `1`, `"."`))
	}
	if g.IntN(3) > 0 {
		fields = append(fields, `"exports": `+g.table(".", 2, "./", "./x", "./lib/x", "./*", "./lib/*", "./lib/*.js", "./*/x", "./l*", "."))
	}
	if g.IntN(2) == 0 {
		fields = append(fields, `"imports": `+g.table("#", 2, "#x", "#*", "#lib/*", "#lib/*.js", "#y"))
	}
	return "{" + strings.Join(fields, ", ") + "}"
}

// table returns the targets of some keys or, sometimes, a single target.
func (g generator) table(mark string, depth int, keys ...string) string {
	if mark == "." && g.IntN(4) == 0 {
		return g.target(depth)
	}
	var fields []string
	for range g.IntN(5) {
		fields = append(fields, fmt.Sprintf("%q: %s", g.pick(keys...), g.target(depth)))
	}
	return "{" + strings.Join(fields, ", ") + "}"
}

// target returns a target, which may be nested.
func (g generator) target(depth int) string {
	if depth == 0 || g.IntN(2) == 0 {
		if g.IntN(3) > 0 {
			return g.pick(`"./x.js"`, `"./lib/x.js"`, `"./lib/z.js"`, `"./*.js"`, `"./lib/*.js"`, `"./lib/*"`)
		}
		return g.pick(`"./lib/*"`, `"./*.js"`, `"./*"`, `"./lib/*.js"`, `"./lib/*/*.js"`, `null`, `"x"`, `"a"`, `"b/lib/z.js"`,
			`"../b/x.js"`, `"./lib/../x.js"`, `"./lib/"`, `"./node_modules/a/x.js"`, `"./lib/./x.js"`, `1`, `""`, `"/x.js"`, `"self"`, `"#x"`)
	}
	var inner []string
	if g.IntN(3) == 0 {
		for range g.IntN(3) {
			inner = append(inner, g.target(depth-1))
		}
		return "[" + strings.Join(inner, ", ") + "]"
	}
	for range g.IntN(3) {
		inner = append(inner, fmt.Sprintf("%q: %s", g.pick("import", "require", "default", "types"), g.target(depth-1)))
	}
	return "{" + strings.Join(inner, ", ") + "}"
}

func (g generator) name() string {
	begin := g.pick(".", "..", "./", "../", "a", "b", "self", "a/", "b/", "self/", "#", "#", "")
	rest := g.pick("", "x", "x.js", "lib", "lib/", "lib/x", "lib/x.js", "lib/y", "lib/z.js", "x/", "lib/x/x", "/lib", "/..", "../x", "*", "lib/*", ".", "package.json")
	if name := begin + rest; name != "" && !strings.HasPrefix(name, "/") {
		return name
	}
	return "a"
}
