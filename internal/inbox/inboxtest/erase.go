package inboxtest

import (
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/inbox"
	"github.com/botctx/go-sdk/store"
)

var eraseRules = []Rule{
	{
		Name:  "EraseRemovesASender",
		Text:  "Erase removes what waits, what died and what is done of a sender on a channel, and nothing of others",
		check: eraseRemovesASender,
	},
	{
		Name:  "EraseBesideARun",
		Text:  "an event that is erased while it is handled leaves nothing, and its lane goes on",
		check: eraseBesideARun,
	},
}

// everything returns all that is stored, as text.
func (t *trial) everything() string {
	t.Helper()
	var text strings.Builder
	for _, name := range []string{"inbox", "turns", "inboxSeat"} {
		found, err := t.store.Collection(name).Find(t.Context(), nil, store.FindOptions{})
		require.NoError(t, err)
		for _, o := range found {
			text.WriteString(o.String() + "\n")
		}
	}
	return text.String()
}

// erase erases a sender of the channel "web", of whom there must be that many events.
func (t *trial) erase(by *inbox.Inbox, from string, events int) {
	t.Helper()
	removed, err := by.Erase(t.Context(), "app", "web", from)
	require.NoError(t, err)
	require.EqualValues(t, events, removed)
}

func eraseRemovesASender(t *trial) {
	refusing, p := t.process(bad), t.process(nil)
	onPage := event("ada", "on the page")
	onPage.Channel = "page"
	for _, round := range []struct {
		by   *inbox.Inbox
		text string
	}{{refusing, "discarded"}, {refusing, "dead"}, {p, "done"}, {nil, "waits"}} {
		t.accept(p, event("ada", round.text), event("bob", round.text))
		if round.by != nil {
			t.drain(round.by)
		}
		if round.text == "discarded" {
			for _, letter := range t.letters(p, inbox.DeadLettersParams{}) {
				require.NoError(t, p.Discard(t.Context(), letter.ID))
			}
		}
	}
	t.accept(p, onPage)
	t.erase(p, "ada", 4)
	t.erase(p, "ada", 0)
	require.NotContains(t, strings.ReplaceAll(t.everything(), onPage.Key, ""), `web\" \"ada`)
	letters := t.letters(p, inbox.DeadLettersParams{})
	require.Len(t, letters, 1)
	require.Equal(t, "bob", letters[0].Event.From)
	stats, err := p.Stats(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 2, stats.Pending)
	t.requireHandled("discarded", "discarded", "dead", "dead", "done", "done")
	t.drain(p)
	t.requireHandled("waits", "on the page")
	for _, text := range []string{"discarded", "dead", "done", "waits"} {
		t.repeat(p, event("bob", text))
		t.accept(p, event("ada", text)) // It is a new event.
	}
	_, err = p.Erase(t.Context(), "app", "web", "")
	require.Equal(t, boterr.InvalidArgument, boterr.CodeOf(err))
}

func eraseBesideARun(t *trial) {
	handler, began, goOn := frozen()
	p := t.process(handler)
	t.accept(p, event("ada", "1"), event("ada", "2"))
	wake := t.crash(p, began, goOn)
	t.erase(p, "ada", 2)
	_ = wake() // What came of it does not count.
	require.Empty(t, t.stored())
	t.requireHandled("1")
	t.accept(p, event("ada", "3"))
	t.drain(p)
	t.requireHandled("3")
}
