package botctxtest

import (
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/conformance"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
)

var takeRules = []Rule{
	{
		Name:  "ATakenAssignmentTellsWhoHasIt",
		Text:  "an assignment that was taken has assignee, assignedAt and its group; the group tells the assignment, the member and the agent",
		check: aTakenAssignmentTellsWhoHasIt,
	},
	{
		Name:  "TheConversationIsNamedAndSummedUp",
		Text:  "the conversation has groupName as its name, else that of the member; summary, if there is one, is sent into it as it is at once",
		Needs: []Capability{readSent},
		check: theConversationIsNamedAndSummedUp,
	},
	{
		Name:  "OneOfFiftyAgentsTakesATicket",
		Text:  "of fifty agents who take one ticket at one instant, one gets it",
		check: oneOfFiftyAgentsTakesATicket,
	},
	{
		Name:  "AnAgentTakesOnlyWhatIsOpenThere",
		Text:  "a request that has ended, that was withdrawn, or that was not offered in the outlet, cannot be taken",
		check: anAgentTakesOnlyWhatIsOpenThere,
	},
}

func aTakenAssignmentTellsWhoHasIt(t *trial) {
	d := t.openDesk(t.home, t.ticketing())
	asked := t.request(t.home, livechat.CreateAssignmentParams{})
	require.NoError(t, d.agent.Take(asked.ID))
	a := t.assignment(t.home, asked.ID)
	require.Equal(t, d.agent.ExternalID, a.Assignee)
	require.GreaterOrEqual(t, a.AssignedAt, a.CreatedAt)
	require.Greater(t, a.Version, asked.Version)
	require.NotEqual(t, asked.Etag, a.Etag)
	g := t.groupOf(t.home, a)
	require.Equal(t, g.ExternalID, document.Get(a.GroupInfo, "externalId", ""))
	require.Equal(t, a.ID, g.Assignment)
	require.Equal(t, t.home.member.ID, g.Member)
	require.Equal(t, []string{t.home.scope.Channel, d.ID}, []string{g.Inlet, g.Outlet})
	require.Equal(t, []string{d.agent.ExternalID, d.agent.AdminID}, []string{g.AdminExternalID, g.Admin})
	require.True(t, g.Active)
	require.True(t, g.Valid)
	require.True(t, t.isInLiveChat(t.home.member))
}

func theConversationIsNamedAndSummedUp(t *trial) {
	d := t.openDesk(t.home, t.ticketing())
	plain := t.groupOf(t.home, t.requestTaken(t.home, d, livechat.CreateAssignmentParams{}))
	require.Contains(t, plain.Name, "Ada")
	require.Empty(t, t.textsTo(d.ID, plain.ExternalID))
	eve := t.neighbour(member.Member{FirstName: "Eve"})
	named := t.groupOf(t.home, t.requestTaken(t.home, d, livechat.CreateAssignmentParams{
		Member: eve, AssignmentDetails: livechat.AssignmentDetails{Summary: "{{lastName}} has a kettle", GroupName: "The {{meta.kettle}}"},
	}))
	require.Equal(t, "The {{meta.kettle}}", named.Name)
	require.Equal(t, []string{"{{lastName}} has a kettle"}, t.textsTo(d.ID, named.ExternalID))
	require.NotEqual(t, plain.ExternalID, named.ExternalID, "each has a conversation of its own")
}

func oneOfFiftyAgentsTakesATicket(t *trial) {
	const crowd = 50
	d := t.openDesk(t.home, t.ticketing())
	agents := make([]*Agent, crowd)
	for i := range agents {
		agents[i] = t.Agent(d.Channel)
	}
	a := t.request(t.home, livechat.CreateAssignmentParams{})
	failures := conformance.AtOnce(crowd, func(i int) error { return agents[i].Take(a.ID) })
	var got []string
	for i, err := range failures {
		if err == nil {
			got = append(got, agents[i].ExternalID)
		}
	}
	require.Len(t, got, 1, "the agents who got it")
	taken := t.assignment(t.home, a.ID)
	require.Equal(t, got[0], taken.Assignee)
	require.Equal(t, got[0], t.groupOf(t.home, taken).AdminExternalID)
}

func anAgentTakesOnlyWhatIsOpenThere(t *trial) {
	d, other := t.openDesk(t.home, t.ticketing()), t.addDesk(t.home, t.ticketing())
	a := t.request(t.home, livechat.CreateAssignmentParams{})
	before := t.state()
	require.Error(t, other.agent.Take(a.ID), "it was not offered there")
	require.Equal(t, before, t.state())
	_, err := t.home.InletEndLiveChat(t.ctx(), livechat.InletEndLiveChatParams{})
	require.NoError(t, err)
	withdrawn := t.request(t.home, livechat.CreateAssignmentParams{})
	t.withdraw(t.home.member)
	before = t.state()
	require.Error(t, d.agent.Take(a.ID), "it has ended")
	require.Error(t, d.agent.Take(withdrawn.ID), "it was withdrawn")
	require.Equal(t, before, t.state())
}

// withdraw withdraws the request of a member of the home app, without an error.
func (t *trial) withdraw(m *member.Member) livechat.RemovePendingAssignmentByMemberIDResult {
	t.Helper()
	result, err := t.home.RemovePendingAssignmentByMemberID(t.ctx(), livechat.RemovePendingAssignmentByMemberIDParams{MemberID: m.ID})
	require.NoError(t, err)
	return result
}

// groupTarget returns a broadcast group as a new target.
func groupTarget(group channel.BroadcastGroupMember) livechat.NewTarget {
	return livechat.NewTarget{ID: group.ID, Type: group.Type}
}
