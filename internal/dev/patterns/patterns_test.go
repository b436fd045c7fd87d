// Package patterns_test holds what bots on a platform of scripts do, pattern by pattern: as scripts, which stand in
// bots, and as nodes in Go beside them. Both have the same conversation, over the records in memory and over those
// in a file, and one is to say and to store what the other one does.
package patterns_test

import (
	"os"
	"path"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/bolt"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/script"
)

// pattern is something that real scripts do.
type pattern struct {
	// name is that of its folder of scripts.
	name string
	// nodes are the same nodes in Go.
	nodes func() []*botctx.Node
	// needs are the packages of npm that the scripts use.
	needs []string
	// prepare makes what the bot needs beside Ada, who writes on a webchat channel where it makes no member.
	prepare func(s *stage)
	// talk is the conversation.
	talk func(s *stage)
	// want is what was sent, each message after who got it.
	want string
}

// patterns are all of them, by subject.
func patterns() []pattern {
	var all []pattern
	for _, some := range [][]pattern{answers(), tables(), counters(), agendas(), flows(), requests(), commands(), platforms()} {
		all = append(all, some...)
	}
	return all
}

// logics are the two ways in which each pattern is written.
var logics = map[string]func(t *testing.T, p pattern) []*botctx.Node{
	"go":      func(_ *testing.T, p pattern) []*botctx.Node { return p.nodes() },
	"scripts": scripts,
}

// scripts loads the nodes of a pattern from its folder.
func scripts(t *testing.T, p pattern) []*botctx.Node {
	t.Helper()
	for _, name := range p.needs {
		if _, err := os.Stat(filepath.Join(packages, "node_modules", name)); err != nil {
			t.Skipf("%s of npm is not there: run npm ci --ignore-scripts in script/testdata/npm", name)
		}
	}
	nodes, err := script.Load(os.DirFS(filepath.Join("bots", p.name)), script.Options{Modules: os.DirFS(packages)})
	require.NoError(t, err)
	return nodes
}

// packages is the folder with the node_modules of the tests.
const packages = "../../../script/testdata/npm"

// stores are what the records are kept in.
var stores = map[string]func(t *testing.T, c *botctx.Config){
	"in memory": func(*testing.T, *botctx.Config) {},
	"in a file": func(t *testing.T, c *botctx.Config) {
		t.Helper()
		store, err := bolt.Open(filepath.Join(t.TempDir(), "records.db"), bolt.WithNow(c.Now))
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, store.Close()) })
		c.Store = store
	},
}

func TestPatterns_ScriptsDoWhatGoDoes(t *testing.T) {
	t.Parallel()
	for _, p := range patterns() {
		for name := range stores {
			t.Run(path.Join(p.name, name), func(t *testing.T) {
				t.Parallel()
				inGo := played(t, p, "go", name)
				require.Equal(t, p.want, inGo.said, "what the nodes in Go say")
				inScripts := played(t, p, "scripts", name)
				require.Equal(t, inGo.said, inScripts.said, "what the scripts say")
				require.Equal(t, inGo.stored, inScripts.stored, "what the scripts store")
			})
		}
	}
}

// played is what a pattern said and stored.
func played(t *testing.T, p pattern, logic, store string) outcome {
	t.Helper()
	s := newStage(t, stores[store])
	if p.prepare != nil {
		p.prepare(s)
	}
	s.Handle(logics[logic](t, p)...)
	p.talk(s)
	return s.outcome()
}

// Each folder has its row in the table, and the other way round: nothing is left out.
func TestPatterns_EachFolderHasItsNodesInGo(t *testing.T) {
	t.Parallel()
	folders, err := os.ReadDir("bots")
	require.NoError(t, err)
	var written, known []string
	for _, folder := range folders {
		written = append(written, folder.Name())
	}
	for _, p := range patterns() {
		known = append(known, p.name)
	}
	require.ElementsMatch(t, written, known)
}

// The graph of the scripts is that of the nodes in Go, but for what is a function there and a file here.
func TestPatterns_GraphsAreAlike(t *testing.T) {
	t.Parallel()
	for _, p := range patterns() {
		nodes, err := script.Load(os.DirFS(filepath.Join("bots", p.name)), script.Options{Modules: os.DirFS(packages)})
		require.NoError(t, err, p.name)
		fromScripts, err := botctx.GraphOf(nodes...)
		require.NoError(t, err, p.name)
		fromGo, err := botctx.GraphOf(p.nodes()...)
		require.NoError(t, err, p.name)
		require.Equal(t, fromGo.Edges, fromScripts.Edges, p.name)
		require.Equal(t, fromGo.Warnings, fromScripts.Warnings, p.name)
		for i := range fromGo.Nodes {
			fromGo.Nodes[i].Trigger, fromScripts.Nodes[i].Trigger = "", ""
		}
		require.Equal(t, fromGo.Nodes, fromScripts.Nodes, p.name)
	}
}
