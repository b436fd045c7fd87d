package mongotest_test

import (
	"context"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/internal/rounds"
)

// TestServer_LacksNothing runs the thorough tests of the stand-in again, as they run with
// BOTCTX_MONGO_URI, against a server in this process that has every capability and does many
// commands at once. The usual tests run against such a one alone.
func TestServer_LacksNothing(t *testing.T) {
	t.Parallel()
	rounds.OnlyThorough(t)
	if !isStandIn() {
		t.Skipf("%s names a server", uriVariable)
	}
	address, err := serveMemserver(t.Context())
	require.NoError(t, err)
	command := exec.CommandContext(context.WithoutCancel(t.Context()), os.Args[0], "-test.v", "-test.timeout=30m")
	command.Env = append(os.Environ(), uriVariable+"="+address)
	text, err := command.CombinedOutput()
	require.NoError(t, err, "%s", text)
	t.Logf("%s", text)
}
