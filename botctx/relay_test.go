package botctx_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/send"
)

func TestRelay_BothWays(t *testing.T) {
	t.Parallel()
	d := newDesk(t, channel.Channel{Type: channel.Charlie}, []*botctx.Node{
		{ID: "help", Tree: "live chat", Trigger: botctx.TextIs("help"), Responses: []send.Response{send.Text("Say stop.")}},
		{ID: "time", Trigger: botctx.TextIs("/time"), Responses: []send.Response{send.Text("Midnight.")}},
	}, withLiveChatTree())
	d.connect(t)

	d.ada.Says("It leaks.")
	d.ada.Says("help")
	d.ada.Says("/time") // The node is not in the live-chat tree.
	d.grace.Says("Where?")
	d.grace.Says("/time")
	d.ada.Sends(send.MessageEvent{Type: send.TypeImage, Data: document.O("url", "https://shop.example/kettle.png")})

	require.Equal(t, "Say stop.\nWhere?", texts(d.ada))
	require.Equal(t, "It leaks.\n/time\nMidnight.\n", texts(d.grace))
	require.Equal(t, send.Image("https://shop.example/kettle.png"), d.grace.LastMessage())
}

func TestRelay_NoMessage(t *testing.T) {
	t.Parallel()
	d := newDesk(t, channel.Channel{Type: channel.Charlie}, []*botctx.Node{{ID: "none"}})
	d.connect(t)
	for _, receipt := range []send.Type{send.TypeDelivery, send.TypeRead, send.TypeEcho} {
		d.ada.Sends(send.MessageEvent{Type: receipt})
		d.grace.Sends(send.MessageEvent{Type: receipt})
	}
	require.Empty(t, texts(d.ada)+texts(d.grace))
}

func TestRelay_NotHandled(t *testing.T) {
	t.Parallel()
	d := newDesk(t, channel.Channel{Type: channel.Charlie}, nil)
	d.HandleFunc(func(ctx context.Context, bot *botctx.Context) error { return bot.Reply(ctx, send.Text("I am a bot.")) })
	d.ada.Says("Hello?")
	d.ask(t)
	d.ada.Says("Anybody?") // No agent has taken the request: the bot answers, and the message is kept for the agent.
	d.grace.Takes(d.grace.Ticket())
	d.ada.Says("It leaks.")
	d.grace.Says("Where?")
	require.Equal(t, "I am a bot.\nI am a bot.\nWhere?", texts(d.ada), "the bot has spoken: nobody else does")
	require.Equal(t, "Written before (1):\nAnybody?\nIt leaks.", texts(d.grace))
}

func TestRelay_Fails(t *testing.T) {
	t.Parallel()
	d := newDesk(t, channel.Channel{Type: channel.Charlie}, []*botctx.Node{{ID: "none"}})
	d.connect(t)
	long := strings.Repeat("a", 40_001)
	d.ada.Says(long)
	require.Equal(t, told.Unshown, d.grace.Last())
	require.ErrorIs(t, d.grace.TrySays(long), boterr.InvalidArgument)
	require.Equal(t, told.Unsent, d.grace.Last())
}

// An action that clears bot.Member is a bug in the bot. The run fails with an error.
func TestRelay_WithoutMember(t *testing.T) {
	t.Parallel()
	for name, isTaken := range map[string]bool{"taken": true, "waiting": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, channel.Channel{Type: channel.Charlie}, []*botctx.Node{{
				ID: "mute", Tree: "live chat", Priority: botctx.MutePriority, Trigger: botctx.TextIs("hi"),
				Pre: botctx.Do(func(ctx context.Context, bot *botctx.Context) error {
					bot.Member = nil
					return bot.Reply(ctx, send.Text("Hello"))
				}),
			}}, withLiveChatTree())
			d.ask(t)
			if isTaken {
				d.grace.Takes(d.grace.Ticket())
			}
			err := d.Runtime().Receive(t.Context(), botctx.Inbound{App: fakes.DefaultApp, Channel: "web", Event: send.MessageEvent{
				From: d.ada.Member().ExternalID, Type: send.TypeText, Data: document.O("text", "hi"),
			}})
			require.Equal(t, boterr.FailedPrecondition, boterr.CodeOf(err), "%v", err)
		})
	}
}
