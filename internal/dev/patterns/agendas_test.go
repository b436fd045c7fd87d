package patterns_test

import (
	"context"
	"time"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
)

// agendas are the patterns of what happens later.
func agendas() []pattern {
	return []pattern{
		{
			name: "idle-reminder", nodes: idleReminder,
			talk: func(s *stage) {
				bob := s.join(member.Member{FirstName: "Bob", Channel: "web"})
				s.says("order")
				bob.Says("order")
				s.Advance(4 * time.Minute)
				bob.Says("Bob")
				s.Advance(time.Hour)
			},
			want: "Ada: What is your name?\nBob: What is your name?\nBob: Thanks!\nAda: Are you still there, Ada?\n",
		},
		{
			name: "daily-agenda", nodes: dailyAgenda, needs: []string{"moment"},
			talk: func(s *stage) {
				s.says("subscribe")
				s.Advance(30 * 24 * time.Hour)
			},
			want: "Ada: Thu 09:00: tea (until 3 Jan)\nAda: Fri 09:00: tea (until 3 Jan)\nAda: Sat 09:00: tea (until 3 Jan)\n",
		},
		{
			name: "unsubscribe", nodes: unsubscribe,
			talk: func(s *stage) {
				s.says("order", "stop")
				s.Advance(time.Hour)
				s.says("hi")
			},
			want: "Ada: No more from me.\nAda: Hello\n",
		},
	}
}

func idleReminder() []*botctx.Node {
	remind := func(ctx context.Context, bot *botctx.Context) error {
		_, err := bot.NewAgenda(ctx, agenda.NewAgendaParams{
			MemberID: bot.Member.ID, NodeCompositeID: "reminder",
			NextRunAt: document.TimestampOf(bot.Now().Add(5 * time.Minute)), Tag: "idle", Replace: true,
		})
		return err
	}
	cancel := func(ctx context.Context, bot *botctx.Context) error {
		_, err := bot.DeleteMemberAgenda(ctx, agenda.DeleteMemberAgendaParams{MemberID: bot.Member.ID, Tag: "idle"})
		return err
	}
	return []*botctx.Node{
		{
			ID: "name?", Trigger: botctx.TextIs("order"), SavesPosition: true, Schedules: botctx.Nodes("reminder"),
			Responses: botctx.Say("What is your name?"), Post: botctx.Do(remind),
		},
		{ID: "thanks", Parent: "name?", Trigger: botctx.AnyText(), Pre: botctx.Do(cancel), Responses: botctx.Say("Thanks!")},
		{ID: "reminder", Responses: botctx.Say("Are you still there, {{firstName}}?")},
	}
}

func dailyAgenda() []*botctx.Node {
	subscribe := func(ctx context.Context, bot *botctx.Context) error {
		year, month, day := bot.Now().UTC().Date()
		until := time.Date(year, month, day+3, 0, 0, 0, -int(time.Millisecond), time.UTC)
		_, err := bot.NewAgenda(ctx, agenda.NewAgendaParams{
			MemberID: bot.Member.ID, NodeCompositeID: "quote", Pattern: "0 9 * * *", RunUntil: document.TimestampOf(until), Tag: "daily",
			Meta: document.O("topic", "tea", "until", until.Format("2 Jan")),
		})
		return err
	}
	quote := func(ctx context.Context, bot *botctx.Context) error {
		return reply(ctx, bot, bot.Now().UTC().Format("Mon 15:04: ")+document.Get(bot.AgendaMeta, "topic", "")+
			" (until "+document.Get(bot.AgendaMeta, "until", "")+")")
	}
	return []*botctx.Node{
		{ID: "subscribe", Trigger: botctx.TextIs("subscribe"), Pre: botctx.Do(subscribe), Schedules: botctx.Nodes("quote")},
		{ID: "quote", Pre: botctx.Do(quote)},
	}
}

func unsubscribe() []*botctx.Node {
	remind := func(ctx context.Context, bot *botctx.Context) error {
		_, err := bot.NewAgenda(ctx, agenda.NewAgendaParams{
			MemberID: bot.Member.ID, NodeCompositeID: "reminder", NextRunAt: document.TimestampOf(bot.Now().Add(time.Hour)),
		})
		return err
	}
	unsubscribe := func(_ context.Context, bot *botctx.Context) error {
		bot.Member.BotMeta.Set("subscribe", false)
		return nil
	}
	count := func(_ context.Context, bot *botctx.Context) error {
		bot.Member.Meta.Set("reminders", document.Get(bot.Member.Meta, "reminders", 0)+1)
		return nil
	}
	return []*botctx.Node{
		{ID: "order", Trigger: botctx.TextIs("order"), Post: botctx.Do(remind), Schedules: botctx.Nodes("reminder")},
		{ID: "stop", Trigger: botctx.TextIs("stop"), Pre: botctx.Do(unsubscribe), Responses: botctx.Say("No more from me.")},
		{ID: "reminder", Pre: botctx.Do(count), Responses: botctx.Say("Your order is waiting.")},
		{ID: "chat", Trigger: botctx.TextIs("hi"), Responses: botctx.Say("Hello")},
	}
}
