package charlie_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
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

// taking returns the handler of a connector for the workspace T1, and the failures that the host is
// told, by sender.
func taking(t *testing.T, accept func(context.Context, botctx.Inbound) error) (handler http.Handler, failures map[string]error) {
	t.Helper()
	failures = map[string]error{}
	connector, err := charlie.New(charlie.Config{
		FindChannel: findT1, Now: clock,
		OnError: func(_ context.Context, inbound botctx.Inbound, err error) { failures[inbound.Event.From] = err },
	})
	require.NoError(t, err)
	return connector.Handler(accept), failures
}

func TestHandler_AnswersWhenItIsAccepted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		kept := make(chan struct{})
		h, _ := taking(t, func(context.Context, botctx.Inbound) error {
			<-kept
			return nil
		})
		answers := make(chan int, 1)
		go func() { answers <- ask(h, said("U1", 1)).Code }()
		synctest.Wait()
		require.Empty(t, answers, "nothing is kept yet")
		close(kept)
		require.Equal(t, http.StatusOK, <-answers)
	})
}

func TestHandler_GoesOnWhenTheToolHangsUp(t *testing.T) {
	t.Parallel()
	ctx, hangUp := context.WithCancel(t.Context())
	h, _ := taking(t, func(ctx context.Context, _ botctx.Inbound) error {
		hangUp()
		return ctx.Err()
	})
	require.Equal(t, http.StatusOK, ask(h, said("U1", 1).WithContext(ctx)).Code)
}

func TestHandler_StatusOfWhatIsNotAccepted(t *testing.T) {
	t.Parallel()
	for _, code := range boterr.Codes() {
		failure := boterr.New(code, "hidden", "hidden")
		h, failures := taking(t, func(context.Context, botctx.Inbound) error { return failure })
		answer := ask(h, said("U1", 1))
		require.Equal(t, botctx.HTTPStatus(failure), answer.Code, code)
		require.Equal(t, answer.Code == http.StatusServiceUnavailable, answer.Header().Get("Retry-After") != "", code)
		require.NotContains(t, answer.Body.String(), "hidden")
		require.ErrorIs(t, failures["U1"], code)
	}
}

func TestHandler_AcceptThatPanics(t *testing.T) {
	t.Parallel()
	h, failures := taking(t, func(context.Context, botctx.Inbound) error { panic("no tea at all") })
	require.Equal(t, http.StatusInternalServerError, ask(h, said("U2", 1)).Code)
	require.ErrorIs(t, failures["U2"], boterr.Internal)
	require.ErrorContains(t, failures["U2"], "no tea at all")
}

// The second of two taps in one request is refused: the tool sends both again.
func TestHandler_PartOfARequestIsRefused(t *testing.T) {
	t.Parallel()
	var keys []string
	h, _ := taking(t, func(_ context.Context, arrived botctx.Inbound) error {
		keys = append(keys, arrived.Key)
		if len(keys) == 2 {
			return errors.New("the store is gone")
		}
		return nil
	})
	const both = `[{"action_id":"a","value":"1","action_ts":"1.5"},{"action_id":"b","value":"2","action_ts":"1.5"}]`
	require.Equal(t, http.StatusInternalServerError, ask(h, tapped(both)).Code)
	require.Equal(t, http.StatusOK, ask(h, tapped(both)).Code)
	require.Len(t, keys, 4)
	require.Equal(t, keys[:2], keys[2:], "the first is known by its key")
}

func TestRuntime_OrderOfEachSender(t *testing.T) {
	t.Parallel()
	const senders, messages = 50, 10
	host := newHost(t)
	var mu sync.Mutex
	heard := map[string][]string{}
	host.runtime.HandleFunc(func(_ context.Context, bot *botctx.Context) error {
		mu.Lock()
		defer mu.Unlock()
		heard[bot.Member.ExternalID] = append(heard[bot.Member.ExternalID], bot.MessageEvent.Text())
		return nil
	})
	h := host.connector.Handler(host.runtime.Accept)
	running, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- host.runtime.Run(running) }()
	var all sync.WaitGroup
	for u := range senders {
		all.Go(func() {
			for i := range messages {
				if code := ask(h, said(fmt.Sprintf("U%d", u), i)).Code; code != http.StatusOK {
					t.Errorf("answered %d", code)
				}
			}
		})
	}
	all.Wait()
	require.Eventually(t, func() bool {
		waiting, err := host.runtime.Inbox().Stats(t.Context())
		return err == nil && waiting.Pending == 0
	}, time.Minute, time.Millisecond)
	stop()
	require.NoError(t, <-ended)
	require.Len(t, heard, senders)
	for user, texts := range heard {
		require.Len(t, texts, messages, user)
		for i, text := range texts {
			require.Equal(t, strconv.Itoa(i), text, user)
		}
	}
}
