package botctx_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store/memstore"
)

// customers is a host's own members, of which this test needs one operation.
type customers struct {
	member.Operations
}

func (customers) GetMember(_ context.Context, p member.GetMemberParams) (*member.Member, error) {
	if p.MemberID != "customer-7" {
		return nil, boterr.NotFound
	}
	return &member.Member{ID: "customer-7", App: "shop", Channel: "web", ExternalID: "e7", FirstName: "Ada"}, nil
}

// mailbox is a host's connector that keeps what it sent.
type mailbox struct{ sent []send.Message }

func (m *mailbox) Send(_ context.Context, message send.Message) (send.Delivery, error) {
	m.sent = append(m.sent, message)
	return send.Delivery{}, nil
}

// A host that has its own members and channels needs neither in the store.
func TestHost_OwnRecords(t *testing.T) {
	t.Parallel()
	var box mailbox
	runtime, err := botctx.New(botctx.Config{
		Store:      memstore.New(),
		Connectors: map[channel.Type]send.Connector{channel.Webchat: &box},
		Override:   func(record.Scope, botctx.Services) botctx.Services { return botctx.Services{Members: customers{}} },
		LoadChannel: func(_ context.Context, app, id string) (*channel.Channel, error) {
			return &channel.Channel{ID: id, App: app, Type: channel.Webchat, On: true}, nil
		},
		Arrive: func(ctx context.Context, _ botctx.Inbound) (*member.Member, error) {
			return customers{}.GetMember(ctx, member.GetMemberParams{MemberID: "customer-7"})
		},
	})
	require.NoError(t, err)
	runtime.HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
		return bot.Reply(ctx, send.Template("Hello {{firstName}}"))
	})
	require.NoError(t, runtime.Receive(t.Context(), botctx.Inbound{
		App: "shop", Channel: "web",
		Event: send.MessageEvent{From: "e7", Type: send.TypeText, Data: document.O("text", "hi")},
	}))
	require.Len(t, box.sent, 1)
	require.Equal(t, "e7", box.sent[0].To)
	require.Equal(t, "Hello Ada", box.sent[0].Response.Text())

	bot, err := runtime.Context(t.Context(), record.Scope{App: "shop", Channel: "web", Member: "customer-7"})
	require.NoError(t, err)
	require.Equal(t, "Ada", bot.Member.FirstName)
	_, err = runtime.Operations(bot.Scope()).GetMember(t.Context(), member.GetMemberParams{MemberID: "nobody"})
	require.ErrorIs(t, err, boterr.NotFound)
	require.ErrorContains(t, err, "getMember: ")
}

// What logic makes of its Channel is not what its sends go by.
// TestRun_ChangesItsOwnCopyOfAChannel has a host that keeps the channel, logic that changes what it is given of it,
// and a second member.
func TestRun_ChangesItsOwnCopyOfAChannel(t *testing.T) {
	t.Parallel()
	newChannel := func() *channel.Channel {
		return &channel.Channel{
			ID: "web", App: "shop", Type: channel.Webchat, On: true, Name: "Web", Metadata: document.O("open", true),
			PriorityGroups: []channel.PriorityGroup{{Group: "all", Trees: []string{"a tree"}}},
		}
	}
	var box mailbox
	kept := newChannel()
	runtime, err := botctx.New(botctx.Config{
		Store: memstore.New(), Connectors: map[channel.Type]send.Connector{channel.Webchat: &box},
		LoadChannel: func(context.Context, string, string) (*channel.Channel, error) { return kept, nil },
	})
	require.NoError(t, err)
	runtime.HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
		require.Equal(t, newChannel(), bot.Channel)
		bot.Channel.Name, bot.Channel.On = "changed", false
		bot.Channel.Metadata.Set("open", false)
		bot.Channel.PriorityGroups[0].Trees[0] = "changed"
		return bot.Reply(ctx, send.Text("hello"))
	})
	for _, from := range []string{"ada", "bob"} {
		require.NoError(t, runtime.Receive(t.Context(), botctx.Inbound{
			App: "shop", Channel: "web", Event: send.MessageEvent{From: from, Type: send.TypeText},
		}))
	}
	require.Equal(t, newChannel(), kept, "the host's")
	for _, message := range box.sent {
		require.Equal(t, newChannel(), message.Channel, "what the connector sees")
	}
}

func TestRun_LoadsItsChannelOnce(t *testing.T) {
	t.Parallel()
	var box mailbox
	var loaded []string
	runtime, err := botctx.New(botctx.Config{
		Store:      memstore.New(),
		Connectors: map[channel.Type]send.Connector{channel.Webchat: &box},
		LoadChannel: func(_ context.Context, app, id string) (*channel.Channel, error) {
			loaded = append(loaded, id)
			return &channel.Channel{ID: id, App: app, Type: channel.Webchat, On: true}, nil
		},
	})
	require.NoError(t, err)
	runtime.HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
		bot.Channel.ID, bot.Channel.Type = "lost", channel.Alpha
		if err := bot.Reply(ctx, send.Text("one"), send.Text("two")); err != nil {
			return err
		}
		_, err := bot.GetChannel(ctx, channel.GetChannelParams{ChannelID: "other"})
		return err
	})
	require.NoError(t, runtime.Receive(t.Context(), botctx.Inbound{
		App: "shop", Channel: "web", Event: send.MessageEvent{From: "e1", Type: send.TypeText},
	}))
	require.Equal(t, []string{"web", "other"}, loaded)
	require.Len(t, box.sent, 2)
	for _, m := range box.sent {
		require.Equal(t, "web", m.Channel.ID)
	}
}

// A host that loads channels its own way may leave members to the SDK.
func TestHost_OwnArrival(t *testing.T) {
	t.Parallel()
	runtime, err := botctx.New(botctx.Config{
		Store: memstore.New(),
		LoadChannel: func(_ context.Context, app, id string) (*channel.Channel, error) {
			if id != "web" {
				return nil, nil //nolint:nilnil // A host that says it this way is understood.
			}
			return &channel.Channel{ID: id, App: app, Type: channel.Webchat}, nil
		},
	})
	require.NoError(t, err)
	var arrived *member.Member
	runtime.HandleFunc(func(_ context.Context, bot *botctx.Context) error {
		arrived = bot.Member
		return nil
	})
	event := send.MessageEvent{From: "e1", Type: send.TypeText}
	require.NoError(t, runtime.Receive(t.Context(), botctx.Inbound{App: "shop", Channel: "web", Event: event}))
	require.Equal(t, "e1", arrived.ExternalID)
	require.ErrorIs(t, runtime.Receive(t.Context(), botctx.Inbound{App: "shop", Channel: "other", Event: event}), boterr.NotFound)
	reference, err := runtime.Operations(record.Scope{App: "shop"}).GetChannel(t.Context(), channel.GetChannelParams{ChannelID: "web"})
	require.NoError(t, err)
	require.Equal(t, &channel.Reference{ChannelID: "web", AppID: "shop"}, reference)
}
