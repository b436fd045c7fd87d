package botctx_test

import (
	"context"
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

// loud is the SDK's members with names in capitals, of which Bob is hidden. It counts patches.
type loud struct {
	member.Operations

	patches *atomic.Int32
}

// GetMember implements member.Operations.
func (l loud) GetMember(ctx context.Context, p member.GetMemberParams) (*member.Member, error) {
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

// PatchMembers implements member.Operations.
func (l loud) PatchMembers(ctx context.Context, p member.PatchMembersParams) (member.PatchMembersResult, error) {
	l.patches.Add(1)
	return l.Operations.PatchMembers(ctx, p)
}

// withLoudMembers decorates the members of a platform.
func withLoudMembers(patches *atomic.Int32) fakes.Option {
	return overriddenBy(func(_ record.Scope, own botctx.Services) botctx.Services {
		return botctx.Services{Members: loud{own.Members, patches}}
	})
}

func TestOverride_ReplacesOneMethodAndDelegatesTheRest(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t), withLoudMembers(new(atomic.Int32)))
	p.HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
		_, err := bot.UpdateMember(ctx, member.UpdateMemberParams{Member: document.O("_id", bot.Member.ID, "gender", "f")})
		return err
	})
	ada := p.AddMember(member.Member{FirstName: "Ada"})
	ada.Says("hi")
	require.Equal(t, "ADA", ada.Member().FirstName)
	require.Equal(t, "f", ada.Member().Gender)
}

// Domains that the host leaves to the SDK work with the part of another domain that the host has
// put something around.
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
			_, err := bot.NewAgenda(t.Context(), agenda.NewAgendaParams{MemberID: bot.Scope().Member, NodeCompositeID: "n", NextRunAt: 1})
			return err
		},
		"live chats": func(bot *botctx.Context) error {
			_, err := bot.CreateAssignment(t.Context(), livechat.CreateAssignmentParams{})
			return err
		},
	} {
		require.NoError(t, call(p.Operations(record.Scope{Channel: "web", Member: "ada"})), name)
		require.ErrorIs(t, call(p.Operations(record.Scope{Channel: "web", Member: "bob"})), boterr.NotFound, name)
	}
	greeted := slices.ContainsFunc(p.Sent(), func(s fakes.Sent) bool { return s.Response.Text() == "Hello ADA" })
	require.True(t, greeted)
	require.Positive(t, patches.Load(), "the member in a live chat is marked by the host's members")
}

// audited is the SDK's live chats with a summary of the host's for each request.
type audited struct{ livechat.Operations }

// CreateAssignment implements livechat.Operations.
func (a audited) CreateAssignment(ctx context.Context, p livechat.CreateAssignmentParams) (livechat.CreateAssignmentResult, error) {
	p.AssignmentDetails.Summary = "On record."
	return a.Operations.CreateAssignment(ctx, p)
}

func TestOverride_OfLiveChatsLeavesTheRelay(t *testing.T) {
	t.Parallel()
	d := newDesk(t, channel.Channel{Type: channel.Charlie}, []*botctx.Node{{ID: "none"}},
		overriddenBy(func(_ record.Scope, own botctx.Services) botctx.Services {
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

// What Override is given is late: the SDK's agendas read members as the host has them.
func TestOverride_OwnPartsWorkWithTheHosts(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t), overriddenBy(func(_ record.Scope, own botctx.Services) botctx.Services {
		return botctx.Services{Members: loud{own.Members, new(atomic.Int32)}, Agendas: own.Agendas}
	}))
	bot := p.AddMember(member.Member{FirstName: "Ada"}).Context()
	_, err := bot.UpdateMember(t.Context(), member.UpdateMemberParams{Member: document.O("_id", bot.Member.ID, "firstName", "Bob")})
	require.NoError(t, err)
	_, err = bot.NewAgenda(t.Context(), agenda.NewAgendaParams{MemberID: bot.Member.ID, NodeCompositeID: "n", NextRunAt: 1})
	requireFailure(t, err, "newAgenda", boterr.NotFound, "memberId")
}
