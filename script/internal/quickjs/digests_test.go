package quickjs_test

import (
	_ "embed"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/script/internal/quickjs"
)

// digests is a script that returns the digests of many results of the language.
//
//go:embed testdata/digests.js
var digests string

// digestsZone is the zone in which they are made. Its offset never changes in the years of the script.
const digestsZone = "Asia/Kolkata"

// updateDigests names the variable that makes the test write the digests anew.
const updateDigests = "BOTCTX_WRITE_DIGESTS"

const digestsFile = "testdata/digests.json"

// requireDigests compares digests, group by group.
func requireDigests(t *testing.T, got string) {
	t.Helper()
	text, err := os.ReadFile(digestsFile)
	require.NoError(t, err)
	var want, have map[string]string
	require.NoError(t, json.Unmarshal(text, &want))
	require.NoError(t, json.Unmarshal([]byte(got), &have), got)
	require.Equal(t, want, have)
}

// Each architecture has the same results.
func TestDigests(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation(digestsZone)
	require.NoError(t, err)
	in := newInstance(t, quickjs.Run{Busy: 10 * time.Minute, Zone: zone})
	defer in.Close()
	made := evalText(t, in, digests)
	if os.Getenv(updateDigests) != "" {
		require.NoError(t, os.WriteFile(digestsFile, []byte(made+"\n"), 0o600))
	}
	requireDigests(t, made)
}

// The module as it was published, which does not count, has the same results in another engine of WebAssembly: neither
// metering nor the compiler changes one.
func TestDigests_OfThePublishedModuleInNode(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node, which runs the same module, is not installed")
	}
	command := exec.CommandContext(t.Context(), node, "testdata/run.mjs", "wasm/quickjs.wasm")
	command.Env = append(os.Environ(), "TZ="+digestsZone)
	command.Stdin = strings.NewReader(digests)
	printed, err := command.Output()
	require.NoError(t, err)
	requireDigests(t, string(printed))
}
