package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
)

const reminder = "I still hold a table for 4 at 19:30: yes or no?"

// newGuest returns a guest of the bot on a platform in memory.
func newGuest(t *testing.T) (*fakes.Platform, *fakes.Actor) {
	t.Helper()
	p := fakes.New(fakes.For(t))
	p.Handle(bistro{remindAfter: 15 * time.Minute}.nodes()...)
	ada := p.AddMember(member.Member{FirstName: "Ada"})
	return p, ada
}

func TestBot_RemindsOnce(t *testing.T) {
	t.Parallel()
	p, ada := newGuest(t)
	ada.Says("a table for 2 at 18:00")
	p.Advance(10 * time.Minute)
	ada.Says("a table for 4 at 19:30, sorry")
	p.Advance(14 * time.Minute)
	require.Equal(t, held, ada.Last())
	p.Advance(time.Minute)
	require.Equal(t, reminder, ada.Last())
	ada.Says("hm")
	p.Advance(time.Hour)
	require.NotEqual(t, reminder, ada.Last())
}

func TestBot_ConfirmedIsNoted(t *testing.T) {
	t.Parallel()
	p, ada := newGuest(t)
	ada.Says("a table for 4 at 19:30")
	ada.Says("yes")
	booked := p.Data(bookings)
	require.Len(t, booked, 1)
	require.Equal(t, "4", document.Get(booked[0], "people", ""))
	require.Equal(t, "19:30", document.Get(booked[0], "time", ""))
	require.Equal(t, "Ada", document.Get(booked[0], "name", ""))
	p.Advance(time.Hour)
	require.Equal(t, "Booked: 4 at 19:30. See you then!", ada.Last())
}

func TestBot_GivenUp(t *testing.T) {
	t.Parallel()
	p, ada := newGuest(t)
	ada.Says("a table for 4 at 19:30")
	ada.Says("no")
	p.Advance(time.Hour)
	require.Equal(t, "Another time, then.", ada.Last())
	require.Empty(t, p.Data(bookings))
}

func TestNodes_HaveNoWarnings(t *testing.T) {
	t.Parallel()
	graph, err := botctx.GraphOf(bistro{}.nodes()...)
	require.NoError(t, err)
	require.Empty(t, graph.Warnings)
}
