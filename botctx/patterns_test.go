package botctx_test

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

// What real scripts do with agendas, nodes and redirects, each as a test that reads as
// the bot logic does.

// remindIn returns an action that sets the member's idle reminder, in place of the one
// that was set before.
func remindIn(pause time.Duration) botctx.Action {
	return func(ctx context.Context, bot *botctx.Context) error {
		_, err := bot.NewAgenda(ctx, agenda.NewAgendaParams{
			MemberID: bot.Member.ID, NodeCompositeID: "reminder",
			NextRunAt: document.TimestampOf(bot.Now().Add(pause)), Tag: "idle", Replace: true,
		})
		return err
	}
}

// cancelReminder removes the member's idle reminder.
func cancelReminder(ctx context.Context, bot *botctx.Context) error {
	_, err := bot.DeleteMemberAgenda(ctx, agenda.DeleteMemberAgendaParams{MemberID: bot.Member.ID, Tag: "idle"})
	return err
}

func TestReminder_Canceled(t *testing.T) {
	t.Parallel()
	nodes := []*botctx.Node{
		{
			ID: "name?", Trigger: botctx.TextIs("order"), SavesPosition: true,
			Responses: []send.Response{send.Text("What is your name?")}, Post: []botctx.Action{remindIn(5 * time.Minute)},
		},
		{
			ID: "thanks", Parent: "name?", Trigger: botctx.AnyText(),
			Pre: []botctx.Action{cancelReminder}, Responses: []send.Response{send.Text("Thanks!")},
		},
		{ID: "reminder", Responses: []send.Response{send.Text("Are you still there?")}},
	}
	p, idle := withNodes(t, nodes...)
	quick := p.AddMember(member.Member{})
	idle.Says("order")
	quick.Says("order")
	p.Advance(4 * time.Minute)
	quick.Says("Bob")
	p.Advance(time.Minute)
	require.Equal(t, "What is your name?\nAre you still there?", texts(idle))
	require.Equal(t, "What is your name?\nThanks!", texts(quick))
	p.Advance(time.Hour)
	require.Len(t, idle.Messages(), 2, "it reminds once")
}

func TestReminder_SetAgain(t *testing.T) {
	t.Parallel()
	p, ada := withNodes(
		t,
		&botctx.Node{ID: "step", Trigger: botctx.AnyText(), Post: []botctx.Action{remindIn(5 * time.Minute)}},
		&botctx.Node{ID: "reminder", Responses: []send.Response{send.Text("Are you still there?")}},
	)
	for range 3 {
		ada.Says("hm")
		p.Advance(4 * time.Minute)
	}
	require.Empty(t, ada.Messages())
	p.Advance(time.Minute)
	require.Equal(t, "Are you still there?", texts(ada))
}

func TestAgenda_Daily(t *testing.T) {
	t.Parallel()
	p, ada := withNodes(
		t,
		&botctx.Node{ID: "subscribe", Trigger: botctx.TextIs("subscribe"), Pre: []botctx.Action{
			func(ctx context.Context, bot *botctx.Context) error {
				_, err := bot.NewAgenda(ctx, agenda.NewAgendaParams{
					MemberID: bot.Member.ID, NodeCompositeID: "quote", Tag: "daily",
					Pattern: "0 9 * * *", RunUntil: document.TimestampOf(bot.Now().AddDate(0, 0, 3)),
					Meta: document.O("topic", "tea"),
				})
				return err
			},
		}},
		&botctx.Node{ID: "quote", Pre: []botctx.Action{func(ctx context.Context, bot *botctx.Context) error {
			return bot.Reply(ctx, send.Text(bot.Now().Format("Mon 15:04 ")+document.Get(bot.AgendaMeta, "topic", "")))
		}}},
	)
	ada.Says("subscribe")
	p.Advance(30 * 24 * time.Hour)
	require.Equal(t, "Thu 09:00 tea\nFri 09:00 tea\nSat 09:00 tea", texts(ada))
}

func TestAgenda_Unsubscribed(t *testing.T) {
	t.Parallel()
	p, ada := withNodes(
		t,
		&botctx.Node{ID: "order", Trigger: botctx.TextIs("order"), Post: []botctx.Action{remindIn(time.Hour)}},
		&botctx.Node{
			ID: "unsubscribe", Trigger: botctx.TextIs("stop"), Pre: []botctx.Action{
				func(_ context.Context, bot *botctx.Context) error {
					bot.Member.BotMeta.Set("subscribe", false)
					return nil
				},
			}, Responses: []send.Response{send.Text("No more from me.")},
		},
		&botctx.Node{
			ID: "reminder", Pre: []botctx.Action{counts, says("by an action")},
			Responses: []send.Response{send.Text("by the node")}, Redirect: botctx.To("more"),
		},
		&botctx.Node{ID: "more", Responses: []send.Response{send.Text("by another node")}, Post: []botctx.Action{counts}},
		&botctx.Node{ID: "chat", Trigger: botctx.TextIs("hi"), Responses: []send.Response{send.Text("Hello")}},
	)
	ada.Says("order")
	ada.Says("stop")
	p.Advance(time.Hour)
	require.Equal(t, "No more from me.", texts(ada))
	require.Equal(t, 2, document.Get(ada.Member().Meta, "count", 0), "its actions run")
	ada.Says("hi")
	require.Equal(t, "Hello", ada.Last(), "chatting goes on")
}

func TestAgenda_RedirectUnsubscribed(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	var bob member.Member
	bob.BotMeta.Set("subscribe", false)
	other := p.AddMember(bob)
	p.Handle(
		&botctx.Node{ID: "order", Trigger: botctx.TextIs("order"), Post: []botctx.Action{remindIn(time.Hour)}},
		&botctx.Node{ID: "reminder", Pre: []botctx.Action{
			redirects(botctx.RedirectMemberToNodeParams{MemberID: other.ID(), NodeCompositeID: "invitation"}),
		}},
		&botctx.Node{ID: "invitation", Pre: []botctx.Action{counts}, Responses: []send.Response{send.Text("Come, too!")}},
	)
	p.AddMember(member.Member{}).Says("order")
	p.Advance(time.Hour)
	require.Empty(t, other.Messages())
	require.Equal(t, 1, document.Get(other.Member().Meta, "count", 0))
}

func TestPattern_OfficeHours(t *testing.T) {
	t.Parallel()
	byTheHour := func(_ context.Context, bot *botctx.Context) (*botctx.Redirect, error) {
		if hour := bot.Now().Hour(); hour < 9 || hour >= 17 {
			return &botctx.Redirect{NodeCompositeID: "closed"}, nil
		}
		return &botctx.Redirect{NodeCompositeID: "agent"}, nil
	}
	p, ada := withNodes(
		t,
		&botctx.Node{ID: "help", Trigger: botctx.TextIs("help"), Redirect: botctx.ToOneOf(byTheHour, "closed", "agent")},
		&botctx.Node{ID: "agent", Responses: []send.Response{send.Text("One moment.")}},
		&botctx.Node{ID: "closed", Responses: []send.Response{send.Text("We open at 9.")}},
	)
	ada.Says("help")
	p.Advance(9 * time.Hour)
	ada.Says("help")
	p.Advance(8 * time.Hour)
	ada.Says("help")
	require.Equal(t, "We open at 9.\nOne moment.\nWe open at 9.", texts(ada))
}

func TestPattern_Fallback(t *testing.T) {
	t.Parallel()
	var heard []string
	_, ada := withNodes(
		t,
		&botctx.Node{ID: "fallback", Trigger: botctx.AnyText(), Priority: 1000, Responses: []send.Response{send.Text("Pardon?")}},
		&botctx.Node{ID: "log", Trigger: botctx.AnyEvent(), Priority: botctx.MutePriority, Pre: []botctx.Action{
			func(_ context.Context, bot *botctx.Context) error {
				heard = append(heard, bot.MessageEvent.Text())
				return nil
			},
		}},
		&botctx.Node{ID: "menu", Trigger: botctx.TextIs("menu"), Responses: []send.Response{send.Text("Tea or coffee?")}},
	)
	ada.Says("menu")
	ada.Says("mneu")
	require.Equal(t, "Tea or coffee?\nPardon?", texts(ada))
	require.Equal(t, []string{"menu", "mneu"}, heard, "a mute node hears all, and another answers")
}

func TestPattern_Locale(t *testing.T) {
	t.Parallel()
	speaks := func(locale string) botctx.Trigger {
		return botctx.When(func(bot *botctx.Context) bool { return bot.Member.CustomLocale == locale })
	}
	_, ada := withNodes(
		t,
		&botctx.Node{ID: "german", Trigger: botctx.TextIs("deutsch"), Priority: -1, Pre: []botctx.Action{
			func(_ context.Context, bot *botctx.Context) error {
				bot.Member.CustomLocale = "de_DE"
				return nil
			},
		}},
		&botctx.Node{ID: "hallo", Trigger: speaks("de_DE"), Responses: []send.Response{send.Template("Hallo {{firstName}}")}},
		&botctx.Node{ID: "hello", Trigger: speaks(""), Responses: []send.Response{send.Template("Hello {{firstName}}")}},
	)
	ada.Says("hi")
	ada.Says("deutsch")
	ada.Says("hi")
	require.Equal(t, "Hello Ada\nHallo Ada", texts(ada))
}

func TestPattern_SavedAnswer(t *testing.T) {
	t.Parallel()
	save := func(_ context.Context, bot *botctx.Context) error {
		bot.Member.BotMeta.Set("tempData.city", bot.MessageEvent.Text())
		return nil
	}
	_, ada := withNodes(
		t,
		&botctx.Node{ID: "city?", Trigger: botctx.TextIs("weather"), SavesPosition: true, Responses: []send.Response{send.Text("Which city?")}},
		&botctx.Node{ID: "sunny", Parent: "city?", Trigger: botctx.AnyText(), Pre: []botctx.Action{save}, SavesPosition: true},
		&botctx.Node{ID: "again", Parent: "sunny", Trigger: botctx.TextIs("and?"), Responses: []send.Response{
			send.Template("It is sunny in {{botMeta.tempData.city}}."),
		}},
	)
	ada.Says("weather")
	ada.Says("Oslo")
	ada.Says("and?")
	require.Equal(t, "It is sunny in Oslo.", ada.Last())
}

func TestPattern_ButtonValue(t *testing.T) {
	t.Parallel()
	_, ada := withNodes(t, &botctx.Node{
		ID: "size", Trigger: botctx.PayloadIs("size"), Pre: []botctx.Action{func(_ context.Context, bot *botctx.Context) error {
			bot.Member.Meta.Set("size", bot.MessageEvent.Value())
			return nil
		}}, Responses: []send.Response{send.Template("One {{meta.size}} it is.")},
	})
	ada.Sends(send.MessageEvent{Type: send.TypePayload, Data: document.O("payload", document.O("payload", "size", "value", "large"))})
	require.Equal(t, "One large it is.", ada.Last())
}

func TestAgenda_Cause(t *testing.T) {
	t.Parallel()
	var seen []agenda.Run
	p, ada := withNodes(
		t,
		&botctx.Node{ID: "order", Trigger: botctx.TextIs("order"), Post: []botctx.Action{remindIn(time.Hour)}},
		&botctx.Node{ID: "reminder", Pre: []botctx.Action{func(_ context.Context, bot *botctx.Context) error {
			seen = append(seen, *bot.Agenda)
			require.Nil(t, bot.MessageEvent)
			if bot.Agenda.Attempt == 1 {
				return boterr.New(boterr.Unavailable, "", "the network is down")
			}
			return nil
		}}},
	)
	ada.Says("order")
	require.ErrorIs(t, p.TryAdvance(2*time.Hour), boterr.Unavailable)
	require.Len(t, seen, 2, "a run that failed is tried again")
	require.Equal(t, []int{1, 2}, []int{seen[0].Attempt, seen[1].Attempt})
	require.Equal(t, fakes.Start().Add(time.Hour), seen[0].ScheduledAt)
	require.Equal(t, seen[0].Key, seen[1].Key)
	require.Equal(t, "idle", seen[0].Agenda.Tag)
}

func TestAgenda_Unknown(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t), fakes.Config(func(c *botctx.Config) { c.OtherNodes = true }))
	p.Handle(&botctx.Node{ID: "order", Trigger: botctx.TextIs("order"), Post: []botctx.Action{remindIn(time.Hour)}})
	ada := p.AddMember(member.Member{FirstName: "Ada"})
	ada.Says("order")
	err := p.TryAdvance(time.Hour)
	require.ErrorIs(t, err, boterr.NotFound)
	require.ErrorContains(t, err, "there is no node reminder")
	require.ErrorContains(t, err, ada.ID())
}
