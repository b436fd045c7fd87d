package inboxtest

import (
	"context"
	"fmt"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/inbox"
	"github.com/botctx/go-sdk/store/query"
)

// atOnceRules are about events that begin with their acceptance, without another write.
var atOnceRules = []Rule{
	{
		Name:  "StartWithTheAcceptanceThatNeverCameBackIsAFailure",
		Text:  "an event that began with its acceptance and never came back has failed once",
		check: startWithTheAcceptanceIsBlamed,
	},
	{
		Name:  "StartWithTheAcceptanceIsGivenBack",
		Text:  "an event that began with its acceptance, and whose run was ended from outside, was not tried",
		check: startWithTheAcceptanceIsGivenBack,
	},
	{
		Name:  "FailureOfAStartWithTheAcceptanceCountsOnce",
		Text:  "an event that began with its acceptance and failed has failed once, also where its process is lost later",
		check: failureOfAStartWithTheAcceptanceCountsOnce,
	},
}

// atOnce runs an inbox, and accepts events until one begins with its acceptance: how that one ends is for
// the handler. It returns what ends the Run.
func (t *trial) atOnce(handle inbox.Handler, settings ...func(*inbox.Config)) (end func()) {
	t.Helper()
	began := make(chan bool)
	p := t.process(func(ctx context.Context, d *inbox.Delivery) error {
		isAtOnce := t.isAtOnce(ctx, d.ID)
		began <- isAtOnce
		if isAtOnce {
			return handle(ctx, d)
		}
		return nil
	}, settings...)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- p.Run(ctx) }()
	isAtOnce := false
	for i := 0; !isAtOnce && i < 100; i++ {
		t.accept(p, event(fmt.Sprintf("sender %d", i), "hi"))
		isAtOnce = <-began
	}
	require.True(t, isAtOnce, "with idle workers, no event began with its acceptance")
	return func() {
		stop()
		require.NoError(t, <-ended)
	}
}

// isAtOnce reports whether the document of an event says that it began with its acceptance.
func (t *trial) isAtOnce(ctx context.Context, id string) bool {
	filter, err := query.CompileFilter(document.O(document.IDField, id, "begun", true))
	if err != nil {
		return false
	}
	count, err := t.store.Collection("inbox").Count(ctx, filter)
	return err == nil && count > 0
}

// attemptsOf returns an inbox that notes the attempts.
func (t *trial) attemptsOf(attempts *[]int) *inbox.Inbox {
	return t.process(func(_ context.Context, d *inbox.Delivery) error {
		*attempts = append(*attempts, d.Attempt)
		return nil
	})
}

func startWithTheAcceptanceIsBlamed(t *trial) {
	goOn := make(chan struct{})
	end := t.atOnce(func(context.Context, *inbox.Delivery) error {
		<-goOn
		return nil
	})
	var attempts []int
	next := t.attemptsOf(&attempts)
	t.drain(next)
	require.Empty(t, attempts, "it is tried again after a pause")
	t.advance(time.Second)
	t.drain(next)
	require.Equal(t, []int{2}, attempts)
	close(goOn)
	end()
	t.drainAll(next)
	require.Equal(t, []int{2}, attempts)
}

func startWithTheAcceptanceIsGivenBack(t *trial) {
	end := t.atOnce(func(ctx context.Context, _ *inbox.Delivery) error {
		<-ctx.Done()
		return ctx.Err()
	}, func(c *inbox.Config) { c.ShutdownTimeout = time.Millisecond })
	end()
	var attempts []int
	t.drain(t.attemptsOf(&attempts))
	require.Equal(t, []int{1}, attempts)
}

func failureOfAStartWithTheAcceptanceCountsOnce(t *trial) {
	settled := make(chan struct{}, 1000)
	end := t.atOnce(unavailable, func(c *inbox.Config) {
		c.Hooks.Settled = func(_ context.Context, s inbox.Settled) {
			if s.Err != nil {
				settled <- struct{}{}
			}
		}
	})
	<-settled
	var attempts []int
	next := t.attemptsOf(&attempts) // While the first one still has the seat, as where that was lost.
	t.drain(next)
	t.advance(time.Second)
	t.drain(next)
	require.Equal(t, []int{2}, attempts)
	end()
}
