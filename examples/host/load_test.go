package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/internal/rounds"
)

// besiege builds the host and the load generator, and has the one kill the other. It is the generator
// that compares what was accepted with what was answered, and fails.
func besiege(t *testing.T, variables []string, args ...string) {
	t.Helper()
	folder := t.TempDir()
	for program, source := range map[string]string{"host": ".", "load": "./load"} {
		build := exec.CommandContext(t.Context(), "go", "build", "-race=false", "-o", filepath.Join(folder, program), source)
		text, err := build.CombinedOutput()
		require.NoError(t, err, "building %s: %s", program, text)
	}
	load := exec.CommandContext(t.Context(), filepath.Join(folder, "load"),
		append([]string{"-host", filepath.Join(folder, "host")}, args...)...)
	load.Env = append(append(os.Environ(), "TMPDIR="+folder), variables...)
	summary, err := load.CombinedOutput()
	t.Logf("%s", summary)
	require.NoError(t, err)
	require.Contains(t, string(summary), "lost 0\n")
}

func TestLoad_KilledHostAnswersAll(t *testing.T) {
	t.Parallel()
	duration := "1s"
	if rounds.Thorough(t) {
		duration = "60s"
	}
	besiege(t, nil, "-for", duration, "-kills", strconv.Itoa(rounds.Of(t, 1, 5)))
}

func TestMongo_KilledHostAnswersAll(t *testing.T) {
	t.Parallel()
	if os.Getenv(uriVariable) == "" { // The stand-in is much to build.
		rounds.OnlyThorough(t)
	}
	// The stand-in serves one command after the other: few messages, and a lease that it does not starve.
	besiege(t, []string{mongoVariable + "=" + newDatabase(t)},
		"-store", storeMongo, "-for", "10s", "-kills", "1", "-senders", "2", "-max-pending", "20", "-take-over-after", "20s")
}
