package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRun_WritesWhatIsCommitted(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for _, inner := range []string{"docs", "botctx/schema"} {
		require.NoError(t, os.MkdirAll(filepath.Join(folder, inner), 0o700))
	}
	require.NoError(t, run([]string{folder}))
	for _, name := range []string{
		"docs/operations.md", "docs/from-scripts.md", "botctx/schema/schemas_gen.json", "botctx/schema/botctx.d.ts",
	} {
		written, err := os.ReadFile(filepath.Join(folder, name))
		require.NoError(t, err)
		committed, err := os.ReadFile(filepath.Join("..", "..", "..", name))
		require.NoError(t, err)
		require.Equal(t, string(committed), string(written), "%s is not current; run: make generate", name)
	}
}

func TestRun_NeedsOneFolder(t *testing.T) {
	t.Parallel()
	require.ErrorContains(t, run(nil), "give the one folder")
	require.ErrorContains(t, run([]string{"a", "b"}), "got 2 arguments")
	require.Error(t, run([]string{filepath.Join(t.TempDir(), "nowhere")}))
}
