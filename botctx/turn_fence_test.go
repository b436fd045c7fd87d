package botctx_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/lease"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store"
)

// overtaken lets a run of ada never come back, and another process run what action does then.
func (f *fleet) overtaken(change func(*botctx.Config), action botctx.Action) {
	f.t.Helper()
	frozen, began := make(chan struct{}), make(chan struct{})
	f.t.Cleanup(func() { close(frozen) })
	lost := f.process(func(context.Context, *botctx.Context) error {
		close(began)
		<-frozen
		return nil
	})
	require.NoError(f.t, lost.Accept(f.t.Context(), fromAda("hi", "m1")))
	go func() { _, _ = lost.Inbox().RunNext(context.WithoutCancel(f.t.Context())) }()
	<-began
	f.advance(lease.DefaultLease)
	config := botctx.Config{Store: f.database, Now: f.clock, Connectors: map[channel.Type]send.Connector{channel.Webchat: &f.sent}}
	change(&config)
	other, err := botctx.New(config)
	require.NoError(f.t, err)
	other.HandleFunc(action)
	require.Error(f.t, f.runNext(other).Err, "the start that never came back")
	f.advance(time.Second)
	require.NoError(f.t, f.runNext(other).Err)
}

// TestAccept_BotsSeeNoTurnFence reads a member whose turn was taken over in each way there is.
func TestAccept_BotsSeeNoTurnFence(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	var seen []*member.Member
	f.overtaken(func(*botctx.Config) {}, func(ctx context.Context, bot *botctx.Context) error {
		read, err := bot.GetMember(ctx, member.GetMemberParams{MemberID: bot.Member.ID})
		require.NoError(t, err)
		found, err := bot.FindAndModifyMember(ctx, member.FindAndModifyMemberParams{
			Filter: document.O("_id", bot.Member.ID), Patch: document.Set("meta.seen", true),
		})
		require.NoError(t, err)
		shown, err := bot.FindAndModifyMember(ctx, member.FindAndModifyMemberParams{
			Filter: document.O("_id", bot.Member.ID), Patch: document.Set("meta.seen", true),
			Option: member.FindAndModifyOption{Projection: document.O("profile", 0)},
		})
		require.NoError(t, err)
		seen = []*member.Member{bot.Member, read, found.Member, shown.Member}
		return nil
	})
	stored, err := f.database.Collection("members").Find(t.Context(), nil, store.FindOptions{})
	require.NoError(t, err)
	require.True(t, stored[0].Has(record.FieldTurnFence), "the member is marked")
	for _, m := range seen {
		text, err := m.MarshalJSON()
		require.NoError(t, err)
		require.NotContains(t, string(text), record.FieldTurnFence)
		require.True(t, m.Unknown.IsZero() || m.Unknown.Len() == 0)
	}
}

// strictMembers are a host's own, which know no further fields of members.
type strictMembers struct {
	member.Operations

	t *testing.T
}

func (s strictMembers) PatchMembers(ctx context.Context, p member.PatchMembersParams) (member.PatchMembersResult, error) {
	require.NotContains(s.t, p.Filter.String()+p.Patch.String(), record.FieldTurnFence)
	return s.Operations.PatchMembers(ctx, p)
}

// TestAccept_HostsMembersAreNotAskedForTheTurnFence takes over a turn where members are the host's own.
func TestAccept_HostsMembersAreNotAskedForTheTurnFence(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.overtaken(func(c *botctx.Config) {
		c.Override = func(_ record.Scope, own botctx.Services) botctx.Services {
			return botctx.Services{Members: strictMembers{own.Members, t}}
		}
	}, func(_ context.Context, bot *botctx.Context) error {
		bot.Member.Meta.Set("by", "the other one")
		return nil
	})
	require.JSONEq(t, `{"by":"the other one"}`, f.ada().Meta.String())
}
