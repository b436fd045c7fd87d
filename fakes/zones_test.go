package fakes_test

import (
	"context"
	"testing"
	"time"
	_ "time/tzdata" // The tests do not depend on what the machine has.

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// zoned is a platform on which members have the zone of their meta, and the node "weekly" reminds
// each Monday at nine of who says "remind me".
func zoned(t *testing.T, changes ...func(*botctx.Config)) *fakes.Platform {
	t.Helper()
	options := []fakes.Option{fakes.For(t), fakes.Config(func(c *botctx.Config) { c.Zone = zoneOfMeta })}
	for _, change := range changes {
		options = append(options, fakes.Config(change))
	}
	p := fakes.New(options...)
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
	_, err := bot.NewAgenda(ctx, agenda.NewAgendaParams{
		MemberID: bot.Member.ID, NodeCompositeID: "weekly", Tag: "weekly", Replace: true,
		Pattern: "0 9 * * 1", RunUntil: document.TimestampOf(bot.Now().AddDate(1, 0, 0)),
	})
	return err
}

// remindedAt returns when a member was reminded, as the clocks of a zone show it.
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

func TestZone_EachMondayAtNineHers(t *testing.T) {
	t.Parallel()
	p := zoned(t)
	ada := p.AddMember(member.Member{FirstName: "Ada", Meta: document.O("zone", "America/New_York")})
	bob := p.AddMember(member.Member{FirstName: "Bob", Meta: document.O("zone", "Europe/London")})
	ada.Says("remind me")
	bob.Says("remind me")
	p.AdvanceTo(time.Date(2026, time.March, 10, 0, 0, 0, 0, time.UTC))
	require.Equal(t, []string{"Mon 2 Mar 09:00", "Mon 9 Mar 09:00"}, remindedAt(t, p, ada, "America/New_York")[8:], "the clocks changed on 8 March")
	require.Equal(t, []string{"Mon 2 Mar 09:00", "Mon 9 Mar 09:00"}, remindedAt(t, p, bob, "Europe/London")[8:])
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
	_, err := ada.Context().UpdateMember(t.Context(), member.UpdateMemberParams{
		Member: document.O("_id", ada.ID(), "meta", document.O("zone", "America/New_York")),
	})
	require.NoError(t, err)
	p.Advance(12 * 24 * time.Hour)
	require.Equal(t, []string{"Mon 5 Jan 09:00", "Mon 12 Jan 09:00"}, remindedAt(t, p, ada, "America/New_York"))
	require.Contains(t, p.Transcript(),
		"2026-01-05 09:00:00.000  agenda id-1 waits until 2026-01-05T14:00:00Z, for which it is due in the time zone of member-1")
}

func TestZone_OfTheAgendaAlone(t *testing.T) {
	t.Parallel()
	p := zoned(t)
	ada := p.AddMember(member.Member{Meta: document.O("zone", "Europe/London")})
	_, err := ada.Context().NewAgenda(t.Context(), agenda.NewAgendaParams{
		MemberID: ada.ID(), NodeCompositeID: "weekly", Pattern: agenda.InZone("Asia/Tokyo", "0 9 * * 1"),
		RunUntil: document.TimestampOf(p.Now().AddDate(1, 0, 0)),
	})
	require.NoError(t, err)
	p.Advance(7 * 24 * time.Hour)
	require.Equal(t, []string{"Mon 5 Jan 09:00"}, remindedAt(t, p, ada, "Asia/Tokyo"))
}

func TestZone_HostCannotTell(t *testing.T) {
	t.Parallel()
	isDown := false
	p := zoned(t, func(c *botctx.Config) {
		c.Zone = func(ctx context.Context, m *member.Member) (string, error) {
			if isDown {
				return "", boterr.New(boterr.Unavailable, "", "the directory does not answer")
			}
			return zoneOfMeta(ctx, m)
		}
	})
	ada := p.AddMember(member.Member{FirstName: "Ada", Meta: document.O("zone", "Europe/London")})
	ada.Says("remind me")
	isDown = true
	err := ada.TrySays("remind me")
	require.ErrorIs(t, err, boterr.Unavailable)
	require.ErrorContains(t, err, "newAgenda: unavailable: zone: the host does not tell the time zone of the member member-1: ")

	p.AdvanceTo(time.Date(2026, time.January, 5, 8, 59, 0, 0, time.UTC))
	require.ErrorContains(t, p.TryAdvance(time.Minute), "the directory does not answer")
	require.Empty(t, ada.Messages())
	isDown = false
	p.Advance(7 * 24 * time.Hour)
	require.Equal(t, []string{"Mon 5 Jan 09:00", "Mon 12 Jan 09:00"}, remindedAt(t, p, ada, "Europe/London"), "a moment late, and then as before")
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
	require.ErrorContains(t, err, `location: invalid argument: zone: the host gives the member member-2 a time zone that is none: "Tokyo"`)
	_, err = p.Runtime().Operations(ada.Context().Scope()).Location(t.Context())
	require.ErrorIs(t, err, boterr.FailedPrecondition)
}
