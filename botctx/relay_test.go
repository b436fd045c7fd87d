package botctx_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
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

func TestRelay_NotFilled(t *testing.T) {
	t.Parallel()
	d := newDesk(t, channel.Channel{Type: channel.Charlie}, []*botctx.Node{{ID: "none"}})
	d.connect(t)
	d.ada.Says("I am {{firstName}}.")
	d.grace.Says("And {{lastName}}?")
	require.Equal(t, "I am {{firstName}}.", texts(d.grace))
	require.Equal(t, "And {{lastName}}?", texts(d.ada))
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

func TestRelay_ChatsDoNotWaitForEachOther(t *testing.T) {
	t.Parallel()
	for name, database := range map[string]store.Store{"alone": memstore.New(), "shared": sharedStore{memstore.New()}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			platform := &rooms{began: make(chan struct{}, 2), goOn: make(chan struct{})}
			p, err := botctx.New(botctx.Config{
				Store: database, MaxWait: 10 * time.Millisecond,
				Connectors: map[channel.Type]send.Connector{channel.Webchat: platform, channel.Charlie: platform},
			})
			require.NoError(t, err)
			p.HandleFunc(func(context.Context, *botctx.Context) error { return nil })
			chats := channels.New(p.Env(), record.Scope{App: "shop"})
			for _, c := range []channel.Channel{{ID: "web", Type: channel.Webchat, On: true}, {ID: "desk", Type: channel.Charlie, On: true}} {
				_, err = chats.Save(t.Context(), &c)
				require.NoError(t, err)
			}
			for _, name := range []string{"Ada", "Bob"} {
				m, err := members.New(p.Env(), record.Scope{App: "shop"}, chats).Insert(t.Context(), member.Member{
					Channel: "web", ExternalID: "e-" + name, FirstName: name,
				})
				require.NoError(t, err)
				asked, err := p.CreateAssignment(t.Context(), "shop", livechat.CreateAssignmentParams{Member: m, Targets: []livechat.Target{
					{Channel: "desk", BroadcastGroups: []channel.BroadcastGroupMember{{ID: "support", Type: "user"}}},
				}})
				require.NoError(t, err)
				_, err = p.TakeTicket(t.Context(), "shop", livechat.TakeParams{
					AssignmentID: asked.AssignmentID, ChannelID: "desk", AdminExternalID: "grace",
				})
				require.NoError(t, err)
			}
			for _, said := range []struct{ room, text string }{{"room of Ada", "1"}, {"room of Bob", "2"}, {"room of Ada", "3"}} {
				require.NoError(t, p.Accept(t.Context(), botctx.Inbound{App: "shop", Channel: "desk", Conversation: said.room, Event: send.MessageEvent{
					From: "grace", To: said.room, Type: send.TypeText, Data: document.O("text", said.text),
				}}))
			}
			platform.texts = nil
			ended := make(chan error)
			go func() { ended <- second(p.RunNextEvent(context.WithoutCancel(t.Context()))) }()
			<-platform.began
			for _, isRun := range []bool{true, false} { // The next message to Ada waits for the first.
				result, err := p.RunNextEvent(t.Context())
				require.NoError(t, err)
				require.NoError(t, result.Err)
				require.Equal(t, isRun, result.Ran && !result.IsPostponed, "%+v", result)
			}
			require.Equal(t, []string{"2"}, platform.all())
			close(platform.goOn)
			require.NoError(t, <-ended)
			require.NoError(t, second(p.RunNextEvent(t.Context())))
			require.Equal(t, []string{"2", "1", "3"}, platform.all())
		})
	}
}
