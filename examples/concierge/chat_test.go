package main

import (
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
)

// aCity returns a platform with the concierge and the city's places.
func aCity(t *testing.T) *fakes.Platform {
	t.Helper()
	p, err := newCity(fakes.For(t))
	require.NoError(t, err)
	return p
}

// exchange is a guest's message and a part of the answer.
type exchange struct{ says, hears string }

func converse(t *testing.T, guest *fakes.Actor, conversation ...exchange) {
	t.Helper()
	for _, e := range conversation {
		before := len(guest.Messages())
		guest.Says(e.says)
		require.Len(t, guest.Messages(), before+1, "one answer to %q", e.says)
		require.Contains(t, guest.Last(), e.hears, "the answer to %q", e.says)
	}
}

func entryOf(t *testing.T, p *fakes.Platform, name string) document.Object {
	t.Helper()
	for _, entry := range p.Data(placesID) {
		if document.Get(entry, "name", "") == name {
			return entry
		}
	}
	require.Fail(t, "there is no place "+name)
	return document.Object{}
}

// freeSeats returns the number of free seats of a place.
func freeSeats(t *testing.T, p *fakes.Platform, name string) int {
	t.Helper()
	return document.Get(entryOf(t, p, name), columnSeatsFree, -1)
}

func TestHello_ByName(t *testing.T) {
	t.Parallel()
	guest := aCity(t).AddMember(member.Member{})
	converse(t, guest, exchange{"My name is Ada Byron.", "Nice to meet you, Ada Byron."})
	require.Equal(t, "Ada Byron", guest.Member().FirstName)
}

func TestHelp_WhatIsNotUnderstood(t *testing.T) {
	t.Parallel()
	guest := aCity(t).AddMember(member.Member{})
	converse(t, guest, exchange{"help", helpText}, exchange{"?!", helpText}, exchange{"the weather", helpText})
}

func TestSearch_NarrowsDown(t *testing.T) {
	t.Parallel()
	guest := aCity(t).AddMember(member.Member{})
	converse(t, guest,
		exchange{"any restaurants?", "I found 8 places, the first 5 are:\n1. Captain's Table"},
		exchange{"in the old town", "I found 2 places:\n1. Nonna Bettina (restaurant, italian, old town, moderate)\n2. Saffron Stair"},
		exchange{"Indian", "I found 1 place:\n1. Saffron Stair"},
		exchange{"a cheap museum", "I found 2 places:\n1. Harbour Museum (museum, harbour, cheap)\n2. Lamp Factory"},
		exchange{"expensive", "I know no such place"},
		exchange{"start over", "What are you looking for?"},
		exchange{"expensive", "1. Hotel Belvoir (hotel, hill, expensive)\n2. Salt & Lantern"},
	)
	require.JSONEq(t, `{"pricerange": "expensive"}`, document.Get(guest.Member().Meta, "wanted", document.O()).String())
}

func TestDetails_ByNameAndNumber(t *testing.T) {
	t.Parallel()
	guest := aCity(t).AddMember(member.Member{})
	converse(t, guest,
		exchange{"tell me about captain's table", "Captain's Table\n  type: restaurant\n  food: seafood"},
		exchange{"museums", "2. Lamp Factory"},
		exchange{"tell me about number 2", "about: An old works with everything still glowing.\n  50 seats are free tonight."},
		exchange{"3", "Museum of Maps"},
		exchange{"4", helpText},
	)
}

func TestNearMe_AsksAndRemembers(t *testing.T) {
	t.Parallel()
	guest := aCity(t).AddMember(member.Member{})
	converse(t, guest,
		exchange{"restaurants near me", "Where are you?"},
		exchange{"I am at the moon", "I do not know where that is."},
		exchange{"95, 10", "Latitudes go from -90 to 90"},
		exchange{"38.6040, -9.3905", "1. Oven Street Pizza (restaurant, italian, station, cheap, 0 m)\n2. Two Cranes Noodle House"},
		exchange{"anything within 150 m?", "I found 2 places"},
		exchange{"I'm at Market Hall", "Good, I know where you are."},
		exchange{"what is nearby?", "1. Nonna Bettina (restaurant, italian, old town, moderate, 69 m)\n2. Saffron Stair"},
	)
	require.JSONEq(t, `{"type": "Point", "coordinates": [-9.3975, 38.6024]}`,
		document.Get(guest.Member().Meta, "location", document.O()).String())
}

func TestNearMe_AnswerWithDistance(t *testing.T) {
	t.Parallel()
	guest := aCity(t).AddMember(member.Member{})
	converse(t, guest,
		exchange{"restaurants near me", "Where are you?"},
		exchange{"I am at Market Hall, within 300 m", "I found 2 places:\n1. Nonna Bettina"},
	)
}

func TestBooking_AsksForWhatIsMissing(t *testing.T) {
	t.Parallel()
	p := aCity(t)
	guest := p.AddMember(member.Member{})
	converse(t, guest,
		exchange{"book a table", "Which place shall I book?"},
		exchange{"book Nonna Bettina", "Nonna Bettina, gladly. For how many people?"},
		exchange{"4", "At what time?"},
	)
	wish := document.Get(guest.Member().Meta, "booking", booking{})
	require.Equal(t, "Nonna Bettina", wish.Place.Name)
	require.Equal(t, 4, wish.People)

	converse(t, guest, exchange{"at 7:30 pm", "Booked: Nonna Bettina tonight at 19:30, for 4."})
	require.Equal(t, 26, freeSeats(t, p, "Nonna Bettina"))
	require.False(t, guest.Member().Meta.Has("booking"))
}

func TestBooking_AnotherPlace(t *testing.T) {
	t.Parallel()
	p := aCity(t)
	guest := p.AddMember(member.Member{})
	converse(t, guest,
		exchange{"book Nonna Bettina", "For how many people?"},
		exchange{"tell me about Saffron Stair", "Saffron Stair\n"},
		exchange{"2", helpText},
		exchange{"book it for 2 at 19:00", "Booked: Saffron Stair tonight at 19:00, for 2."},
	)
	require.Equal(t, 30, freeSeats(t, p, "Nonna Bettina"))
}

func TestQuestion_Dropped(t *testing.T) {
	t.Parallel()
	people := exchange{"book Nonna Bettina", "For how many people?"}
	where := exchange{"restaurants near me", "Where are you?"}
	for _, test := range []struct{ question, turn, answer exchange }{
		{people, exchange{"start over", "let us start over"}, exchange{"4", helpText}},
		{people, exchange{"hotels", "I found 3 places"}, exchange{"4", helpText}},
		{people, exchange{"tell me about Saffron Stair", "Saffron Stair"}, exchange{"4", helpText}},
		{people, exchange{"I am at Market Hall", "Good, I know where you are."}, exchange{"4", helpText}},
		{people, exchange{"book it for 2 at 19:00", "Booked"}, exchange{"4", helpText}},
		{where, exchange{"book", "Which place"}, exchange{"38.6040, -9.3905", helpText}},
		{where, exchange{"38.6040, -9.3905", "I found 5 places"}, exchange{"38.6040, -9.3905", helpText}},
	} {
		converse(t, aCity(t).AddMember(member.Member{}), test.question, test.turn, test.answer)
	}
}

func TestQuestion_StaysOpen(t *testing.T) {
	t.Parallel()
	guest := aCity(t).AddMember(member.Member{})
	converse(t, guest,
		exchange{"book Nonna Bettina", "For how many people?"},
		exchange{"my name is Ada", "Nice to meet you, Ada."},
		exchange{"what did I book", "You have no bookings yet."},
		exchange{"thanks", "You are welcome."},
		exchange{"oh well", helpText},
		exchange{"4", "At what time?"},
	)
}

func TestTopics_FirstInListAnswers(t *testing.T) {
	t.Parallel()
	for says, hears := range map[string]string{
		"never mind, my name is Bob":            "let us start over",
		"my name is Bob, I am at Market Hall":   "Nice to meet you, Bob.",
		"I am at Market Hall, what did I book?": "Good, I know where you are.",
		"what did I book near me?":              "You have no bookings yet.",
		"book Saffron Stair near me":            "Saffron Stair, gladly.",
		"thanks, anything near me?":             "Where are you?",
		"thanks, Saffron Stair":                 "You are welcome.",
		"hotels like Saffron Stair":             "Saffron Stair\n",
	} {
		converse(t, aCity(t).AddMember(member.Member{}), exchange{says, hears})
	}
}

func TestTopics_AreNoAnswer(t *testing.T) {
	t.Parallel()
	converse(t, aCity(t).AddMember(member.Member{}),
		exchange{"book Nonna Bettina", "For how many people?"},
		exchange{"my name is Ada, and we are 3 people", "Nice to meet you, Ada."},
		exchange{"start over, for 3 people", "let us start over"},
	)
}

func TestBooking_Repeated(t *testing.T) {
	t.Parallel()
	p := aCity(t)
	guest := p.AddMember(member.Member{})
	converse(t, guest,
		exchange{"book Saffron Stair for two at 19:30", "Booked: Saffron Stair tonight at 19:30, for 2."},
		exchange{"book Saffron Stair for two at 19:30", "You have that booking already"},
		exchange{"book it for two at 7:30 pm", "You have that booking already"},
		exchange{"book it for two at 21:00", "Booked: Saffron Stair tonight at 21:00, for 2."},
		exchange{"my bookings", "Saffron Stair at 19:30, for 2\n  Saffron Stair at 21:00, for 2"},
	)
	require.Equal(t, 22, freeSeats(t, p, "Saffron Stair"))
}

func TestBooking_TimedOutAndRepeated(t *testing.T) {
	t.Parallel()
	p := aCity(t)
	guest := p.AddMember(member.Member{})
	bot := guest.Context()
	wish := booking{Place: placeIn(entryOf(t, p, "Saffron Stair")), People: 2, Time: "19:30"}

	p.Inject(fakes.TimesOut(botctx.OpFindAndModifyDataFromDataSource))
	require.ErrorIs(t, take(t.Context(), bot, wish), boterr.Unavailable)
	require.NoError(t, take(t.Context(), bot, wish))

	require.Equal(t, "You have that booking already: Saffron Stair tonight at 19:30.", guest.Last())
	require.Equal(t, 24, freeSeats(t, p, "Saffron Stair"))
}

func TestBooking_ManyAtOnce(t *testing.T) {
	t.Parallel()
	p := aCity(t)
	var said sync.WaitGroup
	for range 6 { // The Anchor Rooms have ten places: five guests get in.
		guest := p.AddMember(member.Member{})
		for range 8 {
			said.Go(func() { guest.Says("book The Anchor Rooms for two at 20:00") })
		}
	}
	said.Wait()

	entry := entryOf(t, p, "The Anchor Rooms")
	taken := document.Get(entry, columnBookings, []document.Object(nil))
	guests := map[string]bool{}
	for _, made := range taken {
		guests[document.Get(made, "by", "")] = true
	}
	require.Len(t, taken, 5)
	require.Len(t, guests, 5)
	require.Equal(t, 0, document.Get(entry, columnSeatsFree, -1))
}

func TestBooking_TooFewSeats(t *testing.T) {
	t.Parallel()
	p := aCity(t)
	guest := p.AddMember(member.Member{})
	converse(t, guest,
		exchange{"book hotel belvoir for 15 people at 8 pm", "Sorry, Hotel Belvoir has not enough seats for 15 tonight."},
		exchange{"my bookings", "You have no bookings yet."},
		exchange{"book hotel belvoir for 14 people at 8 pm", "Booked"},
		exchange{"book hotel belvoir for 2 people at 9 pm", "has not enough seats for 2"},
	)
	require.Equal(t, 0, freeSeats(t, p, "Hotel Belvoir"))
}

func TestBookings_OfTheGuest(t *testing.T) {
	t.Parallel()
	p := aCity(t)
	ada, bob := p.AddMember(member.Member{}), p.AddMember(member.Member{})
	converse(t, ada, exchange{"book The Tide Room for 3 people at 16:00", "Booked"})
	converse(t, bob,
		exchange{"my bookings", "You have no bookings yet."},
		exchange{"book The Tide Room for 2 people at 16:00", "Booked"},
		exchange{"my bookings", "Your bookings for tonight:\n  The Tide Room at 16:00, for 2"},
	)
}

func TestReply_IsNoTemplate(t *testing.T) {
	t.Parallel()
	p := aCity(t)
	p.AddData(placesID, document.O("name", "The {{firstName}} Inn", "about", "{{meta.secret}}"))
	guest := p.AddMember(member.Member{FirstName: "Ada", Meta: document.O("secret", "tell nobody")})
	converse(t, guest, exchange{"tell me about the firstname inn", "The {{firstName}} Inn\n  about: {{meta.secret}}"})
}

func TestReply_LongNameIsCut(t *testing.T) {
	t.Parallel()
	p := aCity(t)
	p.AddData(placesID, document.O("name", strings.Repeat("é", 3000), "type", "inn"))
	guest := p.AddMember(member.Member{})
	converse(t, guest, exchange{"an inn", "é…"}, exchange{"book number 1", strings.Repeat("é", maxNameLength-1) + "…, gladly."})
}

func TestReply_OnlyToText(t *testing.T) {
	t.Parallel()
	p := aCity(t)
	guest := p.AddMember(member.Member{})
	guest.Taps("museums")
	require.Empty(t, guest.Messages())
	require.Empty(t, p.Calls(botctx.OpFetchDistinctDataFromDataSource), "nor looked up")
}

func TestSearch_Fails(t *testing.T) {
	t.Parallel()
	p := aCity(t)
	guest := p.AddMember(member.Member{})
	p.Inject(fakes.Fails(botctx.OpFetchDistinctDataFromDataSource, boterr.Unavailable))
	err := guest.TrySays("museums")
	require.ErrorIs(t, err, boterr.Unavailable)
	require.Empty(t, guest.Messages())
}
