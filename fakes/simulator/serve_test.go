package simulator_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/fakes/simulator"
)

func TestServe_SaysWhereAndEndsWithTheContext(t *testing.T) {
	t.Parallel()
	said, out := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- simulator.Simulator{Address: "127.0.0.1:0", Out: out, Bot: "Shop"}.Serve(ctx, nodes()...)
	}()
	line, err := bufio.NewReader(said).ReadString('\n')
	require.NoError(t, err)
	address, isFound := strings.CutPrefix(strings.TrimSpace(line), "Shop is at ")
	require.True(t, isFound, line)

	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address+"events", nil)
	require.NoError(t, err)
	listening, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	cancel()
	require.NoError(t, <-ended)
	_, err = io.Copy(io.Discard, listening.Body) // It ends with the page, and does not hold it open.
	require.NoError(t, err)
	require.NoError(t, listening.Body.Close())
}

func TestServe_RefusesWhatCannotBe(t *testing.T) {
	t.Parallel()
	twice := []*botctx.Node{{ID: "hello"}, {ID: "hello"}}
	require.ErrorContains(t, simulator.Serve(t.Context(), twice...), "hello")
	require.ErrorContains(t, simulator.Simulator{Address: "nowhere"}.Serve(t.Context()), "Address says where else")
}
