package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
)

// columnBookings is the column of a place's bookings.
const columnBookings = "bookingsTonight"

// booking is a booking for tonight, possibly incomplete.
type booking struct {
	Place  place  `json:"place"`
	People int    `json:"people"`
	Time   string `json:"time"`
}

func noteBooking(ctx context.Context, bot *botctx.Context) error {
	wish, said := noted(bot), heard(bot)
	named, err := namedPlace(ctx, bot)
	switch {
	case err != nil:
		return err
	case !named.IsZero():
		wish.Place = placeIn(named)
	case wish.Place.Name == "" && said.number == 0:
		wish.Place = document.Get(bot.Member.Meta, "place", place{})
	}
	if said.people > 0 {
		wish.People = said.people
	}
	if said.time != "" {
		wish.Time = said.time
	}
	bot.Member.Meta.Set("booking", wish)
	return nil
}

// notePeople records the answer to how many people will come. A message that is only a number answers this question,
// and does not select a place.
func notePeople(ctx context.Context, bot *botctx.Context) error {
	if said := heard(bot); said.only {
		bot.Member.Meta.Set("booking.people", said.number)
		return nil
	}
	return noteBooking(ctx, bot)
}

// noted returns the current, incomplete booking.
func noted(bot *botctx.Context) booking { return document.Get(bot.Member.Meta, "booking", booking{}) }

// toBooking continues the current booking.
func toBooking() botctx.Redirector {
	return botctx.ToOneOf(goOnBooking, "which place?", "how many people?", "when?", "take booking")
}

// goOnBooking asks for a missing part of the booking, or takes it.
func goOnBooking(_ context.Context, bot *botctx.Context) (*botctx.Redirect, error) {
	switch wish := noted(bot); {
	case wish.Place.Name == "":
		return botctx.GoTo("which place?")
	case wish.People == 0:
		return botctx.GoTo("how many people?")
	case wish.Time == "":
		return botctx.GoTo("when?")
	default:
		return botctx.GoTo("take booking")
	}
}

func takeBooking(ctx context.Context, bot *botctx.Context) error { return take(ctx, bot, noted(bot)) }

// take takes a booking once, however often and however concurrently it is requested: the filter matches the
// place only while it has the seats and the guest has no booking there at that time, and the patch changes
// both in the same step.
func take(ctx context.Context, bot *botctx.Context, wish booking) error {
	mine := document.O("by", bot.Member.ID, "time", wish.Time)
	taken, err := bot.FindAndModifyDataFromDataSource(ctx, datasource.FindAndModifyParams{
		DataSourceID: placesID,
		Filter: document.O(
			"_id", wish.Place.ID,
			columnSeatsFree, document.O("$gte", wish.People),
			columnBookings, document.O("$not", document.O("$elemMatch", mine)),
		),
		Patch: document.O(
			"$inc", document.O(columnSeatsFree, -wish.People),
			"$push", document.O(columnBookings, mine.With("people", wish.People)),
		),
	})
	if err != nil {
		return err
	}
	turnTo(bot, wish.Place)
	if taken.Value == nil {
		return sayWhyNot(ctx, bot, wish, mine)
	}
	return reply(ctx, bot, "Booked: %s tonight at %s, for %d.", wish.Place.Name, wish.Time, wish.People)
}

// sayWhyNot answers why a booking was not taken: the guest already has it, or there are not enough seats.
func sayWhyNot(ctx context.Context, bot *botctx.Context, wish booking, mine document.Object) error {
	booked, err := bot.CountDataSource(ctx, datasource.CountParams{
		DataSourceID: placesID,
		Filter:       document.O("_id", wish.Place.ID, columnBookings, document.O("$elemMatch", mine)),
	})
	if err != nil {
		return err
	}
	if booked > 0 {
		return reply(ctx, bot, "You have that booking already: %s tonight at %s.", wish.Place.Name, wish.Time)
	}
	return reply(ctx, bot, "Sorry, %s has not enough seats for %d tonight.", wish.Place.Name, wish.People)
}

func listBookings(ctx context.Context, bot *botctx.Context) error {
	booked, err := bot.FetchDataFromDataSource(ctx, datasource.FetchParams{
		DataSourceID: placesID,
		Filter:       document.O(columnBookings+".by", bot.Member.ID),
	})
	if err != nil {
		return err
	}
	lines := []string{"Your bookings for tonight:"}
	for _, entry := range booked.Entries {
		for _, made := range document.Get(entry, columnBookings, []document.Object(nil)) {
			if document.Get(made, "by", "") == bot.Member.ID {
				lines = append(lines, fmt.Sprintf("  %s at %s, for %d",
					document.Get(entry, "name", ""), document.Get(made, "time", ""), document.Get(made, "people", 0)))
			}
		}
	}
	if len(lines) == 1 {
		return reply(ctx, bot, "You have no bookings yet.")
	}
	return reply(ctx, bot, "%s", strings.Join(lines, "\n"))
}
