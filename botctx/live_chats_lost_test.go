package botctx_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// told are the texts of live chats by default.
var told = livechat.DefaultTexts() //nolint:gochecknoglobals // It does not change.

func TestWaiting_ToldUnlessTheBotSpeaks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		logic botctx.Action
		want  string
	}{
		"no logic":                {nil, told.Waiting},
		"a bot that says nothing": {func(context.Context, *botctx.Context) error { return nil }, told.Waiting},
		"a bot that speaks": {func(ctx context.Context, bot *botctx.Context) error {
			return bot.Reply(ctx, send.Text("I am a bot."))
		}, "I am a bot.\nI am a bot.\nI am a bot."}, // Also to the receipt.
		"a bot that writes to somebody else": {func(ctx context.Context, bot *botctx.Context) error {
			_, err := bot.SendResponse(ctx, send.SendResponseParams{MemberID: document.One("member-2"), Response: send.Text("Psst.")})
			return err
		}, told.Waiting},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, channel.Channel{Type: channel.Charlie}, []*botctx.Node{{ID: "none"}}, withLiveChatTree())
			if c.logic != nil {
				d.HandleFunc(c.logic)
			}
			d.AddMember(member.Member{Channel: "web", FirstName: "Bob"})
			d.ask(t)
			d.ada.Says("Hello?")
			d.ada.Says("Anybody?")
			d.ada.Sends(send.MessageEvent{Type: send.TypeRead})
			require.Equal(t, c.want, texts(d.ada))
			d.grace.Takes(d.grace.Ticket())
			require.Equal(t, "Written before (2):\nHello?\nAnybody?", texts(d.grace))
		})
	}
}

func TestTap_TooLateIsTold(t *testing.T) {
	t.Parallel()
	for _, platform := range []channel.Type{channel.Alpha, channel.Bravo, channel.Charlie, channel.Delta} {
		t.Run(string(platform), func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, channel.Channel{Type: platform}, []*botctx.Node{{ID: "none"}}, fakes.WithInbox())
			d.ask(t)
			ticket := d.grace.Ticket()
			_, err := d.ada.Context().RemovePendingAssignmentByMemberID(t.Context(),
				livechat.RemovePendingAssignmentByMemberIDParams{MemberID: d.ada.ID()})
			require.NoError(t, err)
			d.grace.Taps(ticket)
			tickets := d.grace.Tickets()
			require.Equal(t, told.Late, tickets[len(tickets)-1].Text())
			require.Len(t, d.AddAgent("desk", "Hedy", "support").Tickets(), 2, "the others see it, too")
		})
	}
}

func TestGoodbye_CannotBeSent(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		code boterr.Code
		by   livechat.EndedBy
	}{
		"blocked": {boterr.FailedPrecondition, livechat.EndedByMemberGone},
		"down":    {boterr.Unavailable, livechat.EndedByIdle},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, channel.Channel{Type: channel.Charlie}, shopNodes(), withLiveChatTree())
			d.callsAgent()
			d.RefuseSends(c.code, d.ada)
			for range 5 {
				require.Error(t, d.grace.TrySays("#done"))
				if c.by != livechat.EndedByIdle {
					break
				}
				d.Advance(6 * time.Minute)
			}
			require.False(t, d.ada.Member().BotMeta.LiveChat())
			require.Equal(t, c.by, d.assignments(t)[0].EndedBy)
		})
	}
}

func TestLiveChatPosition(t *testing.T) {
	t.Parallel()
	d := newDesk(t, channel.Channel{Type: channel.Charlie}, []*botctx.Node{{ID: "none"}})
	at, err := d.ada.Context().LiveChatPosition(t.Context())
	require.NoError(t, err)
	require.Zero(t, at)
	d.ask(t)
	at, err = d.ada.Context().LiveChatPosition(t.Context())
	require.NoError(t, err)
	require.Equal(t, livechat.Position{Place: 1, Waiting: 1}, at)
	_, err = d.Operations(record.Scope{App: fakes.DefaultApp, Channel: "desk"}).LiveChatPosition(t.Context())
	require.ErrorIs(t, err, boterr.FailedPrecondition)
}

func TestTexts_OfTheHost(t *testing.T) {
	t.Parallel()
	own := livechat.Texts{Over: "C'est fini."}
	d := newDesk(t, channel.Channel{Type: channel.Charlie}, shopNodes(), withLiveChatTree(),
		fakes.Config(func(c *botctx.Config) { c.LiveChat.Texts = &own }))
	d.ada.Says("agent")
	before := len(d.ada.Messages())
	d.ada.Says("Hello?")
	require.Len(t, d.ada.Messages(), before, "switched off")
	d.grace.Takes(d.grace.Ticket())
	require.Equal(t, "Hello?", d.grace.Last())
	d.grace.Says("#done")
	d.grace.Says("Hello?")
	require.Equal(t, "C'est fini.", d.grace.Last())
}
