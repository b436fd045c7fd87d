package fakes_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	_ "time/tzdata" // The tests do not depend on the machine's time zones.

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

func plan(t *testing.T, bot *botctx.Context, node string, at time.Time, priority int64) {
	t.Helper()
	must(t, bot.NewAgenda, agenda.NewParams{
		MemberID: bot.Member.ID, NodeCompositeID: node, NextRunAt: document.TimestampOf(at), Priority: &priority,
	})
}

// ran returns a node that records its name when it runs.
func ran(into *[]string, id string, also ...botctx.Action) *botctx.Node {
	note := func(_ context.Context, bot *botctx.Context) error {
		*into = append(*into, id+" "+bot.Now().Format("15:04"))
		return nil
	}
	return &botctx.Node{ID: id, Pre: append([]botctx.Action{note}, also...)}
}

// schedules returns an action that schedules a node after a delay.
func schedules(node string, after time.Duration, priority int64) botctx.Action {
	return func(ctx context.Context, bot *botctx.Context) error {
		_, err := bot.NewAgenda(ctx, agenda.NewParams{
			MemberID: bot.Member.ID, NodeCompositeID: node, NextRunAt: document.TimestampOf(bot.Now().Add(after)), Priority: &priority,
		})
		return err
	}
}

func TestAdvanceTo_NotBeyondADuration(t *testing.T) {
	t.Parallel()
	requireFailure(t, "go there in several steps", func(p *fakes.Platform) {
		now := p.Now()
		p.AdvanceTo(now.AddDate(300, 0, 0))
		require.Equal(t, now, p.Now())
	})
}

func TestAdvance_AgendasInOrder(t *testing.T) {
	t.Parallel()
	var order []string
	p := fakes.New(fakes.For(t))
	for _, id := range []string{"a", "b", "c", "d", "e", "f"} {
		p.Handle(ran(&order, id))
	}
	ada, bob := p.AddMember(member.Member{}).Context(), p.AddMember(member.Member{}).Context()
	at := func(minutes int) time.Time { return fakes.Start().Add(time.Duration(minutes) * time.Minute) }
	plan(t, ada, "e", at(2), 0)
	plan(t, ada, "d", at(1), 5)
	plan(t, bob, "b", at(1), -5)
	plan(t, ada, "c", at(1), 0)
	plan(t, bob, "f", at(3), 0)
	plan(t, bob, "a", at(0), 99)
	p.Advance(2 * time.Minute)
	require.Equal(t, []string{"a 00:00", "b 00:01", "c 00:01", "d 00:01", "e 00:02"}, order, "up to and with the time itself")
	p.Advance(0)
	require.Len(t, order, 5)
	p.Advance(time.Minute)
	require.Equal(t, "f 00:03", order[5])
	require.Equal(t, at(3), p.Now())
}

func TestAdvance_ScheduledByARun(t *testing.T) {
	t.Parallel()
	var order []string
	p := fakes.New(fakes.For(t))
	p.Handle(
		ran(&order, "first", schedules("urgent", 0, -1), schedules("next", time.Hour, 0)),
		ran(&order, "second"), ran(&order, "urgent"), ran(&order, "next", schedules("last", time.Hour, 0)), ran(&order, "last"),
	)
	ada := p.AddMember(member.Member{}).Context()
	plan(t, ada, "first", fakes.Start(), 0)
	plan(t, ada, "second", fakes.Start(), 0)
	p.Advance(2 * time.Hour)
	require.Equal(t, []string{"first 00:00", "urgent 00:00", "second 00:00", "next 01:00", "last 02:00"}, order)
}

func TestAdvance_DeletedByARun(t *testing.T) {
	t.Parallel()
	var order []string
	p := fakes.New(fakes.For(t))
	p.Handle(ran(&order, "first", func(ctx context.Context, bot *botctx.Context) error {
		_, err := bot.DeleteMemberAgenda(ctx, agenda.DeleteParams{MemberID: bot.Member.ID})
		return err
	}), ran(&order, "second"))
	ada := p.AddMember(member.Member{}).Context()
	plan(t, ada, "first", fakes.Start(), 0)
	plan(t, ada, "second", fakes.Start(), 0)
	p.Advance(time.Hour)
	require.Equal(t, []string{"first 00:00"}, order)
}

func TestAdvance_AgendasWithoutEnd(t *testing.T) {
	t.Parallel()
	var order []string
	p := fakes.New()
	p.Handle(ran(&order, "ping", schedules("pong", 0, 0)), ran(&order, "pong", schedules("ping", 0, 0)))
	ada := p.AddMember(member.Member{}).Context()
	plan(t, ada, "ping", fakes.Start().Add(time.Hour), 0)
	err := p.TryAdvance(2 * time.Hour)
	require.ErrorContains(t, err, "the agendas schedule each other endlessly")
	require.ErrorContains(t, err, "2026-01-01T01:00:00Z")
	require.ErrorContains(t, err, "member-1")
}

func TestAdvance_ManyScheduledByARun(t *testing.T) {
	t.Parallel()
	const many = 1200
	var runs int
	p := fakes.New(fakes.For(t))
	p.Handle(&botctx.Node{ID: "fan", Pre: []botctx.Action{func(ctx context.Context, bot *botctx.Context) error {
		for range many {
			if err := schedules("count", 0, 0)(ctx, bot); err != nil {
				return err
			}
		}
		return nil
	}}}, &botctx.Node{ID: "count", Pre: []botctx.Action{func(context.Context, *botctx.Context) error {
		runs++
		return nil
	}}})
	plan(t, p.AddMember(member.Member{}).Context(), "fan", fakes.Start(), 0)
	p.Advance(0)
	require.Equal(t, many, runs)
}

func TestAdvance_DueWhileARunTakesTime(t *testing.T) {
	t.Parallel()
	var order []string
	p := fakes.New(fakes.For(t))
	p.Handle(ran(&order, "slow", says), ran(&order, "next"))
	ada := p.AddMember(member.Member{}).Context()
	plan(t, ada, "slow", fakes.Start().Add(20*time.Second), 0)
	plan(t, ada, "next", fakes.Start().Add(2*time.Minute), 0)
	p.Inject(fakes.Delays(botctx.OpSendResponse, 5*time.Minute))
	p.Advance(time.Minute)
	require.Equal(t, []string{"slow 00:00", "next 00:05"}, order)
}

func says(ctx context.Context, bot *botctx.Context) error { return bot.Reply(ctx, send.Text("hm")) }

func TestAdvance_FailedRunIsTriedAgain(t *testing.T) {
	t.Parallel()
	var attempts []string
	p := fakes.New(fakes.Config(func(c *botctx.Config) {
		c.Scheduler.Limit = 3
		c.Scheduler.Backoff = func(failures int) time.Duration { return time.Duration(failures) * time.Minute }
	}))
	p.Handle(ran(&attempts, "broken", func(context.Context, *botctx.Context) error {
		return boterr.New(boterr.Unavailable, "", "no network")
	}))
	ada := p.AddMember(member.Member{})
	plan(t, ada.Context(), "broken", fakes.Start(), 0)
	require.Panics(t, func() { p.Advance(time.Minute) })
	require.Equal(t, []string{"broken 00:00", "broken 00:01"}, attempts)
	require.Equal(t, fakes.Start().Add(time.Minute), p.Now(), "the time has moved all the same")
	err := p.TryAdvance(time.Hour)
	require.ErrorIs(t, err, boterr.Unavailable)
	require.ErrorContains(t, err, "member-1, attempt 3: node broken: pre-action 2")
	require.NoError(t, p.TryAdvance(24*time.Hour), "given up")
	require.Len(t, attempts, 3)
}

func TestAdvance_RefusesRuns(t *testing.T) {
	t.Parallel()
	p := fakes.New()
	p.Handle(&botctx.Node{ID: "node", Pre: []botctx.Action{func(context.Context, *botctx.Context) error {
		p.Advance(time.Hour)
		return nil
	}}})
	plan(t, p.AddMember(member.Member{}).Context(), "node", fakes.Start(), 0)
	require.ErrorContains(t, p.TryAdvance(0), "and never from a run")
}

func TestFork_GoesOnWithAgendas(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.Handle(&botctx.Node{ID: "reminder", Responses: []send.Response{send.Text("Still there?")}})
	ada := p.AddMember(member.Member{})
	plan(t, ada.Context(), "reminder", fakes.Start().Add(time.Hour), 0)
	before := p.Snapshot()
	fork := p.Fork()
	fork.Advance(time.Hour)
	require.Equal(t, "Still there?", ada.In(fork).Last())
	require.Empty(t, ada.Messages(), "on the platform that was forked nothing has happened")
	p.Advance(time.Hour)
	require.Equal(t, "Still there?", ada.Last())
	p.Restore(before)
	require.Empty(t, ada.Messages())
	p.Advance(time.Hour)
	require.Equal(t, "Still there?", ada.Last(), "what had run is to run again")
}

func TestTranscript_AgendasThatRan(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.Handle(&botctx.Node{ID: "reminder", Responses: []send.Response{send.Text("Still there?")}})
	ada := p.AddMember(member.Member{FirstName: "Ada"})
	plan(t, ada.Context(), "reminder", fakes.Start().Add(time.Hour), 0)
	p.Advance(2 * time.Hour)
	lines := strings.Split(strings.TrimSpace(p.Transcript()), "\n")
	require.Equal(t, []string{
		"2026-01-01 00:00:00.000  time moves by 2h0m0s",
		`2026-01-01 01:00:00.000  Ada <- "Still there?"`,
		"2026-01-01 01:00:00.000  agenda id-1 ran: node reminder for member-1",
	}, lines[1:])
}

func TestActorAgendas_InOrder(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	ada, bob := p.AddMember(member.Member{}), p.AddMember(member.Member{})
	var done []string
	p.Handle(&botctx.Node{ID: "n", Pre: []botctx.Action{func(_ context.Context, bot *botctx.Context) error {
		done = append(done, document.Get(bot.AgendaMeta, "name", ""))
		return nil
	}}})
	for _, one := range []struct {
		name     string
		after    time.Duration
		priority int64
	}{{"last", 3 * time.Hour, -9}, {"third", time.Hour, 5}, {"second", time.Hour, 1}, {"first", time.Minute, 9}, {"fourth", time.Hour, 5}} {
		_, err := ada.Context().NewAgenda(t.Context(), agenda.NewParams{
			MemberID: ada.ID(), NodeCompositeID: "n", NextRunAt: document.TimestampOf(p.Now().Add(one.after)),
			Priority: &one.priority, Meta: document.O("name", one.name),
		})
		require.NoError(t, err)
	}
	require.Empty(t, bob.Agendas())
	shown := []string{}
	for _, open := range ada.Agendas() {
		shown = append(shown, document.Get(open.Meta, "name", ""))
	}
	require.Equal(t, []string{"first", "second", "third", "fourth", "last"}, shown)
	p.Advance(2 * time.Hour)
	require.Equal(t, shown[:4], done)
	require.Len(t, ada.Agendas(), 1)
	p.Advance(2 * time.Hour)
	require.Equal(t, shown, done)
	require.Empty(t, ada.Agendas())
}

func TestAdvance_RefusesActions(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := fakes.New(fakes.For(t))
		var failed error
		p.Handle(&botctx.Node{ID: "hello", Trigger: botctx.AnyText(), Pre: []botctx.Action{func(context.Context, *botctx.Context) error {
			failed = p.TryAdvance(time.Hour)
			return nil
		}}}, &botctx.Node{ID: "reminder"})
		ada := p.AddMember(member.Member{})
		plan(t, ada.Context(), "reminder", fakes.Start().Add(time.Minute), 0)
		ada.Says("hi")
		require.ErrorContains(t, failed, "do not move the time in an action")
	})
}

func TestCreateAssignment_VirtualClock(t *testing.T) {
	t.Parallel()
	s := openShop(t, channel.Charlie, fakes.PausingAtOnce())
	s.ada.Says("a person, please")
	standing := s.Queue("desk")[0].ID
	const lease = 45 * time.Second
	crashed, err := query.CompileUpdate(document.O(
		"$unset", document.O("sentAt", ""),
		"$set", document.O("sender", document.O("id", "a call that crashed", "until", document.TimestampOf(s.Now().Add(lease))))))
	require.NoError(t, err)
	one, err := query.CompileFilter(document.O("_id", standing))
	require.NoError(t, err)
	_, err = s.Runtime().Env().Store.Collection("assignments").Update(t.Context(), one, query.Change{Update: crashed}, store.UpdateOptions{})
	require.NoError(t, err)

	before := s.Now()
	asked, err := s.ada.Context().CreateAssignment(t.Context(), livechat.CreateAssignmentParams{})
	require.NoError(t, err)
	require.Equal(t, standing, asked.AssignmentID)
	require.GreaterOrEqual(t, s.Now().Sub(before), lease, "the place of a call that crashed is free then")
	require.Len(t, s.grace.Tickets(), 1, "what it sent is not sent again")
}

// zoned returns a platform that reads a member's time zone from the member's meta. The node "weekly" reminds
// members who say "remind me" each Monday at nine.
func zoned(t *testing.T) *fakes.Platform {
	t.Helper()
	p := fakes.New(fakes.For(t), fakes.Config(func(c *botctx.Config) { c.Zone = zoneOfMeta }))
	p.Handle(
		&botctx.Node{ID: "remind", Trigger: botctx.TextIs("remind me"), Pre: botctx.Do(remindWeekly)},
		&botctx.Node{ID: "move", Trigger: botctx.TextIs("I live in Tokyo"), Pre: botctx.Do(func(ctx context.Context, bot *botctx.Context) error {
			bot.Member.Meta.Set("zone", "Asia/Tokyo")
			return remindWeekly(ctx, bot)
		})},
		&botctx.Node{ID: "weekly", Responses: botctx.Say("Water the plants.")},
	)
	return p
}

func zoneOfMeta(_ context.Context, m *member.Member) (string, error) {
	return document.Get(m.Meta, "zone", ""), nil
}

func remindWeekly(ctx context.Context, bot *botctx.Context) error {
	_, err := bot.NewAgenda(ctx, agenda.NewParams{
		MemberID: bot.Member.ID, NodeCompositeID: "weekly", Tag: "weekly", Replace: true,
		Pattern: "0 9 * * 1", RunUntil: document.TimestampOf(bot.Now().AddDate(1, 0, 0)),
	})
	return err
}

// remindedAt returns the times at which a member was reminded, in a time zone.
func remindedAt(t *testing.T, p *fakes.Platform, of *fakes.Actor, zone string) []string {
	t.Helper()
	where, err := time.LoadLocation(zone)
	require.NoError(t, err)
	var at []string
	for _, sent := range p.Sent() {
		if sent.Member != of.ID() {
			continue
		}
		at = append(at, sent.SentAt.In(where).Format("Mon 2 Jan 15:04"))
	}
	return at
}

func TestZone_ThatTheRunHasJustAskedFor(t *testing.T) {
	t.Parallel()
	p := zoned(t)
	ada := p.AddMember(member.Member{})
	ada.Says("I live in Tokyo")
	require.Equal(t, time.Date(2026, time.January, 5, 0, 0, 0, 0, time.UTC), ada.Agendas()[0].NextRunAt.Time().UTC())
}

func TestZone_SheMoves(t *testing.T) {
	t.Parallel()
	p := zoned(t)
	ada := p.AddMember(member.Member{FirstName: "Ada", Meta: document.O("zone", "Europe/London")})
	ada.Says("remind me")
	_, err := ada.Context().UpdateMember(t.Context(), member.UpdateParams{
		Member: document.O("_id", ada.ID(), "meta", document.O("zone", "America/New_York")),
	})
	require.NoError(t, err)
	p.Advance(12 * 24 * time.Hour)
	require.Equal(t, []string{"Mon 5 Jan 09:00", "Mon 12 Jan 09:00"}, remindedAt(t, p, ada, "America/New_York"))
	require.Contains(t, p.Transcript(),
		"2026-01-05 09:00:00.000  agenda id-1 waits until 2026-01-05T14:00:00Z, for which it is due in the time zone of member-1")
}

func TestLocation_TomorrowAtNineHers(t *testing.T) {
	t.Parallel()
	p := zoned(t)
	p.HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
		where, err := bot.Location(ctx)
		if err != nil {
			return err
		}
		year, month, day := bot.Now().In(where).Date()
		tomorrow := time.Date(year, month, day+1, 9, 0, 0, 0, where)
		return bot.Reply(ctx, send.Text(tomorrow.Format(time.RFC3339)))
	})
	ada := p.AddMember(member.Member{FirstName: "Ada", Meta: document.O("zone", "Asia/Tokyo")})
	ada.Says("when?")
	require.Equal(t, "2026-01-02T09:00:00+09:00", ada.Last())
	bob := p.AddMember(member.Member{Meta: document.O("zone", "Tokyo")})
	err := bob.TrySays("when?")
	require.ErrorIs(t, err, boterr.InvalidArgument)
	require.ErrorContains(t, err, `location: invalid argument: zone: the host returned an invalid time zone for the member member-2: "Tokyo"`)
	_, err = p.Runtime().Operations(ada.Context().Scope()).Location(t.Context())
	require.ErrorIs(t, err, boterr.FailedPrecondition)
}
