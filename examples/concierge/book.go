package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
)

// columnBookings is where a place has its bookings.
const columnBookings = "bookingsTonight"

// booking is a booking for tonight, as it is being made.
type booking struct {
	Place  place  `json:"place"`
	People int    `json:"people"`
	Time   string `json:"time"`
}

// answersBooking reports whether a message answers a question of the bot about a
// booking.
func answersBooking(asked string, said said) bool {
	switch asked {
	case "people":
		return said.only || said.people > 0
	case "time":
		return said.time != ""
	default:
		return false
	}
}

// book goes on with a booking: it saves what the guest said, and asks for what is
// missing or takes it.
func book(ctx context.Context, bot *botctx.Context, said said) error {
	wish := document.Get(bot.Member.Meta, "booking", booking{})
	if err := wish.add(ctx, bot, said); err != nil {
		return err
	}
	if err := remember(ctx, bot, document.Set("meta.booking", wish)); err != nil {
		return err
	}
	switch {
	case wish.Place.Name == "":
		return ask(ctx, bot, "place", "Which place shall I book? Say \"book\" and its name, or its number in the list.")
	case wish.People == 0:
		return ask(ctx, bot, "people", wish.Place.Name+", gladly. For how many people?")
	case wish.Time == "":
		return ask(ctx, bot, "time", "At what time?")
	default:
		return take(ctx, bot, wish)
	}
}

// add adds to a booking what a message says.
func (b *booking) add(ctx context.Context, bot *botctx.Context, said said) error {
	if said.only && document.Get(bot.Member.Meta, "asked", "") == "people" {
		said.people, said.number = said.number, 0
	}
	named, err := namedPlace(ctx, bot, said)
	switch {
	case err != nil:
		return err
	case !named.IsZero():
		b.Place = placeIn(named)
	case b.Place.Name == "" && said.number == 0:
		b.Place = document.Get(bot.Member.Meta, "place", place{})
	}
	if said.people > 0 {
		b.People = said.people
	}
	if said.time != "" {
		b.Time = said.time
	}
	return nil
}

// take takes a booking once, however often and from however many sides it is asked
// for: the filter finds the place only while it has the seats and the guest has no
// booking there at that time, and the patch makes that untrue in the same step.
func take(ctx context.Context, bot *botctx.Context, wish booking) error {
	mine := document.O("by", bot.Member.ID, "time", wish.Time)
	taken, err := bot.FindAndModifyDataFromDataSource(ctx, datasource.FindAndModifyDataFromDataSourceParams{
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
	if err := remember(ctx, bot, turnTo(document.O("meta.place", wish.Place))); err != nil {
		return err
	}
	if taken.Value == nil {
		return sayWhyNot(ctx, bot, wish, mine)
	}
	return reply(ctx, bot, "Booked: %s tonight at %s, for %d.", wish.Place.Name, wish.Time, wish.People)
}

// sayWhyNot tells why a booking was not taken: the guest has it already, or there are
// not enough seats.
func sayWhyNot(ctx context.Context, bot *botctx.Context, wish booking, mine document.Object) error {
	booked, err := bot.CountDataSource(ctx, datasource.CountDataSourceParams{
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

// listBookings shows the guest's bookings.
func listBookings(ctx context.Context, bot *botctx.Context) error {
	booked, err := bot.FetchDataFromDataSource(ctx, datasource.FetchDataFromDataSourceParams{
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
