package inboxtest

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/inbox"
)

// shareRules are about workers, and who gets them.
var shareRules = []Rule{
	{
		Name:  "AppThatHangsHoldsUpNoOther",
		Text:  "however many runs of an app hang, events of another app are handled meanwhile",
		check: appThatHangsHoldsUpNoOther,
	},
	{
		Name:  "ChannelThatHangsHoldsUpNoOther",
		Text:  "however many runs of a channel hang, events of another channel of the app are handled meanwhile",
		check: channelThatHangsHoldsUpNoOther,
	},
	{
		Name:  "BacklogHoldsUpNoOther",
		Text:  "members take turns, however many events they have waiting: one more waits for a short turn of each, and one more",
		check: backlogHoldsUpNoOther,
	},
	{
		Name:  "RetryQueuesBehindFreshEvents",
		Text:  "a lane that becomes due for a retry queues behind those that are ready",
		check: retryQueuesBehindFreshEvents,
	},
	{
		Name:  "PendingCountsPerApp",
		Text:  "an app that has as many events waiting as it may have leaves the inbox open for others",
		check: pendingCountsPerApp,
	},
}

// patience is the longest that a rule waits for what must happen. It is only reached if the rule is broken.
const patience = time.Minute

// running runs an inbox whose events of hangs hang until the end. It returns where the texts of the others
// go, and what ends the Run.
func (t *trial) running(p func(inbox.Handler) *inbox.Inbox, hangs func(inbox.Event) bool) (handled <-chan string, end func()) {
	t.Helper()
	texts, release := make(chan string, 10_000), make(chan struct{})
	box := p(func(ctx context.Context, d *inbox.Delivery) error {
		if !hangs(d.Event) {
			texts <- textOf(d.Event)
			return nil
		}
		select {
		case <-release:
		case <-ctx.Done():
		}
		return ctx.Err()
	})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- box.Run(ctx) }()
	return texts, sync.OnceFunc(func() {
		stop()
		close(release)
		require.NoError(t, <-ended)
	})
}

// await returns the next of the texts.
func (t *trial) await(texts <-chan string) string {
	t.Helper()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case text := <-texts:
		return text
	case <-timer.C:
		require.Fail(t, "nothing was handled")
		return ""
	}
}

// hanging runs an inbox in which events of one place hang, and expects those of another one to be handled.
func (t *trial) hanging(members int, hangs, goesOn inbox.Event) {
	t.Helper()
	var p *inbox.Inbox
	handled, end := t.running(func(h inbox.Handler) *inbox.Inbox {
		p = t.process(h, func(c *inbox.Config) { c.Poll = 5 * time.Millisecond })
		return p
	}, func(e inbox.Event) bool { return e.App == hangs.App && e.Channel == hangs.Channel })
	defer end()
	for i := range members {
		hangs.From, hangs.Key = strconv.Itoa(i), fmt.Sprint(members, " ", i)
		t.accept(p, hangs)
	}
	for i := range 3 {
		text := fmt.Sprint("hi ", i)
		goesOn.From, goesOn.Key, goesOn.Body = strconv.Itoa(i), fmt.Sprint(members, " ", text), document.O("text", text)
		t.accept(p, goesOn)
		require.Equal(t, text, t.await(handled))
	}
}

func appThatHangsHoldsUpNoOther(t *trial) {
	for _, members := range []int{16, 64, 1000} {
		t.hanging(members, inbox.Event{App: fmt.Sprint("hung ", members), Channel: "web"}, inbox.Event{App: "app", Channel: "web"})
		require.NoError(t, t.forget())
	}
}

func channelThatHangsHoldsUpNoOther(t *trial) {
	for _, members := range []int{16, 64, 1000} {
		t.hanging(members, inbox.Event{App: "app", Channel: fmt.Sprint("hung ", members)}, inbox.Event{App: "app", Channel: "web"})
		require.NoError(t, t.forget())
	}
}

// forget removes all events and turns.
func (t *trial) forget() error {
	for _, collection := range []string{"inbox", "turns", "inboxSeat"} {
		if err := t.removeAll(collection); err != nil {
			return err
		}
	}
	return nil
}

func backlogHoldsUpNoOther(t *trial) {
	const shortTurn = 16
	for _, c := range []struct{ members, backlog int }{{1, 65}, {1, 1000}, {2, 65}, {16, 65}} {
		require.LessOrEqual(t, t.handledBefore(c.members, c.backlog), (c.members+1)*shortTurn, "%+v", c)
	}
}

// handledBefore has members with backlogs, and then one without, and returns how many events one worker
// handles before the event of that one.
func (t *trial) handledBefore(members, backlog int) (before int) {
	t.Helper()
	setting := func(c *inbox.Config) { c.Workers, c.Poll = 1, 5*time.Millisecond }
	accepting := t.process(nil, setting)
	for i := range backlog {
		for m := range members {
			t.accept(accepting, event(fmt.Sprint(members, " ", backlog, " ", m), strconv.Itoa(i)))
		}
	}
	last := fmt.Sprint("hi after ", members, " ", backlog)
	t.accept(accepting, event("other", last))
	handled, end := t.running(func(h inbox.Handler) *inbox.Inbox { return t.process(h, setting) },
		func(inbox.Event) bool { return false })
	defer end()
	for t.await(handled) != last {
		before++
	}
	end()
	require.NoError(t, t.forget())
	return before
}

func retryQueuesBehindFreshEvents(t *trial) {
	p := t.process(func(_ context.Context, d *inbox.Delivery) error {
		if d.Event.From == "ada" && d.Attempt == 1 {
			return boterr.New(boterr.Unavailable, "", "no answer")
		}
		return nil
	})
	t.accept(p, event("ada", "1"))
	t.runNext(p)
	t.accept(p, event("bob", "2"))
	t.advance(time.Minute)
	t.accept(p, event("cleo", "3"))
	t.drain(p)
	if t.rule.isAlone { // Another order is allowed to processes that share a store: they look by themselves.
		t.requireHandled("1", "2", "3", "1")
	}
}

func pendingCountsPerApp(t *trial) {
	p := t.process(nil, func(c *inbox.Config) { c.MaxPending = 2 })
	greedy := func(i int) inbox.Event {
		return inbox.Event{App: "greedy", Channel: "web", From: "ada", Key: strconv.Itoa(i), Body: document.O("text", "x")}
	}
	t.accept(p, greedy(0), greedy(1))
	_, err := p.Accept(t.Context(), greedy(2))
	require.Equal(t, boterr.ResourceExhausted, boterr.CodeOf(err))
	t.accept(p, event("ada", "1"), event("bob", "2"))
	stats, err := p.Stats(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 4, stats.Pending)
	other := t.process(nil, func(c *inbox.Config) { c.MaxPending = 2 })
	_, err = other.Accept(t.Context(), greedy(3))
	require.Equal(t, boterr.ResourceExhausted, boterr.CodeOf(err), "another process counts the same events")
}
