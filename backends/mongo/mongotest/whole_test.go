package mongotest_test

import (
	"context"
	"net"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/mongo/mongotest/memserver"
)

// TestServer_LacksNothing runs the tests again, as they run with BOTCTX_MONGO_URI,
// against a server in this process that has every capability and does many commands at once.
func TestServer_LacksNothing(t *testing.T) {
	t.Parallel()
	if !isStandIn() {
		t.Skipf("%s names a server", uriVariable)
	}
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	go memserver.New().Serve(t.Context(), listener)
	command := exec.CommandContext(context.WithoutCancel(t.Context()), os.Args[0], "-test.v=false", "-test.timeout=8m")
	command.Env = append(os.Environ(), uriVariable+"=mongodb://"+listener.Addr().String())
	text, err := command.CombinedOutput()
	require.NoError(t, err, "%s", text)
	t.Logf("%s", text)
}
