package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/internal/operations/reference"
)

func TestRun_WritesTheFiles(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	require.NoError(t, run([]string{folder}))
	for name, want := range map[string]string{
		"operations.md": reference.Markdown(), "from-scripts.md": reference.FromScripts(),
	} {
		written, err := os.ReadFile(filepath.Join(folder, name))
		require.NoError(t, err)
		require.Equal(t, want, string(written))
	}
}

func TestRun_AsksForOneFolder(t *testing.T) {
	t.Parallel()
	require.ErrorContains(t, run(nil), "give the one folder to write to")
	require.ErrorContains(t, run([]string{"a", "b"}), "got 2 arguments")
	require.Error(t, run([]string{filepath.Join(t.TempDir(), "missing")}))
}
