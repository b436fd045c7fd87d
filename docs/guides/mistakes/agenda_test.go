package mistakes_test

import (
	"context"
	"time"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/document"
)

// book plans the reminder of a booking.
func book(ctx context.Context, bot *botctx.Context) error {
	_, err := bot.NewAgenda(ctx, agenda.NewParams{
		MemberID: bot.Member.ID, NodeCompositeID: "see you", NextRunAt: document.TimestampOf(bot.Now().Add(24 * time.Hour)),
		Tag: "booking", Replace: true,
	})
	return err
}

// forget deletes the reminder of a booking that is cancelled.
func forget(ctx context.Context, bot *botctx.Context) error {
	_, err := bot.DeleteMemberAgenda(ctx, agenda.DeleteParams{MemberID: bot.Member.ID, Tag: "booking"})
	return err
}

func bookings(cancel ...botctx.Action) []*botctx.Node {
	return []*botctx.Node{
		{ID: "book", Trigger: botctx.TextIs("book"), Pre: botctx.Do(book), Responses: botctx.Say("Booked for tomorrow.")},
		{ID: "cancel", Trigger: botctx.TextIs("cancel"), Pre: cancel, Responses: botctx.Say("Cancelled.")},
		{ID: "see you", Responses: botctx.Say("See you today!")},
	}
}

// forgottenAgenda is a mistake that shows if time passes after the conversation.
func forgottenAgenda() mistake {
	return mistake{
		right: bookings(forget), wrong: bookings(),
		test:  holds("testdata/cancelled.chat"),
		tells: "See you today!",
	}
}
