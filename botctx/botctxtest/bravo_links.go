package botctxtest

import (
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/livechat"
)

var adminJoinedRules = []Rule{
	{
		Name:  "HandleAdminJoinedGroupMakesTheRecord",
		Text:  "an agent who joined has a live group in the channel, the same one where that is told again",
		check: adminJoinedMakesTheRecord,
	},
	{
		Name:  "HandleAdminJoinedGroupJoinsTheLiveChat",
		Text:  "the group of an agent who joins a live chat belongs to that live chat",
		check: adminJoinedJoinsTheLiveChat,
	},
	{
		Name:  "HandleAdminJoinedGroupRenewsTheLink",
		Text:  "the invitation link stops working, and a new one comes back, unless isRenewGroupInviteLink is false: then there is none",
		Needs: []Capability{readMade},
		check: adminJoinedRenewsTheLink,
	},
}

// joins tells that an agent joined a group on Bravo, without an error.
func (t *trial) joins(c *channel.Channel, agent, group string, renew *bool) string {
	t.Helper()
	link, err := t.home.HandleAdminJoinedGroup(t.ctx(), livechat.HandleAdminJoinedGroupParams{
		Channel: c, ExternalID: agent, BravoGroupID: group, IsRenewGroupInviteLink: renew,
	})
	require.NoError(t, err)
	return link
}

// groupOfAgent reads the group of an agent in a channel, without an error.
func (t *trial) groupOfAgent(c *channel.Channel, agent string) *livechat.Group {
	t.Helper()
	found, err := t.home.GetGroupByExternalID(t.ctx(), livechat.GetGroupByExternalIDParams{AdminExternalID: agent, ChannelID: c.ID})
	require.NoError(t, err)
	require.NotNil(t, found)
	return found
}

func adminJoinedMakesTheRecord(t *trial) {
	d := t.addDesk(t.home, channel.Bravo)
	room := t.makeGroup(d.ID, livechat.CreateBravoGroupParams{}).GroupID
	t.joins(d.Channel, d.agent.ExternalID, room, nil)
	g := t.groupOfAgent(d.Channel, d.agent.ExternalID)
	require.Equal(t, []string{t.home.scope.App, d.ID, room}, []string{g.App, g.Outlet, g.ExternalID})
	require.Equal(t, []string{d.agent.ExternalID, d.agent.AdminID}, []string{g.AdminExternalID, g.Admin})
	require.Equal(t, channel.Bravo, g.Type)
	require.Equal(t, []bool{true, true}, []bool{g.Active, g.Valid})
	t.joins(d.Channel, d.agent.ExternalID, room, nil)
	requireSameGroup(t, g, t.groupOfAgent(d.Channel, d.agent.ExternalID))
	stranger := unique("external")
	t.joins(d.Channel, stranger, room, nil)
	second := t.groupOfAgent(d.Channel, stranger)
	require.NotEqual(t, g.ID, second.ID)
	require.Empty(t, second.Admin, "nobody knows this agent")
}

func adminJoinedJoinsTheLiveChat(t *trial) {
	k := t.talkOn(channel.Bravo)
	second := t.Agent(k.desk.Channel)
	t.joins(k.desk.Channel, second.ExternalID, k.group.ExternalID, nil)
	g := t.groupOfAgent(k.desk.Channel, second.ExternalID)
	require.NotEqual(t, k.group.ID, g.ID)
	require.Equal(t, []string{k.group.Inlet, k.group.Assignment, k.group.Member, k.group.Name},
		[]string{g.Inlet, g.Assignment, g.Member, g.Name})
	requireSameGroup(t, k.group, t.storedGroup(t.home, k.group.ID))
}

func adminJoinedRenewsTheLink(t *trial) {
	d := t.addDesk(t.home, channel.Bravo)
	yes, no := true, false
	for name, c := range map[string]struct {
		renew  *bool
		isMade bool
	}{"by default": {nil, true}, "true": {&yes, true}, "false": {&no, false}} {
		t.try(name, func(t *trial) {
			made := t.makeGroup(d.ID, livechat.CreateBravoGroupParams{})
			link := t.joins(d.Channel, d.agent.ExternalID, made.GroupID, c.renew)
			require.NotEqual(t, made.InvitationLink, link)
			require.Equal(t, c.isMade, link != "", "whether there is a new link")
			require.Equal(t, link, t.made(d.ID, made.GroupID).InvitationLink)
		})
	}
}

// strangeBravoGroups are ids of groups that are not in a channel: of nobody, and of another
// channel of the app.
func (t *trial) strangeBravoGroups() map[string]string {
	t.Helper()
	other := t.newChannelOf(t.home, channel.Bravo)
	return map[string]string{
		"of nobody": unique("group"), "of another channel": t.makeGroup(other.ID, livechat.CreateBravoGroupParams{}).GroupID,
	}
}

var inviteLinkRules = []Rule{
	{
		Name:  "DisableBravoGroupInviteLinkEndsTheLink",
		Text:  "disableBravoGroupInviteLink puts the link of that group out of use, and no other; once more is no error",
		Needs: []Capability{readMade},
		check: disableInviteLinkEndsTheLink,
	},
	{
		Name:  "DisableBravoGroupInviteLinkAnswersWithANewID",
		Text:  "clientMutationId of disableBravoGroupInviteLink is a new id each time",
		check: disableInviteLinkAnswersWithANewID,
	},
}

// endLink puts the link of a group on Bravo out of use, without an error.
func (t *trial) endLink(c *channel.Channel, group string) livechat.DisableBravoGroupInviteLinkResult {
	t.Helper()
	result, err := t.home.DisableBravoGroupInviteLink(t.ctx(), livechat.DisableBravoGroupInviteLinkParams{Channel: c, ExternalID: group})
	require.NoError(t, err)
	return result
}

func disableInviteLinkEndsTheLink(t *trial) {
	c := t.newChannelOf(t.home, channel.Bravo)
	first := t.makeGroup(c.ID, livechat.CreateBravoGroupParams{})
	second := t.makeGroup(c.ID, livechat.CreateBravoGroupParams{})
	for range 2 {
		t.endLink(c, first.GroupID)
		require.Empty(t, t.made(c.ID, first.GroupID).InvitationLink)
		require.Equal(t, second.InvitationLink, t.made(c.ID, second.GroupID).InvitationLink)
	}
}

func disableInviteLinkAnswersWithANewID(t *trial) {
	c := t.newChannelOf(t.home, channel.Bravo)
	room := t.makeGroup(c.ID, livechat.CreateBravoGroupParams{}).GroupID
	first, second := t.endLink(c, room).ClientMutationID, t.endLink(c, room).ClientMutationID
	require.NotEmpty(t, first)
	require.NotEqual(t, first, second)
}
