package script_test

import (
	_ "embed"
	"encoding/json"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/script"
)

// runOutcomes is a function that runs functions, and returns their results as texts.
//
//go:embed testdata/outcomes.js
var runOutcomes string

// asNode compares what scripts give with Node.js. Each source is the body of a function that returns a list of functions.
func asNode(t *testing.T, options script.Options, folder string, sources map[string]string) {
	t.Helper()
	want := byNode(t, folder, sources)
	s := newStage(t, options)
	for name, source := range sources {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program, err := s.engine.Compile(name, outcomesOf(source))
			require.NoError(t, err)
			value, err := program.Run(t.Context(), s.ada.Context())
			require.NoError(t, err)
			text, isText := value.(string)
			require.True(t, isText)
			var got []string
			require.NoError(t, json.Unmarshal([]byte(text), &got))
			require.Len(t, got, len(want[name]))
			require.NotEmpty(t, got)
			for i, one := range want[name] {
				if one.Result != got[i] {
					t.Errorf("%s\n  here %s\n  node %s", one.Source, got[i], one.Result)
				}
			}
		})
	}
}

// outcomesOf is a body that returns the results of a source's functions.
func outcomesOf(source string) string {
	return "return JSON.stringify(await (" + strings.TrimSpace(runOutcomes) + ")(await (async () => {" + source + "\n})()))"
}

// outcome is the text of a function, and its result.
type outcome struct {
	Source string `json:"source"`
	Result string `json:"result"`
}

// nodeOutcomes is a script for Node.js. It reads sources, and prints the outcomes of each.
const nodeOutcomes = `
const { createRequire } = require('node:module')
const { folder, run, sources } = JSON.parse(require('node:fs').readFileSync(0))
const AsyncFunction = (async () => {}).constructor
const outcomesOf = async (source) => {
	for (const file in require.cache) delete require.cache[file] // Each has modules of its own.
	const functions = await new AsyncFunction('require', source)(createRequire(folder + '/script.js'))
	const results = await eval(run)(functions)
	return functions.map((one, i) => ({ source: String(one), result: results[i] }))
}
(async () => {
	const outcomes = {}
	for (const name in sources) outcomes[name] = await outcomesOf(sources[name])
	process.stdout.write(JSON.stringify(outcomes))
})()
`

// byNode returns what Node.js makes of sources.
func byNode(t *testing.T, folder string, sources map[string]string) map[string][]outcome {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node, whose results those of scripts are compared with, is not installed")
	}
	folder, err = filepath.Abs(folder)
	require.NoError(t, err)
	input, err := json.Marshal(map[string]any{"folder": folder, "run": runOutcomes, "sources": sources})
	require.NoError(t, err)
	command := exec.CommandContext(t.Context(), node, "-e", nodeOutcomes)
	command.Env = append(os.Environ(), "NODE_ENV=production", "LC_ALL=en_US.UTF-8")
	command.Stdin = strings.NewReader(string(input))
	printed, err := command.Output()
	require.NoError(t, err)
	var outcomes map[string][]outcome
	require.NoError(t, json.Unmarshal(printed, &outcomes))
	return outcomes
}

// sourcesIn returns the files of a folder.
func sourcesIn(t *testing.T, folder string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.js"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	sources := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		sources[strings.TrimSuffix(filepath.Base(file), ".js")] = string(text)
	}
	return sources
}

func TestLibraries_AsNode(t *testing.T) {
	t.Parallel()
	options := withPackages(t)
	sources := sourcesIn(t, "testdata/libraries")
	for name := range sources {
		if _, err := os.Stat(filepath.Join(npmFolder, "node_modules", name)); err != nil {
			t.Skipf("%s is not there: run npm ci --ignore-scripts in script/testdata/npm", name)
		}
	}
	options.MaxBusy, options.Console = 20*time.Second, slog.New(slog.DiscardHandler)
	asNode(t, options, npmFolder, sources)
}

func TestPatterns_AsNode(t *testing.T) {
	t.Parallel()
	asNode(t, script.Options{MaxBusy: 20 * time.Second}, "testdata", sourcesIn(t, "testdata/patterns"))
}
