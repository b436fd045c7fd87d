package botctx_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
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
)

func TestServices_Scope(t *testing.T) {
	t.Parallel()
	var scopes []botctx.Scope
	runtime := newRuntime(t, botctx.Config{Override: func(scope botctx.Scope, _ botctx.Services) botctx.Services {
		scopes = append(scopes, scope)
		return botctx.Services{}
	}})
	scope := botctx.Scope{App: "shop", Channel: "web", Member: "ada"}
	require.Equal(t, scope, runtime.Operations(scope).Scope())
	require.Equal(t, []botctx.Scope{scope}, scopes)
}

// The SDK's operations on members use the host's channels.
func TestServices_Channels(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t), overriddenBy(func(botctx.Scope, botctx.Services) botctx.Services {
		return botctx.Services{Channels: oneChannel{}}
	}))
	bot := p.Operations(botctx.Scope{})
	_, err := bot.PatchMembers(t.Context(), member.PatchParams{
		Channel: &channel.Channel{ID: "host"}, Patch: document.O("gender", "f"),
	})
	require.NoError(t, err)
	_, err = bot.PatchMembers(t.Context(), member.PatchParams{
		Channel: &channel.Channel{ID: "other"}, Patch: document.O("gender", "f"),
	})
	requireFailure(t, err, "patchMembers", boterr.NotFound, "channel._id")
}

// oneChannel is a channel.Operations with only the channel "host". Like a remote implementation, it sets the operation of
// errors.
type oneChannel struct{}

func (oneChannel) GetChannel(_ context.Context, p channel.GetParams) (*channel.Reference, error) {
	if p.ChannelID != "host" {
		return nil, boterr.Wrap("getChannel", boterr.New(boterr.NotFound, "channelId", "there is no such channel"))
	}
	return &channel.Reference{ChannelID: p.ChannelID, AppID: "app-1"}, nil
}

// If an operation calls the host's implementation of another operation, an error of the latter gets the name of the
// operation that bot logic called.
func TestServices_Errors(t *testing.T) {
	t.Parallel()
	for name, failure := range map[string]error{
		"an error with the name of an operation": boterr.Wrap("getMember", boterr.New(boterr.Unavailable, "", "the wire is cut")),
		"an error with a code":                   boterr.New(boterr.Unavailable, "", "the wire is cut"),
		"a code":                                 boterr.Unavailable,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := fakes.New(fakes.For(t), overriddenBy(func(botctx.Scope, botctx.Services) botctx.Services {
				return botctx.Services{Members: failing{failure: failure}}
			}))
			web := p.AddChannel(channel.Channel{})
			bot := p.Operations(botctx.Scope{Channel: web.ID, Member: "ada"})
			_, err := bot.GetMember(t.Context(), member.GetParams{MemberID: "ada"})
			requireFailure(t, err, "getMember", boterr.Unavailable, "")
			_, err = bot.SendResponse(t.Context(), send.SendResponseParams{Response: send.Text("Hello")})
			requireFailure(t, err, "sendResponse", boterr.Unavailable, "memberId")
			_, err = bot.NewAgenda(t.Context(), agenda.NewParams{MemberID: "ada", NodeCompositeID: "n", NextRunAt: 1})
			requireFailure(t, err, "newAgenda", boterr.Unavailable, "memberId")
		})
	}
}

// failing is a host's member.Operations that return Unavailable.
type failing struct {
	member.Operations

	failure error
}

func (f failing) GetMember(context.Context, member.GetParams) (*member.Member, error) {
	return nil, f.failure
}

// deaf is a connector that returns an error for one recipient.
type deaf struct{ to string }

func (d deaf) Send(_ context.Context, m send.Message) (send.Delivery, error) {
	if m.To == d.to {
		return send.Delivery{}, errors.New("no answer")
	}
	return send.Delivery{Reply: document.O("ok", true)}, nil
}

// A send to several members returns all results together with the error: as a method, with Call, and through FromCaller.
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

// loud wraps the SDK's member.Operations. Names are in capitals, Bob does not exist, and patches are counted.
type loud struct {
	member.Operations

	patches *atomic.Int32
}

func (l loud) GetMember(ctx context.Context, p member.GetParams) (*member.Member, error) {
	found, err := l.Operations.GetMember(ctx, p)
	if err != nil {
		return nil, err
	}
	if found.FirstName == "Bob" {
		return nil, record.NotFound("member", p.MemberID)
	}
	found.FirstName = strings.ToUpper(found.FirstName)
	return found, nil
}

func (l loud) PatchMembers(ctx context.Context, p member.PatchParams) (member.PatchResult, error) {
	l.patches.Add(1)
	return l.Operations.PatchMembers(ctx, p)
}

func withLoudMembers(patches *atomic.Int32) fakes.Option {
	return overriddenBy(func(_ botctx.Scope, own botctx.Services) botctx.Services {
		return botctx.Services{Members: loud{own.Members, patches}}
	})
}

// If the host wraps one domain, the SDK's other domains use the wrapper.
func TestOverride_OtherDomainsWorkWithIt(t *testing.T) {
	t.Parallel()
	var patches atomic.Int32
	p := fakes.New(fakes.For(t), fakes.Config(func(c *botctx.Config) {
		c.Arrive = func(_ context.Context, in botctx.Inbound) (*member.Member, error) { return &in.Profile, nil }
	}), withLoudMembers(&patches))
	p.AddChannel(channel.Channel{ID: "web"})
	p.AddChannel(channel.Channel{ID: "desk", Type: channel.Charlie, BroadcastGroups: []channel.BroadcastGroup{
		{Label: "default", Groups: []channel.BroadcastGroupMember{{ID: "support", Type: "public_channel"}}},
	}})
	p.Pair("web", "desk")
	members := members.New(p.Runtime().Env(), record.Scope{App: fakes.DefaultApp}, channels.New(p.Runtime().Env(), record.Scope{App: fakes.DefaultApp}))
	for _, name := range []string{"Ada", "Bob"} {
		_, err := members.Insert(t.Context(), member.Member{ID: strings.ToLower(name), Channel: "web", FirstName: name})
		require.NoError(t, err)
	}
	for name, call := range map[string]func(bot *botctx.Context) error{
		"sends": func(bot *botctx.Context) error {
			_, err := bot.SendResponse(t.Context(), send.SendResponseParams{Response: send.Template("Hello {{firstName}}")})
			return err
		},
		"agendas": func(bot *botctx.Context) error {
			_, err := bot.NewAgenda(t.Context(), agenda.NewParams{MemberID: bot.Scope().Member, NodeCompositeID: "n", NextRunAt: 1})
			return err
		},
		"live chats": func(bot *botctx.Context) error {
			_, err := bot.CreateAssignment(t.Context(), livechat.CreateAssignmentParams{})
			return err
		},
	} {
		require.NoError(t, call(p.Operations(botctx.Scope{Channel: "web", Member: "ada"})), name)
		require.ErrorIs(t, call(p.Operations(botctx.Scope{Channel: "web", Member: "bob"})), boterr.NotFound, name)
	}
	greeted := slices.ContainsFunc(p.Sent(), func(s fakes.Sent) bool { return s.Response.Text() == "Hello ADA" })
	require.True(t, greeted)
	require.Positive(t, patches.Load(), "the member in a live chat is marked by the host's members")
}

// audited wraps the SDK's livechat.Operations and sets the summary of each request.
type audited struct{ livechat.Operations }

func (a audited) CreateAssignment(ctx context.Context, p livechat.CreateAssignmentParams) (livechat.CreateAssignmentResult, error) {
	p.AssignmentDetails.Summary = "On record."
	return a.Operations.CreateAssignment(ctx, p)
}

func TestOverride_OfLiveChatsLeavesTheRelay(t *testing.T) {
	t.Parallel()
	d := newDesk(t, channel.Channel{Type: channel.Charlie}, []*botctx.Node{{ID: "none"}},
		overriddenBy(func(_ botctx.Scope, own botctx.Services) botctx.Services {
			return botctx.Services{LiveChats: audited{own.LiveChats}}
		}))
	d.connect(t)
	d.ada.Says("It leaks.")
	d.grace.Says("Where?")
	require.Equal(t, "Where?", texts(d.ada))
	require.Equal(t, "On record.\nIt leaks.", texts(d.grace))
	d.Advance(livechat.IdleTimeout)
	require.False(t, d.ada.Member().BotMeta.LiveChat(), "the agenda ended it")
}

// The services passed to Override use the host's implementations of other domains, although Override has not returned yet
// when they are created.
func TestOverride_OwnPartsWorkWithTheHosts(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t), overriddenBy(func(_ botctx.Scope, own botctx.Services) botctx.Services {
		return botctx.Services{Members: loud{own.Members, new(atomic.Int32)}, Agendas: own.Agendas}
	}))
	bot := p.AddMember(member.Member{FirstName: "Ada"}).Context()
	_, err := bot.UpdateMember(t.Context(), member.UpdateParams{Member: document.O("_id", bot.Member.ID, "firstName", "Bob")})
	require.NoError(t, err)
	_, err = bot.NewAgenda(t.Context(), agenda.NewParams{MemberID: bot.Member.ID, NodeCompositeID: "n", NextRunAt: 1})
	requireFailure(t, err, "newAgenda", boterr.NotFound, "memberId")
}
