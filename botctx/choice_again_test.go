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
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
)

// The first attempt at an event changes what the choice of the node depends on. The next attempt runs the same node.

// withdraw withdraws the member's request for a person, so that the live-chat tree no longer answers.
func withdraw(ctx context.Context, bot *botctx.Context) error {
	_, err := bot.RemovePendingAssignmentByMemberID(ctx, livechat.RemovePendingAssignmentByMemberIDParams{MemberID: bot.Member.ID})
	return err
}

// leave removes the member's position.
func leave(ctx context.Context, bot *botctx.Context) error {
	_, err := bot.PatchMembers(ctx, member.PatchParams{MemberID: bot.Member.ID, Patch: document.O("botMeta.nodeCompositeId", "")})
	return err
}

// newWaiting returns a member whose messages the actions answer in a live chat or at the position "q".
func newWaiting(t *testing.T, cancel ...botctx.Action) (*fakes.Platform, *fakes.Actor) {
	t.Helper()
	p := fakes.New(fakes.For(t), fakes.WithInbox(), fakes.Config(func(c *botctx.Config) {
		c.Flow.LiveChatTree = func(*botctx.Context) string { return "live" }
	}))
	p.AddChannel(channel.Channel{ID: "web"})
	p.AddChannel(channel.Channel{ID: "desk", Type: channel.Charlie, BroadcastGroups: supportAndSales()[:1]})
	p.Pair("web", "desk")
	p.Handle(
		&botctx.Node{ID: "cancel", Tree: "live", Trigger: botctx.AnyText(), Pre: cancel, Responses: botctx.Say("Cancelled.")},
		&botctx.Node{ID: "q", Entry: true},
		&botctx.Node{ID: "a", Parent: "q", Trigger: botctx.AnyText(), Pre: cancel, Responses: botctx.Say("Cancelled.")},
		&botctx.Node{ID: "other", Trigger: botctx.AnyText(), Responses: botctx.Say("What?")},
	)
	ada := p.AddMember(member.Member{Channel: "web"})
	return p, ada
}

func TestChoice_StaysAfterAFailure(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change botctx.Action
		begin  func(ada *fakes.Actor)
	}{
		"live chat": {withdraw, func(ada *fakes.Actor) { ada.AddAssignment(livechat.CreateAssignmentParams{}) }},
		"position":  {leave, func(ada *fakes.Actor) { ada.SetPosition("q") }},
	} {
		hasFailed := false
		p, ada := newWaiting(t, c.change, func(context.Context, *botctx.Context) error {
			if hasFailed {
				return nil
			}
			hasFailed = true
			return boterr.New(boterr.Unavailable, "", "no answer")
		})
		c.begin(ada)
		require.ErrorIs(t, ada.TrySays("cancel"), boterr.Unavailable, name)
		p.Advance(time.Second)
		require.Equal(t, "Cancelled.", ada.Last(), name)
	}
}

func TestChoice_StaysAfterACrash(t *testing.T) {
	t.Parallel()
	p, ada := newWaiting(t, withdraw)
	ada.AddAssignment(livechat.CreateAssignmentParams{})
	p.Inject(fakes.CrashesAfter(botctx.OpRemovePendingAssignmentByMemberID))
	ada.Says("cancel")
	p.Restart()
	p.Advance(time.Second)
	require.Equal(t, "Cancelled.", ada.Last())
}
