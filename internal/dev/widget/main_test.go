package main

import (
	"bytes"
	"compress/gzip"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

const folder = "../../../backends/webchat/widget"

func TestBundle_IsFresh(t *testing.T) {
	t.Parallel()
	bundled, err := bundle(folder)
	require.NoError(t, err)
	checkedIn, err := os.ReadFile(filepath.Join(folder, "widget.js"))
	require.NoError(t, err)
	require.True(t, bytes.Equal(bundled, checkedIn), "the sources have changed: run make generate, and commit widget.js")
}

func TestBundle_IsSmall(t *testing.T) {
	t.Parallel()
	const goal, limit = 25_000, 40_000
	checkedIn, err := os.ReadFile(filepath.Join(folder, "widget.js"))
	require.NoError(t, err)
	var compressed bytes.Buffer
	writer, err := gzip.NewWriterLevel(&compressed, gzip.BestCompression)
	require.NoError(t, err)
	_, err = writer.Write(checkedIn)
	require.NoError(t, err)
	require.NoError(t, writer.Close())
	t.Logf("widget.js: %d bytes, %d compressed (goal %d, limit %d)", len(checkedIn), compressed.Len(), goal, limit)
	require.Less(t, compressed.Len(), limit)
}

// A page's Content-Security-Policy may forbid these features.
func TestBundle_NeedsNoPermission(t *testing.T) {
	t.Parallel()
	checkedIn, err := os.ReadFile(filepath.Join(folder, "widget.js"))
	require.NoError(t, err)
	for _, word := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(", "srcdoc", "importScripts"} {
		require.NotContains(t, string(checkedIn), word)
	}
}

func TestBundle_NamesTheFaultyLine(t *testing.T) {
	t.Parallel()
	broken := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(broken, "src"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(broken, "src", "widget.js"), []byte("\nlet = ;"), 0o600))
	_, err := bundle(broken)
	require.ErrorContains(t, err, "src/widget.js:2: ")
}

func TestModules_PassTheirUnitTests(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("Node is not installed here")
	}
	tests, err := filepath.Glob(filepath.Join(folder, "test", "*.test.js"))
	require.NoError(t, err)
	require.NotEmpty(t, tests)
	output, err := exec.CommandContext(t.Context(), "node", append([]string{"--test"}, tests...)...).CombinedOutput()
	require.NoError(t, err, "%s", output)
	require.Contains(t, string(output), "# pass ")
}

func TestModules_TypesAreRight(t *testing.T) {
	t.Parallel()
	compiler := filepath.Join("..", "node_modules", ".bin", "tsc")
	if _, err := os.Stat(compiler); err != nil {
		t.Skip("TypeScript is not here: run npm ci --ignore-scripts in internal/dev")
	}
	sources, err := filepath.Glob(filepath.Join(folder, "src", "*.[jt]s"))
	require.NoError(t, err)
	require.NotEmpty(t, sources)
	arguments := append([]string{
		"--noEmit", "--checkJs", "--strict", "--noUnusedLocals", "--noImplicitReturns", "--target", "es2023", "--lib", "es2023,dom,dom.iterable",
		"--module", "esnext", "--moduleResolution", "bundler",
	}, sources...)
	output, err := exec.CommandContext(t.Context(), compiler, arguments...).CombinedOutput()
	require.NoError(t, err, "%s", output)
}
