package inbox_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/inbox"
	"github.com/botctx/go-sdk/store/memstore"
)

func TestHooks_SeeWhatComesOfEachAttempt(t *testing.T) {
	t.Parallel()
	failures := map[string]error{"ada": errors.New("try again"), "bob": boterr.Invalid("text", "too long")}
	config := configOf(t, memstore.New(), func(_ context.Context, d *inbox.Delivery) error {
		if d.Attempt > 1 {
			return nil
		}
		return failures[d.Event.From]
	})
	config.Backoff = func(int) time.Duration { return 0 }
	var told []string
	config.Hooks.Settled = func(_ context.Context, s inbox.Settled) {
		require.False(t, s.At.Before(s.AcceptedAt))
		told = append(told, fmt.Sprint(s.Event.From, " ", s.ID, " ", s.Attempt, " ", boterr.CodeOf(s.Err), " ", s.IsDead))
		panic("changes nothing")
	}
	b := newInbox(t, config)
	for _, from := range []string{"ada", "bob", "eve"} {
		_, err := b.Accept(t.Context(), inbox.Event{App: "app", Channel: "web", From: from, Key: from})
		require.NoError(t, err)
	}
	for range 4 {
		result, err := b.RunNext(t.Context())
		require.NoError(t, err)
		require.True(t, result.Ran)
	}
	id := func(from string) string { return fmt.Sprintf("inbox %q %q %s", "app", "web", from) }
	require.ElementsMatch(t, []string{
		"ada " + id("ada") + " 1 internal false", "ada " + id("ada") + " 2  false",
		"bob " + id("bob") + " 1 invalid argument true", "eve " + id("eve") + " 1  false",
	}, told)
}

func TestHooks_AroundAcceptAndTheHandlerShareATrace(t *testing.T) {
	t.Parallel()
	var handled, seen string
	config := configOf(t, memstore.New(), func(_ context.Context, d *inbox.Delivery) error {
		handled = d.Event.Trace
		return nil
	})
	config.Hooks.AroundAccept = func(next inbox.Acceptor) inbox.Acceptor {
		return func(ctx context.Context, e inbox.Event) (inbox.Accepted, error) {
			e.Trace = "trace-1"
			return next(ctx, e)
		}
	}
	config.Hooks.AroundHandler = func(next inbox.Handler) inbox.Handler {
		return func(ctx context.Context, d *inbox.Delivery) error {
			seen = d.Event.Trace
			return next(ctx, d)
		}
	}
	b := newInbox(t, config)
	_, err := b.Accept(t.Context(), inbox.Event{App: "app", Channel: "web", From: "ada"})
	require.NoError(t, err)
	_, err = b.RunNext(t.Context())
	require.NoError(t, err)
	require.Equal(t, "trace-1", seen)
	require.Equal(t, "trace-1", handled)
}

func TestNew_RefusesHooksThatGiveNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		hooks inbox.Hooks
		field string
		code  boterr.Code
	}{
		"no acceptor": {inbox.Hooks{AroundAccept: func(inbox.Acceptor) inbox.Acceptor { return nil }}, "hooks.aroundAccept", boterr.InvalidArgument},
		"no handler":  {inbox.Hooks{AroundHandler: func(inbox.Handler) inbox.Handler { return nil }}, "hooks.aroundHandler", boterr.InvalidArgument},
		"a panic":     {inbox.Hooks{AroundHandler: func(inbox.Handler) inbox.Handler { panic("broken") }}, "hooks.aroundHandler", boterr.Internal},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := configOf(t, memstore.New(), func(context.Context, *inbox.Delivery) error { return nil })
			config.Hooks = c.hooks
			b, err := inbox.New(config)
			require.Nil(t, b)
			failure, ok := boterr.AsError(err)
			require.True(t, ok)
			require.Equal(t, c.code, failure.Code)
			require.Equal(t, c.field, failure.Field)
		})
	}
}

// newInbox returns an inbox of a configuration.
func newInbox(t *testing.T, config inbox.Config) *inbox.Inbox {
	t.Helper()
	b, err := inbox.New(config)
	require.NoError(t, err)
	return b
}

// runKey is the key of a value that the context of Run has.
type runKey struct{}

func TestHooks_SettledIsToldInAContextWithTheValuesOfRunThatEndsByItself(t *testing.T) {
	t.Parallel()
	told := make(chan context.Context, 1)
	config := configOf(t, memstore.New(), func(context.Context, *inbox.Delivery) error { return nil })
	config.Hooks.Settled = func(ctx context.Context, _ inbox.Settled) { told <- ctx }
	b := newInbox(t, config)
	run, stop := context.WithCancel(context.WithValue(t.Context(), runKey{}, "of the host"))
	ended := make(chan error)
	go func() { ended <- b.Run(run) }()
	_, err := b.Accept(run, inbox.Event{App: "app", Channel: "web", From: "ada"})
	require.NoError(t, err)
	ctx := <-told
	stop()
	require.NoError(t, <-ended)
	require.Equal(t, "of the host", ctx.Value(runKey{}))
	_, ends := ctx.Deadline()
	require.True(t, ends, "a store that does not answer must not hold up a worker for ever")
	require.NoError(t, ctx.Err(), "the end of the run is not that of what is stored after it")
	derived, cancel := context.WithCancel(ctx)
	cancel()
	require.Error(t, derived.Err())
	require.NoError(t, ctx.Err())
}
