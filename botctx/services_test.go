package botctx_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

func TestServices_Scope(t *testing.T) {
	t.Parallel()
	var scopes []record.Scope
	runtime := newRuntime(t, botctx.Config{Override: func(scope record.Scope, _ botctx.Services) botctx.Services {
		scopes = append(scopes, scope)
		return botctx.Services{}
	}})
	scope := record.Scope{App: "shop", Channel: "web", Member: "ada"}
	require.Equal(t, scope, runtime.Operations(scope).Scope())
	require.Equal(t, []record.Scope{scope}, scopes)
}

// A host's own channels decide which channels there are for the SDK's members.
func TestServices_Channels(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t), overriddenBy(func(record.Scope, botctx.Services) botctx.Services {
		return botctx.Services{Channels: oneChannel{}}
	}))
	bot := p.Operations(record.Scope{})
	_, err := bot.PatchMembers(t.Context(), member.PatchMembersParams{
		Channel: &channel.Channel{ID: "host"}, Patch: document.O("gender", "f"),
	})
	require.NoError(t, err)
	_, err = bot.PatchMembers(t.Context(), member.PatchMembersParams{
		Channel: &channel.Channel{ID: "other"}, Patch: document.O("gender", "f"),
	})
	requireFailure(t, err, "patchMembers", boterr.NotFound, "channel._id")
}

// oneChannel knows the channel "host", and names its operation in errors, as an
// implementation behind a wire does.
type oneChannel struct{}

func (oneChannel) GetChannel(_ context.Context, p channel.GetChannelParams) (*channel.Reference, error) {
	if p.ChannelID != "host" {
		return nil, boterr.Wrap("getChannel", boterr.New(boterr.NotFound, "channelId", "there is no such channel"))
	}
	return &channel.Reference{ChannelID: p.ChannelID, AppID: "app-1"}, nil
}

// What a host's part says is the error of the operation that bot logic called, also
// where it is called from inside of another.
func TestServices_Errors(t *testing.T) {
	t.Parallel()
	for name, failure := range map[string]error{
		"an error with the name of an operation": boterr.Wrap("getMember", boterr.New(boterr.Unavailable, "", "the wire is cut")),
		"an error with a code":                   boterr.New(boterr.Unavailable, "", "the wire is cut"),
		"a code":                                 boterr.Unavailable,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := fakes.New(fakes.For(t), overriddenBy(func(record.Scope, botctx.Services) botctx.Services {
				return botctx.Services{Members: failing{failure: failure}}
			}))
			web := p.AddChannel(channel.Channel{})
			bot := p.Operations(record.Scope{Channel: web.ID, Member: "ada"})
			_, err := bot.GetMember(t.Context(), member.GetMemberParams{MemberID: "ada"})
			requireFailure(t, err, "getMember", boterr.Unavailable, "")
			_, err = bot.SendResponse(t.Context(), send.SendResponseParams{Response: send.Text("Hello")})
			requireFailure(t, err, "sendResponse", boterr.Unavailable, "memberId")
			_, err = bot.NewAgenda(t.Context(), agenda.NewAgendaParams{MemberID: "ada", NodeCompositeID: "n", NextRunAt: 1})
			requireFailure(t, err, "newAgenda", boterr.Unavailable, "memberId")
		})
	}
}

// failing is a host's members that cannot be reached.
type failing struct {
	member.Operations

	failure error
}

func (f failing) GetMember(context.Context, member.GetMemberParams) (*member.Member, error) {
	return nil, f.failure
}

// deaf is a connector that does not reach one recipient.
type deaf struct{ to string }

func (d deaf) Send(_ context.Context, m send.Message) (send.Delivery, error) {
	if m.To == d.to {
		return send.Delivery{}, errors.New("no answer")
	}
	return send.Delivery{Reply: document.O("ok", true)}, nil
}

// A send to several members gives every outcome together with the error, typed, by
// name, and typed over that door.
func TestCall_Outcomes(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	ada, bob := p.AddMember(member.Member{}), p.AddMember(member.Member{})
	host, err := botctx.New(botctx.Config{
		Store:      p.Runtime().Env().Store,
		Connectors: map[channel.Type]send.Connector{channel.Webchat: deaf{to: ada.ExternalID()}},
	})
	require.NoError(t, err)
	params := send.SendResponseParams{MemberID: document.One(ada.ID(), bob.ID()), Response: send.Text("Hello")}
	bot := host.Operations(ada.Scope())
	for name, operations := range map[string]botctx.Operations{"typed": bot, "over a call": botctx.FromCaller(bot)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sent, err := operations.SendResponse(t.Context(), params)
			requireFailure(t, err, "sendResponse", boterr.Unavailable, "")
			undelivered, ok := errors.AsType[*send.UndeliveredError](err)
			require.True(t, ok)
			require.Len(t, undelivered.Failures, 1)
			require.Equal(t, ada.ID(), undelivered.Failures[0].MemberID)
			require.Len(t, sent.Results, 2)
			require.ErrorIs(t, sent.Results[0].Err, boterr.Unavailable)
			require.NoError(t, sent.Results[1].Err)
			require.Equal(t, bob.ExternalID(), sent.Results[1].MessageEvent.To)
		})
	}
	alone, err := bot.SendResponse(t.Context(), send.SendResponseParams{Response: send.Text("Hello")})
	requireFailure(t, err, "sendResponse", boterr.Unavailable, "")
	require.Zero(t, alone, "a send to one member gives no outcome beside an error")
}
