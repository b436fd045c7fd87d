package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/internal/operations/reference"
)

func TestRun_WritesTheFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "operations.md")
	require.NoError(t, run([]string{file}))
	written, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, reference.Markdown(), string(written))
}

func TestRun_AsksForOneFile(t *testing.T) {
	t.Parallel()
	require.ErrorContains(t, run(nil), "give the one file to write")
	require.ErrorContains(t, run([]string{"a", "b"}), "got 2 arguments")
}
