package main

import (
	"bytes"
	"context"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestClients_HaveTheSameConversation(t *testing.T) {
	t.Parallel()
	for language, program := range map[string][]string{"Python": {"python3", "client.py"}, "Node": {"node", "client.mjs"}} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			interpreter, err := exec.LookPath(program[0])
			if err != nil {
				t.Skipf("%s is not installed here", program[0])
			}
			s := newScene(t)
			server := httptest.NewServer(s.door.routes())
			defer server.Close()
			client := exec.CommandContext(t.Context(), interpreter, program[1], server.URL)
			client.Env = append(os.Environ(), "BRIDGE_TOKEN="+adas, "NO_PROXY=*", "no_proxy=*")
			said, err := client.CombinedOutput()
			require.NoError(t, err, "%s", said)
			require.Equal(t, "orders: 1\nrefused: NotFound getMember\n", string(said))
			require.Equal(t, "Hello Ada, orders: 1", s.ada.Last())
		})
	}
}

func TestRun_UntilItIsEnded(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	read, out := io.Pipe()
	code := make(chan int, 1)
	go func() { code <- run(ctx, []string{"-listen", "127.0.0.1:0"}, adas, out, io.Discard) }()
	line := make([]byte, 100)
	n, err := read.Read(line)
	require.NoError(t, err)
	require.Contains(t, string(line[:n]), "listening on http://127.0.0.1:")
	stop()
	require.Zero(t, <-code)
}

func TestRun_NeedsAToken(t *testing.T) {
	t.Parallel()
	var problems bytes.Buffer
	require.Equal(t, 1, run(t.Context(), nil, "", io.Discard, &problems))
	require.Contains(t, problems.String(), "BRIDGE_TOKEN is refused: a token must have at least 32 characters")
}
