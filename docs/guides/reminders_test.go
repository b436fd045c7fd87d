package guides_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// dentist returns a bot that books an appointment, and reminds of it.
func dentist() []*botctx.Node {
	return []*botctx.Node{
		{ID: "book", Trigger: botctx.TextIs("book"), Pre: botctx.Do(book), Responses: botctx.Say("Booked.")},
		{ID: "reminder", Pre: botctx.Do(remind)},

		{ID: "floss", Trigger: botctx.TextIs("floss"), Pre: botctx.Do(flossDaily), Responses: botctx.Say("I remind you each day.")},
		{ID: "time to floss", Responses: botctx.Say("Time to floss, {{firstName}}!")},

		{ID: "cancel", Trigger: botctx.TextIs("cancel"), Pre: botctx.Do(cancelReminder), Responses: botctx.Say("Cancelled.")},
		{ID: "stop", Trigger: botctx.TextIs("stop"), Pre: botctx.Do(unsubscribe), Responses: botctx.Say("I write no more unasked.")},
	}
}

// book has the member reminded an hour before the appointment, which is in two days.
func book(ctx context.Context, bot *botctx.Context) error {
	at := bot.Now().Add(48 * time.Hour)
	_, err := bot.NewAgenda(ctx, agenda.NewAgendaParams{
		MemberID:        bot.Member.ID,
		NodeCompositeID: "reminder",
		NextRunAt:       document.At(at.Add(-time.Hour)),
		Meta:            document.O("at", at.Format("Monday 15:04")),
		Tag:             "appointment",
		Replace:         true,
	})
	return err
}

// remind says what the agenda was told.
func remind(ctx context.Context, bot *botctx.Context) error {
	return bot.Reply(ctx, send.Text("Your appointment: "+document.Get(bot.AgendaMeta, "at", "")+"."))
}

// flossDaily has the member reminded at eight each day of the week to come.
func flossDaily(ctx context.Context, bot *botctx.Context) error {
	_, err := bot.NewAgenda(ctx, agenda.NewAgendaParams{
		MemberID:        bot.Member.ID,
		NodeCompositeID: "time to floss",
		Pattern:         "0 8 * * *",
		RunUntil:        document.At(bot.Now().AddDate(0, 0, 7)),
		Tag:             "floss",
		Replace:         true,
	})
	return err
}

// cancelReminder removes the agendas of one tag, and leaves the others.
func cancelReminder(ctx context.Context, bot *botctx.Context) error {
	_, err := bot.DeleteMemberAgenda(ctx, agenda.DeleteMemberAgendaParams{MemberID: bot.Member.ID, Tag: "appointment"})
	return err
}

// unsubscribe lets the member's agendas send nothing.
func unsubscribe(_ context.Context, bot *botctx.Context) error {
	bot.Member.BotMeta.Set("subscribe", false)
	return nil
}

// atDentist returns a platform with the bot, and a member of it.
func atDentist(t *testing.T) (*fakes.Platform, *fakes.Actor) {
	t.Helper()
	p := fakes.New(fakes.For(t))
	p.Handle(dentist()...)
	ada := p.AddMember(member.Member{FirstName: "Ada"})
	return p, ada
}

func TestDentist_RemindsOnce(t *testing.T) {
	t.Parallel()
	p, ada := atDentist(t)

	ada.Says("book") // On Thursday at midnight.
	p.Advance(46 * time.Hour)
	require.Equal(t, "Booked.", ada.Last())
	p.Advance(time.Hour)
	require.Equal(t, "Your appointment: Saturday 00:00.", ada.Last())
	require.Empty(t, ada.Agendas())
}

func TestDentist_BookingAgainReplaces(t *testing.T) {
	t.Parallel()
	p, ada := atDentist(t)

	ada.Says("book")
	p.Advance(24 * time.Hour)
	ada.Says("book")
	p.Advance(7 * 24 * time.Hour)
	require.Len(t, ada.Messages(), 3, "two answers and one reminder")
	require.Equal(t, "Your appointment: Sunday 00:00.", ada.Last())
}

func TestDentist_RemindsDaily(t *testing.T) {
	t.Parallel()
	p, ada := atDentist(t)

	ada.Says("floss")
	p.Advance(8 * time.Hour)
	require.Equal(t, "Time to floss, Ada!", ada.Last())
	p.Advance(30 * 24 * time.Hour)
	require.Len(t, ada.Messages(), 1+7)
}

func TestDentist_CancelLeavesOtherTags(t *testing.T) {
	t.Parallel()
	_, ada := atDentist(t)

	ada.Says("book")
	ada.Says("floss")
	ada.Says("cancel")
	require.Len(t, ada.Agendas(), 1)
	require.Equal(t, "floss", ada.Agendas()[0].Tag)
}

func TestDentist_StopSendsNothing(t *testing.T) {
	t.Parallel()
	p, ada := atDentist(t)

	ada.Says("floss")
	ada.Says("stop")
	p.Advance(7 * 24 * time.Hour)
	require.Equal(t, "I write no more unasked.", ada.Last())
}

func TestDentist_FailedReminderIsTriedAgain(t *testing.T) {
	t.Parallel()
	p, ada := atDentist(t)

	ada.Says("book")
	p.FailNext(botctx.OpSendResponse, boterr.Unavailable)
	require.ErrorIs(t, p.TryAdvance(47*time.Hour), boterr.Unavailable)
	require.Equal(t, "Booked.", ada.Last())
	p.Advance(time.Minute)
	require.Equal(t, "Your appointment: Saturday 00:00.", ada.Last())
}
