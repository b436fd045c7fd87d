package inboxtest

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/inbox"
)

var deadLetterRules = []Rule{
	{
		Name:  "DeadLettersAreListed",
		Text:  "dead letters are listed in the order of acceptance, by app and channel, with their last error",
		check: deadLettersAreListed,
	},
	{
		Name:  "DeadLettersComeInPages",
		Text:  "dead letters of an app come in pages behind and ahead of each of them, also of one that is gone",
		check: deadLettersComeInPages,
	},
	{
		Name:  "DeadLettersRefuseOddPages",
		Text:  "a cursor that is none, and params that contradict each other, are InvalidArgument",
		check: deadLettersRefuseOddPages,
	},
	{
		Name:  "DeadLetterShowsNoCredential",
		Text:  "the error of a dead letter shows no credential",
		check: deadLetterShowsNoCredential,
	},
	{
		Name:  "RetriedDeadLetterIsHandled",
		Text:  "a dead letter that is retried is the next event of its lane, with all its attempts",
		check: retriedDeadLetterIsHandled,
	},
	{
		Name:  "DiscardedDeadLetterIsGone",
		Text:  "a dead letter that is discarded is not handled, nor is a repetition of it",
		check: discardedDeadLetterIsGone,
	},
	{
		Name:  "DeadLetterIsRemovedAfterDeadRetention",
		Text:  "a dead letter is kept for DeadRetention, and not longer; for ever if that is negative",
		check: deadLetterIsRemovedAfterDeadRetention,
	},
}

// bad refuses every event.
func bad(context.Context, *inbox.Delivery) error { return boterr.Invalid("text", "is bad") }

// letters returns the dead letters.
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
			end, begin := len(all), 0
			if limit > 0 {
				end, begin = min(end, i+1+limit), max(begin, i-limit)
			}
			require.Equal(t, all[i+1:end], t.letters(p, inbox.DeadLettersParams{App: "app", After: one.Cursor(), Limit: limit}))
			require.Equal(t, all[begin:i], t.letters(p, inbox.DeadLettersParams{App: "app", Before: one.Cursor(), Limit: limit}))
		}
	}
	require.NoError(t, p.Discard(t.Context(), all[4].ID))
	require.NoError(t, p.Retry(t.Context(), all[5].ID))
	require.Equal(t, all[6:8], t.letters(p, inbox.DeadLettersParams{App: "app", After: all[4].Cursor(), Limit: 2}))
	require.Equal(t, all[2:4], t.letters(p, inbox.DeadLettersParams{App: "app", Before: all[5].Cursor(), Limit: 2}))
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
	removeOld(t.process(nil), 0) // The default is longer.
	removeOld(p, 1)
	letters := t.letters(p, inbox.DeadLettersParams{})
	require.Len(t, letters, 1)
	require.Equal(t, "2", textOf(letters[0].Event))
	t.accept(p, event("ada", "1")) // It is a new event.
	t.drain(p)
	t.requireHandled("1")
}
