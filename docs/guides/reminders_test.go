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
		{
			ID: "book", Trigger: botctx.TextIs("book"), Pre: botctx.Do(book), Responses: botctx.Say("Booked."),
			Schedules: botctx.Nodes("reminder"),
		},
		{ID: "reminder", Pre: botctx.Do(remind)},

		{
			ID: "floss", Trigger: botctx.TextIs("floss"), Pre: botctx.Do(flossDaily), Responses: botctx.Say("I will remind you every day."),
			Schedules: botctx.Nodes("time to floss"),
		},
		{ID: "time to floss", Responses: botctx.Say("Time to floss, {{firstName}}!")},

		{ID: "cancel", Trigger: botctx.TextIs("cancel"), Pre: botctx.Do(cancelReminder), Responses: botctx.Say("Cancelled.")},
		{ID: "stop", Trigger: botctx.TextIs("stop"), Pre: botctx.Do(unsubscribe), Responses: botctx.Say("I will not write unless you ask.")},
	}
}

// book schedules a reminder an hour before the appointment, which is in two days.
func book(ctx context.Context, bot *botctx.Context) error {
	at := bot.Now().Add(48 * time.Hour)
	_, err := bot.NewAgenda(ctx, agenda.NewParams{
		MemberID:        bot.Member.ID,
		NodeCompositeID: "reminder",
		NextRunAt:       document.TimestampOf(at.Add(-time.Hour)),
		Meta:            document.O("at", at.Format("Monday 15:04")),
		Tag:             "appointment",
		Replace:         true,
	})
	return err
}

// remind sends the text in the agenda's meta.
func remind(ctx context.Context, bot *botctx.Context) error {
	return bot.Reply(ctx, send.Text("Your appointment: "+document.Get(bot.AgendaMeta, "at", "")+"."))
}

// flossDaily schedules reminders at eight on each day of the next week.
func flossDaily(ctx context.Context, bot *botctx.Context) error {
	_, err := bot.NewAgenda(ctx, agenda.NewParams{
		MemberID:        bot.Member.ID,
		NodeCompositeID: "time to floss",
		Pattern:         "0 8 * * *",
		RunUntil:        document.TimestampOf(bot.Now().AddDate(0, 0, 7)),
		Tag:             "floss",
		Replace:         true,
	})
	return err
}

// zoneOf returns a member's time zone. The host sets it as Zone of botctx.Config.
func zoneOf(_ context.Context, m *member.Member) (string, error) {
	return document.Get(m.Meta, "zone", "Europe/London"), nil
}

// remindOfOpening schedules reminders for the times when the shop in Tokyo opens.
func remindOfOpening(ctx context.Context, bot *botctx.Context) error {
	_, err := bot.NewAgenda(ctx, agenda.NewParams{
		MemberID:        bot.Member.ID,
		NodeCompositeID: "open",
		Pattern:         agenda.InZone("Asia/Tokyo", "0 10 * * 1-6"), // "CRON_TZ=Asia/Tokyo 0 10 * * 1-6"
		RunUntil:        document.TimestampOf(bot.Now().AddDate(0, 1, 0)),
		Tag:             "open",
		Replace:         true,
	})
	return err
}

// remindTomorrow schedules a reminder for tomorrow at nine, in the member's time zone.
func remindTomorrow(ctx context.Context, bot *botctx.Context) error {
	where, err := bot.Location(ctx)
	if err != nil {
		return err
	}
	year, month, day := bot.Now().In(where).Date()
	_, err = bot.NewAgenda(ctx, agenda.NewParams{
		MemberID:        bot.Member.ID,
		NodeCompositeID: "tomorrow",
		NextRunAt:       document.TimestampOf(time.Date(year, month, day+1, 9, 0, 0, 0, where)),
	})
	return err
}

// cancelReminder removes the agendas with one tag, and keeps the others.
func cancelReminder(ctx context.Context, bot *botctx.Context) error {
	_, err := bot.DeleteMemberAgenda(ctx, agenda.DeleteParams{MemberID: bot.Member.ID, Tag: "appointment"})
	return err
}

// unsubscribe stops the messages of the member's agendas.
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
	require.Equal(t, "I will not write unless you ask.", ada.Last())
}

func TestDentist_FailedReminderIsTriedAgain(t *testing.T) {
	t.Parallel()
	p, ada := atDentist(t)

	ada.Says("book")
	p.Inject(fakes.Fails(botctx.OpSendResponse, boterr.Unavailable))
	require.ErrorIs(t, p.TryAdvance(47*time.Hour), boterr.Unavailable)
	require.Equal(t, "Booked.", ada.Last())
	p.Advance(time.Minute)
	require.Equal(t, "Your appointment: Saturday 00:00.", ada.Last())
}

func TestZones_WhereSheIs(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t), fakes.Config(func(c *botctx.Config) { c.Zone = zoneOf }))
	p.Handle(dentist()...)
	p.Handle(
		&botctx.Node{ID: "shop", Trigger: botctx.TextIs("shop"), Pre: botctx.Do(remindOfOpening)},
		&botctx.Node{ID: "open", Responses: botctx.Say("We open.")},
		&botctx.Node{ID: "later", Trigger: botctx.TextIs("later"), Pre: botctx.Do(remindTomorrow)},
		&botctx.Node{ID: "tomorrow", Responses: botctx.Say("Good morning.")},
	)
	for says, want := range map[string]string{"floss": "08:00", "shop": "20:00", "later": "09:00"} {
		ada := p.AddMember(member.Member{FirstName: "Ada", Meta: document.O("zone", "America/New_York")})
		ada.Says(says)
		next := ada.Agendas()[0].NextRunAt.Time()
		require.Equal(t, want, next.In(newYork(t)).Format("15:04"), "%s: ten in Tokyo is eight in the evening there", says)
	}
	ada := p.AddMember(member.Member{FirstName: "Ada"})
	ada.Says("floss")
	_, err := ada.Context().UpdateMember(t.Context(), member.UpdateParams{
		Member: document.O("_id", ada.ID(), "meta", document.O("zone", "America/New_York")),
	})
	require.NoError(t, err)
	p.Advance(9 * time.Hour)
	require.Equal(t, "I will remind you every day.", ada.Last(), "it is four in the morning")
	p.Advance(4 * time.Hour)
	require.Equal(t, "Time to floss, Ada!", ada.Last())
}

// newYork is the time zone of the members of a test.
func newYork(t *testing.T) *time.Location {
	t.Helper()
	where, err := time.LoadLocation("America/New_York")
	require.NoError(t, err)
	return where
}
