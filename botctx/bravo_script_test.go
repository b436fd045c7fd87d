package botctx_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/livechat"
)

// bravoScript is bot logic that makes a group on Bravo for a request, and brings an agent
// into it, by itself.
type bravoScript struct {
	// assignment is the id of the request, group the group's id on Bravo, and link is how
	// agents get in.
	assignment, group, link string
}

// ask asks for a person and makes the group.
func (s *bravoScript) ask(ctx context.Context, bot *botctx.Context) error {
	asked, err := bot.CreateAssignment(ctx, livechat.CreateAssignmentParams{
		AssignmentDetails: livechat.AssignmentDetails{Summary: bot.Member.FirstName + " bought a kettle."},
	})
	if err != nil {
		return err
	}
	made, err := bot.CreateBravoGroup(ctx, livechat.CreateBravoGroupParams{ChannelID: "desk", Name: "Kettles"})
	if err != nil {
		return err
	}
	bot.Member, s.assignment, s.group, s.link = asked.Member, asked.AssignmentID, made.GroupID, made.InvitationLink
	return nil
}

// joined is what the bot of the desk does once an agent has joined the group.
func (s *bravoScript) joined(ctx context.Context, bot *botctx.Context) error {
	_, err := bot.HandleAdminJoinedGroup(ctx, livechat.HandleAdminJoinedGroupParams{
		ExternalID: bot.MessageEvent.From, BravoGroupID: bot.Scope().GroupExternalID,
	})
	if err != nil {
		return err
	}
	g, err := bot.GetGroupByGroupExternalID(ctx, livechat.GetGroupByGroupExternalIDParams{GroupExternalID: s.group})
	if err != nil {
		return err
	}
	_, err = bot.UpdateAssignmentGroup(ctx, livechat.UpdateAssignmentGroupParams{
		AssignmentID: s.assignment, Group: g, BravoGroupID: s.group,
	})
	return err
}

func TestLiveChat_BravoGroup(t *testing.T) {
	t.Parallel()
	var script bravoScript
	d := newDesk(t, channel.Channel{Type: channel.Bravo, PriorityGroups: []channel.PriorityGroup{{GroupTrees: []string{"rooms"}}}}, []*botctx.Node{
		{ID: "person", Trigger: botctx.TextIs("a person"), Pre: []botctx.Action{script.ask}},
		{ID: "joined", Tree: "rooms", Trigger: botctx.TextIs("/joined"), Pre: []botctx.Action{script.joined}},
	})
	d.ada.Says("a person")
	d.grace.Joins(script.link)
	d.grace.Says("/joined")

	taken, err := d.ada.Context().GetAssignment(t.Context(), livechat.GetAssignmentParams{AssignmentID: script.assignment})
	require.NoError(t, err)
	require.Equal(t, d.grace.ExternalID(), taken.Assignee)
	found, err := d.ada.Context().GetGroupByMemberID(t.Context(), livechat.GetGroupByMemberIDParams{Inlet: "web", MemberID: d.ada.ID()})
	require.NoError(t, err)
	require.Equal(t, []string{script.group, script.assignment, "web", "Kettles"},
		[]string{found.ExternalID, found.Assignment, found.Inlet, found.Name})

	d.ada.Says("It leaks.")
	d.grace.Says("Where?")
	require.Equal(t, "Ada bought a kettle.\nIt leaks.", texts(d.grace))
	require.Equal(t, "Where?", texts(d.ada))
}
