package inboxtest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/inbox"
	"github.com/botctx/go-sdk/internal/record"
)

var failureRules = []Rule{
	rule(failureIsTriedAgainAfterAPause, "a failed event is tried again after growing pauses, and its lane waits"),
	rule(pauseIsAsLongAsWasAskedFor, "a failed event waits for as long as its error asks, if that is longer than the pause"),
	rule(mistakeIsNotTriedAgain, "an event becomes a dead letter at once if the code of its error means that another attempt cannot help"),
	rule(panicIsAFailure, "a panic of the handler, and the end of its goroutine, are failures"),
	rule(endOfTheContextIsNoFailure, "if the run of an event is canceled, that is not an attempt, and the event is handled again at once"),
	rule(memoryLastsUntilDone, "the next attempt, in any process, recalls what an attempt remembered, until the event is done"),
	rule(notesAreStoredWithTheNextMemory,
		"a value that an attempt notes becomes durable with the next value that it remembers, or with its failure if another attempt follows"),
	rule(newerMemoryReplacesNotes, "a value that an attempt remembers replaces the one that an earlier attempt noted"),
	rule(memoryHasABound, "all attempts of an event together remember at most MaxRemembered values with MaxRememberedSize bytes"),
	rule(postponedIsNoFailure, "a postponed event is handled after the pause, its lane waits, and that is not a failure"),
}

func unavailable(context.Context, *inbox.Delivery) error {
	return boterr.New(boterr.Unavailable, "", "no answer")
}

func failureIsTriedAgainAfterAPause(t *trial) {
	p := t.process(unavailable)
	began := t.Now()
	t.accept(p, event("ada", "1"), event("ada", "2"))
	var after []time.Duration
	for range 5 {
		result := t.runNext(p)
		require.Equal(t, boterr.Unavailable, boterr.CodeOf(result.Err))
		require.Equal(t, "1", textOf(result.Event))
		t.requireHandled("1")
		if result.IsDead {
			break
		}
		at, ok, err := p.Next(t.Context())
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, result.Next, at)
		after = append(after, at.Sub(began))
		t.advance(at.Sub(t.Now()) - time.Millisecond)
		t.drain(p)
		t.requireHandled()
		t.advance(time.Millisecond)
	}
	require.Equal(t, []time.Duration{time.Second, 5 * time.Second, 21 * time.Second, 81 * time.Second}, after)
	require.Equal(t, "2", textOf(t.runNext(p).Event), "the lane goes on after the dead letter")
}

// busyPlatformError is a failure with a requested pause.
type busyPlatformError struct{ error }

func (busyPlatformError) RetryAfter() time.Duration { return 10 * time.Minute }

func pauseIsAsLongAsWasAskedFor(t *trial) {
	p := t.process(func(context.Context, *inbox.Delivery) error {
		return boterr.New(boterr.ResourceExhausted, "", "too many messages: %w", busyPlatformError{errors.New("busy")})
	})
	t.accept(p, event("ada", "1"))
	require.Equal(t, t.Now().Add(10*time.Minute), t.runNext(p).Next)
}

func mistakeIsNotTriedAgain(t *trial) {
	for _, code := range boterr.Codes() {
		mistake := boterr.New(code, "", "something")
		p := t.process(func(context.Context, *inbox.Delivery) error { return mistake })
		t.accept(p, event(string(code), "1"))
		require.Equal(t, record.IsPermanent(mistake), t.runNext(p).IsDead, "%s", code)
	}
}

func panicIsAFailure(t *trial) {
	t.accept(t.process(nil), event("ada", "1"))
	for _, handler := range []inbox.Handler{
		func(context.Context, *inbox.Delivery) error { panic("at the disco") },
		func(context.Context, *inbox.Delivery) error { return (*busyPlatformError)(nil) }, // Its methods panic.
	} {
		result := t.runNext(t.process(handler))
		require.Equal(t, boterr.Internal, boterr.CodeOf(result.Err))
		require.False(t, result.IsDead)
		t.advance(time.Minute)
	}
	ending := t.process(func(context.Context, *inbox.Delivery) error {
		runtime.Goexit()
		return nil
	})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = ending.RunNext(t.Context())
	}()
	<-ended
	attempt := 0
	t.advance(time.Minute)
	t.drain(t.process(func(_ context.Context, d *inbox.Delivery) error {
		attempt = d.Attempt
		return nil
	}))
	require.Equal(t, 4, attempt)
}

func endOfTheContextIsNoFailure(t *trial) {
	ctx, stop := context.WithCancel(t.Context())
	p := t.process(func(ctx context.Context, _ *inbox.Delivery) error {
		stop()
		return ctx.Err()
	})
	t.accept(p, event("ada", "1"))
	_, err := p.RunNext(ctx)
	require.NoError(t, err)
	attempt := 0
	t.drain(t.process(func(_ context.Context, d *inbox.Delivery) error {
		attempt = d.Attempt
		return nil
	}))
	require.Equal(t, 1, attempt)
}

func memoryLastsUntilDone(t *trial) {
	value := document.O("id", "m1", "at", 7)
	first := t.process(func(ctx context.Context, d *inbox.Delivery) error {
		_, isKnown := d.Recall("send 1")
		require.False(t, isKnown)
		require.NoError(t, d.Remember(ctx, "send 1", value))
		return boterr.New(boterr.Unavailable, "", "no answer")
	})
	t.accept(first, event("ada", "1"))
	t.runNext(first)
	t.advance(time.Second)
	second := t.process(func(_ context.Context, d *inbox.Delivery) error {
		noted, isKnown := d.Recall("send 1")
		require.True(t, isKnown)
		require.Equal(t, value.String(), noted.String())
		_, isKnown = d.Recall("send 2")
		require.False(t, isKnown)
		return nil
	})
	require.NoError(t, t.runNext(second).Err)
	require.NotContains(t, strings.Join(t.stored(), "\n"), "m1", "what is done keeps no memory")
}

func notesAreStoredWithTheNextMemory(t *trial) {
	note := func(d *inbox.Delivery, key string) { require.NoError(t, d.Note(key, document.O("of", key))) }
	attempts := 0
	p := t.process(func(ctx context.Context, d *inbox.Delivery) error {
		var known []string
		for _, key := range []string{"noted", "remembered", "late"} {
			if value, isKnown := d.Recall(key); isKnown {
				require.Equal(t, key, document.Get(value, "of", ""))
				known = append(known, key)
			}
		}
		attempts++
		require.Equal(t, [][]string{nil, {"noted"}, {"noted", "remembered", "late"}, {"noted", "remembered"}}[attempts-1], known)
		if attempts == 1 {
			note(d, "noted")
		}
		if attempts == 2 {
			require.NoError(t, d.Remember(ctx, "remembered", document.O("of", "remembered")))
			note(d, "late")
		}
		return boterr.New(boterr.Unavailable, "", "no answer")
	}, func(c *inbox.Config) { c.Limit = 3 })
	t.accept(p, event("ada", "1"))
	for range 3 {
		require.Error(t, t.runNext(p).Err)
		t.advance(10 * time.Second)
	}
	require.NoError(t, p.Retry(t.Context(), t.letters(p, inbox.DeadLettersParams{})[0].ID))
	require.Error(t, t.runNext(p).Err)
}

func newerMemoryReplacesNotes(t *trial) {
	ctx, stop := context.WithCancel(t.Context())
	attempts := 0
	p := t.process(func(ctx context.Context, d *inbox.Delivery) error {
		attempts++
		known, _ := d.Recall("choice")
		require.Equal(t, []int{0, 1, 2}[attempts-1], document.Get(known, "of", 0))
		switch attempts {
		case 1:
			require.NoError(t, d.Note("choice", document.O("of", 1)))
			return boterr.New(boterr.Unavailable, "", "no answer")
		case 2:
			require.NoError(t, d.Remember(ctx, "choice", document.O("of", 2)))
			stop()
			return ctx.Err()
		default:
			return nil
		}
	})
	t.accept(p, event("ada", "1"))
	require.Error(t, t.runNext(p).Err)
	t.advance(10 * time.Second)
	_, err := p.RunNext(ctx)
	require.NoError(t, err)
	require.NoError(t, t.runNext(p).Err)
	require.Equal(t, 3, attempts)
}

func postponedIsNoFailure(t *trial) {
	isBusy := true
	handle := func(_ context.Context, d *inbox.Delivery) error {
		require.Equal(t, 1, d.Attempt)
		if isBusy {
			return fmt.Errorf("writing to the member: %w", inbox.Postpone(time.Minute))
		}
		return nil
	}
	once := func(c *inbox.Config) { c.Limit = 1 }
	p := t.process(handle, once)
	t.accept(p, event("ada", "1"), event("ada", "2"))
	for range 3 {
		result := t.runNext(p)
		require.NoError(t, result.Err)
		require.True(t, result.IsPostponed)
		require.Equal(t, t.Now().Add(time.Minute), result.Next)
		t.advance(time.Minute - time.Millisecond)
		t.drain(p)
		t.advance(time.Millisecond)
	}
	isBusy = false
	t.drain(t.process(handle, once))
	t.requireHandled("1", "1", "1", "1", "2")
}

func memoryHasABound(t *trial) {
	half := document.O("text", strings.Repeat("a", inbox.MaxRememberedSize/2))
	p := t.process(func(ctx context.Context, d *inbox.Delivery) error {
		if d.Attempt == 1 {
			require.NoError(t, d.Remember(ctx, "first", half))
		} else {
			require.Equal(t, boterr.ResourceExhausted, boterr.CodeOf(d.Remember(ctx, "second", half)))
			_, isKnown := d.Recall("second")
			require.False(t, isKnown)
		}
		return boterr.New(boterr.Unavailable, "", "no answer")
	})
	t.accept(p, event("ada", "1"))
	t.runNext(p)
	t.advance(time.Second)
	t.runNext(p)
}

var deadLetterRules = []Rule{
	rule(deadLettersAreListed, "dead letters are listed in the order of acceptance, by app and channel, with their last error"),
	rule(deadLettersComeInPages, "an app's dead letters can be read in pages after and before each of them, even if that one was removed"),
	rule(deadLettersRefuseOddPages, "an invalid cursor, and params that contradict each other, are InvalidArgument"),
	rule(deadLetterShowsNoCredential, "the error of a dead letter shows no credential"),
	rule(retriedDeadLetterIsHandled, "a retried dead letter is the next event of its lane, with the full number of attempts"),
	rule(discardedDeadLetterIsGone, "a discarded dead letter is not handled, nor are repetitions of it"),
	rule(deadLetterIsRemovedAfterDeadRetention, "a dead letter is kept for DeadRetention and not longer, or forever if that is negative"),
}

// bad fails for every event with an error that makes it a dead letter.
func bad(context.Context, *inbox.Delivery) error { return boterr.Invalid("text", "is bad") }

func (t *trial) letters(by *inbox.Inbox, p inbox.DeadLettersParams) []inbox.DeadLetter {
	t.Helper()
	found, err := by.DeadLetters(t.Context(), p)
	require.NoError(t, err)
	return found
}

func deadLettersAreListed(t *trial) {
	p := t.process(bad)
	onPage := event("cleo", "3")
	onPage.Channel = "page"
	accepted := t.Now()
	t.accept(p, event("ada", "1"), event("bob", "2"), onPage)
	t.advance(time.Minute)
	t.drain(p)
	all := t.letters(p, inbox.DeadLettersParams{})
	require.Len(t, all, 3)
	require.Equal(t, inbox.DeadLetter{
		ID: all[0].ID, Event: event("ada", "1"), AcceptedAt: accepted, DiedAt: t.Now(), Failures: 1,
		Code: boterr.InvalidArgument, Error: "invalid argument: text: is bad",
	}, all[0])
	require.Equal(t, all[2:], t.letters(p, inbox.DeadLettersParams{App: "app", Channel: "page"}))
	require.Equal(t, all[:1], t.letters(p, inbox.DeadLettersParams{Limit: 1}))
	require.Empty(t, t.letters(p, inbox.DeadLettersParams{App: "another"}))
	require.Equal(t, all[1:2], t.letters(p, inbox.DeadLettersParams{ID: all[1].ID}))
	require.Equal(t, all[1:2], t.letters(p, inbox.DeadLettersParams{App: "app", ID: all[1].ID}))
	require.Empty(t, t.letters(p, inbox.DeadLettersParams{App: "another", ID: all[1].ID}))
	one, err := p.DeadLetter(t.Context(), all[1].ID)
	require.NoError(t, err)
	require.Equal(t, all[1], one)
	_, err = p.DeadLetter(t.Context(), "none")
	require.Equal(t, boterr.NotFound, boterr.CodeOf(err))
}

func deadLettersComeInPages(t *trial) {
	p := t.process(bad)
	for i := range 5 {
		other := event("zoe", strconv.Itoa(i))
		other.App = "app2"
		t.accept(p, event("ada", strconv.Itoa(i)), event("bob", strconv.Itoa(i)), other)
		t.advance(time.Minute)
	}
	t.drain(p)
	all := t.letters(p, inbox.DeadLettersParams{App: "app"})
	require.Len(t, all, 10)
	for i, one := range all[1:] {
		require.LessOrEqual(t, all[i].AcceptedAt.Compare(one.AcceptedAt), 0)
	}
	for limit := range 4 {
		for i, one := range all {
			at := inbox.Cursor(one.AcceptedAt, one.ID)
			end, begin := len(all), 0
			if limit > 0 {
				end, begin = min(end, i+1+limit), max(begin, i-limit)
			}
			require.Equal(t, all[i+1:end], t.letters(p, inbox.DeadLettersParams{App: "app", After: at, Limit: limit}))
			require.Equal(t, all[begin:i], t.letters(p, inbox.DeadLettersParams{App: "app", Before: at, Limit: limit}))
		}
	}
	require.NoError(t, p.Discard(t.Context(), all[4].ID))
	require.NoError(t, p.Retry(t.Context(), all[5].ID))
	require.Equal(t, all[6:8], t.letters(p, inbox.DeadLettersParams{App: "app", After: inbox.Cursor(all[4].AcceptedAt, all[4].ID), Limit: 2}))
	require.Equal(t, all[2:4], t.letters(p, inbox.DeadLettersParams{App: "app", Before: inbox.Cursor(all[5].AcceptedAt, all[5].ID), Limit: 2}))
}

func deadLettersRefuseOddPages(t *trial) {
	p := t.process(bad)
	for _, odd := range []string{"x", ".", "1", "1.", ".1", "1e3.a", "99999999999999999999.a", "1.\xff", "1." + strings.Repeat("a", 2000)} {
		_, err := p.DeadLetters(t.Context(), inbox.DeadLettersParams{App: "app", After: odd})
		require.Equal(t, boterr.InvalidArgument, boterr.CodeOf(err), odd)
		_, err = p.DeadLetters(t.Context(), inbox.DeadLettersParams{App: "app", Before: odd})
		require.Equal(t, boterr.InvalidArgument, boterr.CodeOf(err), odd)
	}
	for _, odd := range []inbox.DeadLettersParams{
		{After: "1.a"}, {Before: "1.a"}, {App: "app", Limit: -1}, {App: "app", After: "1.a", Before: "1.a"},
	} {
		_, err := p.DeadLetters(t.Context(), odd)
		require.Equal(t, boterr.InvalidArgument, boterr.CodeOf(err), odd)
	}
	require.Empty(t, t.letters(p, inbox.DeadLettersParams{App: "app", After: "-9223372036854775808.\x00"}))
}

func deadLetterShowsNoCredential(t *trial) {
	p := t.process(func(context.Context, *inbox.Delivery) error {
		return boterr.New(boterr.InvalidArgument, "", "refused: access_token=abcdefgh12345678")
	})
	t.accept(p, event("ada", "1"))
	t.drain(p)
	require.NotContains(t, t.letters(p, inbox.DeadLettersParams{})[0].Error, "abcdefgh12345678")
}

func retriedDeadLetterIsHandled(t *trial) {
	p := t.process(bad)
	t.accept(p, event("ada", "1"), event("bob", "2"))
	t.drain(p)
	t.requireHandled("1", "2")
	t.accept(p, event("ada", "3"))
	id := t.letters(p, inbox.DeadLettersParams{})[0].ID
	require.NoError(t, p.Retry(t.Context(), id))
	require.Equal(t, boterr.NotFound, boterr.CodeOf(p.Retry(t.Context(), id)))
	attempts := []int{}
	t.drain(t.process(func(_ context.Context, d *inbox.Delivery) error {
		attempts = append(attempts, d.Attempt)
		return nil
	}))
	t.requireHandled("1", "3")
	require.Equal(t, []int{1, 1}, attempts)
	t.repeat(p, event("ada", "1"))
	t.drain(p)
	t.requireHandled()
}

func discardedDeadLetterIsGone(t *trial) {
	p := t.process(bad)
	t.accept(p, event("ada", "1"), event("bob", "2"))
	t.drain(p)
	t.requireHandled("1", "2")
	id := t.letters(p, inbox.DeadLettersParams{})[0].ID
	require.NoError(t, p.Discard(t.Context(), id))
	require.Equal(t, boterr.NotFound, boterr.CodeOf(p.Discard(t.Context(), id)))
	require.Equal(t, boterr.NotFound, boterr.CodeOf(p.Retry(t.Context(), id)))
	require.Len(t, t.letters(p, inbox.DeadLettersParams{}), 1)
	t.repeat(p, event("ada", "1"))
	t.drain(p)
	t.requireHandled()
}

func deadLetterIsRemovedAfterDeadRetention(t *trial) {
	const day = 24 * time.Hour
	p := t.process(bad, func(c *inbox.Config) { c.DeadRetention = day })
	t.accept(p, event("ada", "1"))
	t.drain(p)
	t.advance(time.Hour)
	t.accept(p, event("bob", "2"))
	t.drain(p)
	t.requireHandled("1", "2")
	removeOld := func(by *inbox.Inbox, removed int) {
		t.Helper()
		count, err := by.RemoveOld(t.Context())
		require.NoError(t, err)
		require.EqualValues(t, removed, count)
	}
	t.advance(day - time.Hour)
	removeOld(p, 0)
	t.advance(time.Millisecond)
	removeOld(t.process(nil, func(c *inbox.Config) { c.DeadRetention = -1 }), 0)
	removeOld(t.process(nil), 0) // The default of DeadRetention is longer.
	removeOld(p, 1)
	letters := t.letters(p, inbox.DeadLettersParams{})
	require.Len(t, letters, 1)
	require.Equal(t, "2", textOf(letters[0].Event))
	t.accept(p, event("ada", "1")) // The inbox no longer knows the event, so it counts as new.
	t.drain(p)
	t.requireHandled("1")
}
