package outbound_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/outbound"
)

// counted starts a server of this machine, and counts the connections that it accepts.
func counted(t *testing.T, handler http.HandlerFunc) (address string, accepted *atomic.Int64) {
	t.Helper()
	accepted = new(atomic.Int64)
	server := httptest.NewUnstartedServer(handler)
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			accepted.Add(1)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	return server.URL, accepted
}

// requireAnswers makes so many requests at once, and wants each answered.
func requireAnswers(t *testing.T, client *outbound.Client, address string, requests int) {
	t.Helper()
	errs := make([]error, requests)
	var group sync.WaitGroup
	for i := range errs {
		group.Go(func() {
			_, errs[i] = outbound.Fetch(t.Context(), client, outbound.Request{URL: address})
		})
	}
	group.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
}

func TestWorkersKeepTheirConnections(t *testing.T) {
	t.Parallel()
	const workers, rounds = 32, 20
	var waiting atomic.Int64
	var together atomic.Pointer[chan struct{}]
	address, accepted := counted(t, func(http.ResponseWriter, *http.Request) {
		all := *together.Load()
		if waiting.Add(1) == workers { // Each worker has a request under way, on a connection of its own.
			close(all)
		}
		select {
		case <-all:
		case <-t.Context().Done():
		}
	})
	client := newClient(t, outbound.Config{Allow: []string{"127.0.0.1"}})
	for range rounds {
		waiting.Store(0)
		together.Store(new(make(chan struct{})))
		requireAnswers(t, client, address, workers)
	}
	require.Equal(t, int64(workers), accepted.Load())
}

func TestNoHostHasMoreConnectionsThanTheLimit(t *testing.T) {
	t.Parallel()
	address, accepted := counted(t, says("hello"))
	client := newClient(t, outbound.Config{Allow: []string{"127.0.0.1"}, MaxConnsPerHost: 2})
	for range 10 {
		requireAnswers(t, client, address, 20)
	}
	require.LessOrEqual(t, accepted.Load(), int64(2))
}
