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
	require.NoError(t, run([]string{folder}))
	for _, name := range []string{"schemas_gen.json", "botctx.d.ts"} {
		written, err := os.ReadFile(filepath.Join(folder, name))
		require.NoError(t, err)
		committed, err := os.ReadFile(filepath.Join("..", "..", "..", "botctx", "schema", name))
		require.NoError(t, err)
		require.Equal(t, string(committed), string(written), "%s is not current; run: make generate", name)
	}
}

func TestRun_NeedsOneFolder(t *testing.T) {
	t.Parallel()
	require.ErrorContains(t, run(nil), "give the one folder")
	require.Error(t, run([]string{filepath.Join(t.TempDir(), "nowhere")}))
}
