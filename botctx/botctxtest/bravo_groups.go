package botctxtest

import (
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/livechat"
)

func (t *trial) newChannelOf(p *place, platform channel.Type) *channel.Channel {
	t.Helper()
	return t.AddChannel(channel.Channel{App: p.scope.App, Type: platform, Name: "Front desk"})
}

// madeIn returns the groups and channels created through a channel, oldest first.
func (t *trial) madeIn(channelID string) []Made {
	t.Helper()
	in := []Made{}
	for _, m := range t.Made() {
		if m.Channel == channelID {
			in = append(in, m)
		}
	}
	return in
}

func (t *trial) made(channelID, externalID string) Made {
	t.Helper()
	for _, m := range t.madeIn(channelID) {
		if m.ExternalID == externalID {
			return m
		}
	}
	require.Fail(t, "nothing was made", "in the channel %s there is nothing with the id %s", channelID, externalID)
	return Made{}
}

func (t *trial) makeGroup(channelID string, p livechat.CreateBravoGroupParams) livechat.CreateBravoGroupResult {
	t.Helper()
	p.ChannelID = channelID
	if p.Name == "" {
		p.Name = "Orders"
	}
	result := must(t, t.home.CreateBravoGroup, p)
	require.NotEmpty(t, result.GroupID)
	return result
}

func bravoGroupRules() []Rule {
	return needing([]Capability{On(channel.Bravo)}, slices.Concat(createBravoGroupRules, adminJoinedRules, inviteLinkRules, iconRules))
}

var createBravoGroupRules = []Rule{
	rule(createBravoGroupMakesAGroup,
		"createBravoGroup creates a group with the given name, and with an invitation link unless requireInvitationLink is false", readMade),
	rule(createBravoGroupTellsTheLinkThatWasAskedFor,
		"the result has the id of the new group and, unless requireInvitationLink is false, its invitation link"),
}

func createBravoGroupMakesAGroup(t *trial) {
	c := t.newChannelOf(t.home, channel.Bravo)
	yes, no := true, false
	for name, asked := range map[string]*bool{"Orders": nil, "Returns": &yes, "Complaints": &no} {
		result := t.makeGroup(c.ID, livechat.CreateBravoGroupParams{Name: name, RequireInvitationLink: asked})
		made := t.made(c.ID, result.GroupID)
		require.Equal(t, name, made.Name)
		require.Equal(t, asked != &no, made.InvitationLink != "", "the result must have a link if and only if one was requested")
		require.Equal(t, made.InvitationLink, result.InvitationLink)
	}
	require.Len(t, t.madeIn(c.ID), 3)
}

func createBravoGroupTellsTheLinkThatWasAskedFor(t *trial) {
	c := t.newChannelOf(t.home, channel.Bravo)
	yes, no := true, false
	ids, links := map[string]bool{}, map[string]bool{}
	for _, asked := range []*bool{nil, &yes, &no} {
		result := t.makeGroup(c.ID, livechat.CreateBravoGroupParams{RequireInvitationLink: asked})
		ids[result.GroupID] = true
		if asked == &no {
			require.NotContains(t, textOf(t, result), "invitationLink")
			continue
		}
		require.Contains(t, result.InvitationLink, "://", "an address")
		links[result.InvitationLink] = true
	}
	require.Len(t, ids, 3, "each group has a different id")
	require.Len(t, links, 2, "each group has a different link")
}

var iconRules = needing([]Capability{serveFiles}, []Rule{
	rule(setBravoGroupIconShowsThePicture,
		"setBravoGroupIcon sets the picture at the address for a group of the channel, by default the context's, and returns 200: ok", readMade),
})

// picture is the shortest content that is recognised as a picture.
const picture = "GIF89a"

func setBravoGroupIconShowsThePicture(t *trial) {
	c := t.newChannelOf(t.home, channel.Bravo)
	first := t.makeGroup(c.ID, livechat.CreateBravoGroupParams{}).GroupID
	second := t.makeGroup(c.ID, livechat.CreateBravoGroupParams{}).GroupID
	own := t.Operations(botctx.Scope{App: t.home.scope.App, Channel: c.ID})
	for file, set := range map[string]func(url string) (livechat.SetBravoGroupIconResult, error){
		picture + "given": func(url string) (livechat.SetBravoGroupIconResult, error) {
			return t.home.SetBravoGroupIcon(t.Context(), livechat.SetBravoGroupIconParams{ChannelID: c.ID, ImageURL: url, BravoGroupID: first})
		},
		picture + "own": func(url string) (livechat.SetBravoGroupIconResult, error) {
			return own.SetBravoGroupIcon(t.Context(), livechat.SetBravoGroupIconParams{ImageURL: url, BravoGroupID: first})
		},
	} {
		result, err := set(t.Serve("image/gif", file).URL)
		require.NoError(t, err)
		require.JSONEq(t, `{"200": "ok"}`, textOf(t, result))
		require.Equal(t, file, t.made(c.ID, first).Icon)
		require.Empty(t, t.made(c.ID, second).Icon)
	}
}

var adminJoinedRules = []Rule{
	rule(handleAdminJoinedGroupMakesTheRecord,
		"an agent who joined has an active group in the channel; reporting it again returns the same group"),
	rule(handleAdminJoinedGroupJoinsTheLiveChat, "the group of an agent who joins a live chat belongs to that live chat"),
	rule(handleAdminJoinedGroupRenewsTheLink,
		"the invitation link stops working, and the result is a new one unless isRenewGroupInviteLink is false", readMade),
}

// joins reports that an agent joined a group on Bravo.
func (t *trial) joins(c *channel.Channel, agent, group string, renew *bool) string {
	t.Helper()
	return must(t, t.home.HandleAdminJoinedGroup, livechat.HandleAdminJoinedGroupParams{
		Channel: c, ExternalID: agent, BravoGroupID: group, IsRenewGroupInviteLink: renew,
	})
}

func (t *trial) groupOfAgent(c *channel.Channel, agent string) *livechat.Group {
	t.Helper()
	found := must(t, t.home.GetGroupByExternalID, livechat.GetGroupByExternalIDParams{AdminExternalID: agent, ChannelID: c.ID})
	require.NotNil(t, found)
	return found
}

func handleAdminJoinedGroupMakesTheRecord(t *trial) {
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
	require.Empty(t, second.Admin, "this agent is unknown")
}

func handleAdminJoinedGroupJoinsTheLiveChat(t *trial) {
	k := t.talkOn(channel.Bravo)
	second := t.Agent(k.desk.Channel)
	t.joins(k.desk.Channel, second.ExternalID, k.group.ExternalID, nil)
	g := t.groupOfAgent(k.desk.Channel, second.ExternalID)
	require.NotEqual(t, k.group.ID, g.ID)
	require.Equal(t, []string{k.group.Inlet, k.group.Assignment, k.group.Member, k.group.Name},
		[]string{g.Inlet, g.Assignment, g.Member, g.Name})
	requireSameGroup(t, k.group, t.storedGroup(t.home, k.group.ID))
}

func handleAdminJoinedGroupRenewsTheLink(t *trial) {
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
			require.Equal(t, c.isMade, link != "", "the result must have a new link if and only if one was requested")
			require.Equal(t, link, t.made(d.ID, made.GroupID).InvitationLink)
		})
	}
}

// strangeBravoGroups returns ids that are not groups of the home channel: an unknown id, and the id of a group in another
// channel of the app.
func (t *trial) strangeBravoGroups() map[string]string {
	t.Helper()
	other := t.newChannelOf(t.home, channel.Bravo)
	return map[string]string{
		"of nobody": unique("group"), "of another channel": t.makeGroup(other.ID, livechat.CreateBravoGroupParams{}).GroupID,
	}
}

var inviteLinkRules = []Rule{
	rule(disableBravoGroupInviteLinkEndsTheLink,
		"disableBravoGroupInviteLink disables the link of only that group; a second call succeeds", readMade),
	rule(disableBravoGroupInviteLinkAnswersWithANewID, "clientMutationId of disableBravoGroupInviteLink is a new id in each call"),
}

// endLink disables the invitation link of a group on Bravo.
func (t *trial) endLink(c *channel.Channel, group string) livechat.DisableBravoGroupInviteLinkResult {
	t.Helper()
	return must(t, t.home.DisableBravoGroupInviteLink, livechat.DisableBravoGroupInviteLinkParams{Channel: c, ExternalID: group})
}

func disableBravoGroupInviteLinkEndsTheLink(t *trial) {
	c := t.newChannelOf(t.home, channel.Bravo)
	first := t.makeGroup(c.ID, livechat.CreateBravoGroupParams{})
	second := t.makeGroup(c.ID, livechat.CreateBravoGroupParams{})
	for range 2 {
		t.endLink(c, first.GroupID)
		require.Empty(t, t.made(c.ID, first.GroupID).InvitationLink)
		require.Equal(t, second.InvitationLink, t.made(c.ID, second.GroupID).InvitationLink)
	}
}

func disableBravoGroupInviteLinkAnswersWithANewID(t *trial) {
	c := t.newChannelOf(t.home, channel.Bravo)
	room := t.makeGroup(c.ID, livechat.CreateBravoGroupParams{}).GroupID
	first, second := t.endLink(c, room).ClientMutationID, t.endLink(c, room).ClientMutationID
	require.NotEmpty(t, first)
	require.NotEqual(t, first, second)
}
