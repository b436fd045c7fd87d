package botctxtest

import (
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
)

// assignmentGroupRules are the rules of how requests get their groups, on both sides.
var assignmentGroupRules = []Rule{
	{
		Name:  "CreateAssignmentRemembersTheGroup",
		Text:  "assignment and group remember the group in which a member asks; who asks for another member asks in none",
		check: createAssignmentRemembersTheGroup,
	},
	{
		Name:  "UpdateAssignmentGroupConnectsBothSides",
		Text:  "a request whose group has an agent is taken, and both name each other, in whatever order the calls come",
		Needs: []Capability{On(channel.Bravo), readMade},
		check: updateAssignmentGroupConnectsBothSides,
	},
}

func createAssignmentRemembersTheGroup(t *trial) {
	k := t.talkInFamily(t.home)
	family := familyOf(t.home.member.ID)
	require.Equal(t, family, document.Get(k.assignment.InletGroupInfo, "externalId", ""))
	require.Equal(t, family, k.group.InletGroupExternalID)

	inFamily := t.inGroup(t.home, "family")
	bob := t.neighbour(member.Member{FirstName: "Bob"})
	a := t.requestTaken(inFamily, k.desk, livechat.CreateAssignmentParams{Member: bob})
	require.Empty(t, document.Get(a.InletGroupInfo, "externalId", ""))
	require.Empty(t, t.groupOf(t.home, a).InletGroupExternalID)
}

// connecting is bot logic that brings an agent into a group on Bravo for a request.
type connecting struct {
	asking *place
	desk   *desk
	// assignment is that of the request, group the group's id on Bravo.
	assignment, group string
}

func updateAssignmentGroupConnectsBothSides(t *trial) {
	for name, order := range map[string][]func(*trial, *connecting){
		"the group at last":  {ask, makeRoom, joinRoom, giveGroup},
		"the group at first": {makeRoom, joinRoom, ask, giveGroup},
		"the agent at last":  {ask, makeRoom, giveRoom, joinRoom},
		"with repeats":       {ask, ask, makeRoom, giveRoom, giveRoom, joinRoom, joinRoom, giveGroup, giveGroup, ask},
	} {
		t.try(name, func(t *trial) {
			d := t.addDesk(t.home, channel.Bravo)
			c := &connecting{asking: t.neighbourPlace(), desk: d}
			for _, step := range order {
				step(t, c)
			}
			c.requireConnected(t)
		})
	}
}

// ask asks for a person in the desk.
func ask(t *trial, c *connecting) {
	created, err := c.asking.CreateAssignment(t.ctx(), livechat.CreateAssignmentParams{Targets: []livechat.Target{{Channel: c.desk.ID}}})
	require.NoError(t, err)
	c.assignment = created.AssignmentID
}

// makeRoom makes a group on Bravo.
func makeRoom(t *trial, c *connecting) {
	made, err := t.home.CreateBravoGroup(t.ctx(), livechat.CreateBravoGroupParams{ChannelID: c.desk.ID, Name: "Kettles"})
	require.NoError(t, err)
	c.group = made.GroupID
}

// joinRoom tells that the agent of the desk has joined the group.
func joinRoom(t *trial, c *connecting) {
	_, err := t.home.HandleAdminJoinedGroup(t.ctx(), livechat.HandleAdminJoinedGroupParams{
		Channel: c.desk.Channel, ExternalID: c.desk.agent.ExternalID, BravoGroupID: c.group,
	})
	require.NoError(t, err)
}

// giveGroup gives the request the group's record.
func giveGroup(t *trial, c *connecting) {
	_, err := t.home.UpdateAssignmentGroup(t.ctx(), livechat.UpdateAssignmentGroupParams{
		AssignmentID: c.assignment, Group: c.record(t), BravoGroupID: c.group,
	})
	require.NoError(t, err)
}

// giveRoom gives the request the group's id on Bravo.
func giveRoom(t *trial, c *connecting) {
	_, err := t.home.UpdateAssignmentGroup(t.ctx(), livechat.UpdateAssignmentGroupParams{
		AssignmentID: c.assignment, BravoGroupID: c.group,
	})
	require.NoError(t, err)
}

// record returns the group's record.
func (c *connecting) record(t *trial) *livechat.Group {
	t.Helper()
	found, err := t.home.GetGroupByGroupExternalID(t.ctx(), livechat.GetGroupByGroupExternalIDParams{GroupExternalID: c.group})
	require.NoError(t, err)
	return found
}

// requireConnected checks that the agent has the request, and that both sides know each other.
func (c *connecting) requireConnected(t *trial) {
	t.Helper()
	a, g := t.assignment(t.home, c.assignment), c.record(t)
	require.Equal(t, []string{c.desk.agent.ExternalID, g.ID}, []string{a.Assignee, a.Group})
	require.Positive(t, a.AssignedAt)
	require.Equal(t, []string{a.ID, c.asking.member.ID, c.asking.channel.ID, c.desk.agent.ExternalID},
		[]string{g.Assignment, g.Member, g.Inlet, g.AdminExternalID})
	require.Equal(t, a.ID, t.byBravoGroup(t.home, c.group).ID)
	found, err := t.home.GetGroupByMemberID(t.ctx(), livechat.GetGroupByMemberIDParams{
		Inlet: c.asking.channel.ID, MemberID: c.asking.member.ID,
	})
	require.NoError(t, err)
	requireSameGroup(t, g, found)
	require.True(t, t.isInLiveChat(c.asking.member))
}
