package outbound_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
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

func TestConnections_AreKept(t *testing.T) {
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
	// net/http gives up a connection whose request it knows to be written only long after the
	// answer, which a busy machine can make of one. Those that were not kept would be 30 a round.
	require.LessOrEqual(t, accepted.Load(), int64(2*workers))
}

func TestConnections_LimitPerHost(t *testing.T) {
	t.Parallel()
	const limit = 2
	var active, most atomic.Int64 // Requests that the server is at: one for each connection.
	address, _ := counted(t, func(http.ResponseWriter, *http.Request) {
		now := active.Add(1)
		defer active.Add(-1)
		for before := most.Load(); now > before && !most.CompareAndSwap(before, now); {
			before = most.Load()
		}
		runtime.Gosched() // Others may come in.
	})
	client := newClient(t, outbound.Config{Allow: []string{"127.0.0.1"}, MaxConnsPerHost: limit})
	for range 10 {
		requireAnswers(t, client, address, 20)
	}
	require.LessOrEqual(t, most.Load(), int64(limit))
}
