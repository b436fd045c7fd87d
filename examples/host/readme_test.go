package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// block matches a block of the README: bash commands, or their output.
var block = regexp.MustCompile("(?s)```(bash|text)\n(.*?)```\n")

// TestReadme_Conversation pastes the lines of README.md into bash.
func TestReadme_Conversation(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"bash", "curl", "openssl"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("README.md is not tried: %s is not installed; the other tests hold the same conversation without it", tool)
		}
	}
	text, err := os.ReadFile("README.md")
	require.NoError(t, err)
	var lines strings.Builder
	var printed []string
	for _, found := range block.FindAllStringSubmatch(string(text), -1) {
		if found[1] == "bash" {
			lines.WriteString(found[2])
		} else {
			printed = append(printed, found[2])
		}
	}
	require.NotEmpty(t, printed)

	out := paste(t, lines.String())

	for _, expected := range printed { // In this order.
		_, after, isThere := strings.Cut(out, expected)
		require.True(t, isThere, "what is left of the output has no\n%s\n%s", expected, out)
		out = after
	}
}

// paste runs lines in bash at the root of the repository, and returns their output. It ends at the first line
// that fails.
func paste(t *testing.T, lines string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute) // It builds the program.
	defer cancel()
	shell := exec.CommandContext(ctx, "bash", "-e", "-o", "pipefail")
	shell.Dir = "../.."
	shell.Env = append(os.Environ(), "HOST_LISTEN="+freeAddress(t), "TMPDIR="+t.TempDir())
	shell.Stdin = strings.NewReader("trap 'kill $(jobs -p) 2>/dev/null || :' EXIT\n" + lines)
	shell.WaitDelay = time.Second
	var out, problems bytes.Buffer
	shell.Stdout, shell.Stderr = &out, &problems
	require.NoError(t, shell.Run(), "%s\n%s", &out, &problems)
	return out.String()
}

// freeAddress returns an address of this machine on which nothing listens. Its port is below the range that
// systems use for connections, so that no connection of another test takes it while the host is restarted.
func freeAddress(t *testing.T) string {
	t.Helper()
	for range 100 {
		address := fmt.Sprintf("127.0.0.1:%d", 20000+rand.IntN(10000))
		listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", address)
		if err == nil {
			require.NoError(t, listener.Close())
			return address
		}
	}
	require.Fail(t, "none of 100 ports is free")
	return ""
}
