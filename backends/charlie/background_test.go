package charlie_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/charlie"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
)

// clock is the clock of the tests' requests.
func clock() time.Time { return time.Unix(noon, 0) }

// said is the report of a message with a number.
func said(user string, n int) *http.Request {
	return wrote(fmt.Sprintf("E-%s-%d", user, n),
		fmt.Sprintf(`{"type":"message","channel":"D-%s","user":%q,"text":"%d","ts":"1.%06d"}`, user, user, n, n))
}

func TestHandler_AnswersBeforeReceiving(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		connector, err := charlie.New(charlie.Config{FindChannel: findT1, Now: clock, Workers: 2, Backlog: 3})
		require.NoError(t, err)
		release := make(chan struct{})
		var mu sync.Mutex
		working, most, done := 0, 0, 0
		h := connector.Handler(func(context.Context, botctx.Inbound) error {
			mu.Lock()
			working++
			most = max(most, working)
			mu.Unlock()
			<-release
			mu.Lock()
			defer mu.Unlock()
			working--
			done++
			return nil
		})
		for i, user := range []string{"U1", "U2", "U3"} {
			require.Equal(t, http.StatusOK, ask(h, said(user, i)).Code)
		}
		synctest.Wait()
		require.Equal(t, 2, most, "no more than the workers at once")
		require.Equal(t, http.StatusServiceUnavailable, ask(h, said("U4", 4)).Code, "no more than the backlog waits")
		close(release)
		synctest.Wait()
		require.Equal(t, http.StatusOK, ask(h, said("U4", 4)).Code, "what was refused may come again")
		require.NoError(t, h.Shutdown(t.Context()))
		require.NoError(t, h.Shutdown(t.Context()), "again")
		require.Equal(t, 4, done)
	})
}

func TestHandler_OrderOfOneSender(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	heard := map[string][]string{}
	connector, err := charlie.New(charlie.Config{FindChannel: findT1, Now: clock, Workers: 8, Backlog: 5000})
	require.NoError(t, err)
	h := connector.Handler(func(_ context.Context, inbound botctx.Inbound) error {
		mu.Lock()
		defer mu.Unlock()
		heard[inbound.Event.From] = append(heard[inbound.Event.From], inbound.Event.Text())
		return nil
	})
	var all sync.WaitGroup
	for u := range 200 {
		all.Go(func() {
			for i := range 10 {
				if code := ask(h, said(fmt.Sprintf("U%d", u), i)).Code; code != http.StatusOK {
					t.Errorf("answered %d", code)
				}
			}
		})
	}
	all.Wait()
	require.NoError(t, h.Shutdown(t.Context()))
	require.Len(t, heard, 200)
	for user, texts := range heard {
		require.Equal(t, []string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}, texts, user)
	}
}

func TestShutdown_EndsWhatTakesTooLong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		connector, err := charlie.New(charlie.Config{FindChannel: findT1, Now: clock})
		require.NoError(t, err)
		var ended error
		h := connector.Handler(func(ctx context.Context, _ botctx.Inbound) error {
			<-ctx.Done()
			ended = ctx.Err()
			return ended
		})
		require.Equal(t, http.StatusOK, ask(h, said("U1", 1)).Code)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, h.Shutdown(ctx), context.DeadlineExceeded)
		synctest.Wait()
		require.ErrorIs(t, ended, context.Canceled)
	})
}

func TestHandler_ReportsFailures(t *testing.T) {
	t.Parallel()
	failed := errors.New("out of tea")
	var mu sync.Mutex
	told := map[string]error{}
	connector, err := charlie.New(charlie.Config{
		FindChannel: findT1, Now: clock,
		OnError: func(_ context.Context, inbound botctx.Inbound, err error) {
			mu.Lock()
			defer mu.Unlock()
			told[inbound.Event.From] = err
		},
	})
	require.NoError(t, err)
	h := connector.Handler(func(_ context.Context, inbound botctx.Inbound) error {
		if inbound.Event.From == "U2" {
			panic("no tea at all")
		}
		return failed
	})
	for _, user := range []string{"U1", "U2"} {
		require.Equal(t, http.StatusOK, ask(h, said(user, 1)).Code)
	}
	require.NoError(t, h.Shutdown(t.Context()))
	require.ErrorIs(t, told["U1"], failed)
	require.ErrorIs(t, told["U2"], boterr.Internal)
	require.ErrorContains(t, told["U2"], "no tea at all")
}
