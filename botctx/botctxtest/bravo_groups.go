package botctxtest

import (
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/livechat"
)

// newChannelOf makes a channel of a type in the app of a place.
func (t *trial) newChannelOf(p *place, platform channel.Type) *channel.Channel {
	t.Helper()
	return t.AddChannel(channel.Channel{App: p.scope.App, Type: platform, Name: "Front desk"})
}

// requireUnchanged checks that a call fails with a code, about a parameter, and changes nothing.
func (t *trial) requireUnchanged(op botctx.Op, code boterr.Code, field string, call func() error) {
	t.Helper()
	_ = t.refusal(op, code, field, call)
}

// refusal returns the error of a call, as requireUnchanged checks it.
func (t *trial) refusal(op botctx.Op, code boterr.Code, field string, call func() error) error {
	t.Helper()
	before := t.state()
	err := call()
	t.requireError(op, code, field, err)
	require.Equal(t, before, t.state(), "a call that fails changes nothing")
	return err
}

// madeIn returns what was made through a channel, the oldest first.
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

// made returns what was made with an id on the platform.
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

// makeGroup makes a group on Bravo, without an error.
func (t *trial) makeGroup(channelID string, p livechat.CreateBravoGroupParams) livechat.CreateBravoGroupResult {
	t.Helper()
	p.ChannelID = channelID
	if p.Name == "" {
		p.Name = "Orders"
	}
	result, err := t.home.CreateBravoGroup(t.ctx(), p)
	require.NoError(t, err)
	require.NotEmpty(t, result.GroupID)
	return result
}

// bravoGroupRules are the rules of the operations on groups on Bravo.
func bravoGroupRules() []Rule {
	return needing([]Capability{On(channel.Bravo)}, slices.Concat(createBravoGroupRules, adminJoinedRules, inviteLinkRules, iconRules))
}

var createBravoGroupRules = []Rule{
	{
		Name:  "CreateBravoGroupMakesAGroup",
		Text:  "createBravoGroup makes a group of that name on the platform, with an invitation link unless requireInvitationLink is false",
		Needs: []Capability{readMade},
		check: createBravoGroupMakesAGroup,
	},
	{
		Name:  "CreateBravoGroupTellsTheLinkThatWasAskedFor",
		Text:  "the result has the id of the new group, and its link if one was asked for, which it is by default",
		check: createBravoGroupTellsTheLinkThatWasAskedFor,
	},
}

func createBravoGroupMakesAGroup(t *trial) {
	c := t.newChannelOf(t.home, channel.Bravo)
	yes, no := true, false
	for name, asked := range map[string]*bool{"Orders": nil, "Returns": &yes, "Complaints": &no} {
		result := t.makeGroup(c.ID, livechat.CreateBravoGroupParams{Name: name, RequireInvitationLink: asked})
		made := t.made(c.ID, result.GroupID)
		require.Equal(t, name, made.Name)
		require.Equal(t, asked != &no, made.InvitationLink != "", "whether there is a link")
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
	require.Len(t, ids, 3, "each group has an id of its own")
	require.Len(t, links, 2, "each link is its own")
}

// iconRules need pages for pictures.
var iconRules = needing([]Capability{serveFiles}, []Rule{
	{
		Name:  "SetBravoGroupIconShowsThePicture",
		Text:  "setBravoGroupIcon gives that group, in the context's channel by default, the picture at the address, and answers 200: ok",
		Needs: []Capability{readMade},
		check: setIconShowsThePicture,
	},
})

// picture is the smallest file that is taken for a picture.
const picture = "GIF89a"

func setIconShowsThePicture(t *trial) {
	c := t.newChannelOf(t.home, channel.Bravo)
	first := t.makeGroup(c.ID, livechat.CreateBravoGroupParams{}).GroupID
	second := t.makeGroup(c.ID, livechat.CreateBravoGroupParams{}).GroupID
	own := t.Operations(record.Scope{App: t.home.scope.App, Channel: c.ID})
	for file, set := range map[string]func(url string) (livechat.SetBravoGroupIconResult, error){
		picture + "given": func(url string) (livechat.SetBravoGroupIconResult, error) {
			return t.home.SetBravoGroupIcon(t.ctx(), livechat.SetBravoGroupIconParams{ChannelID: c.ID, ImageURL: url, BravoGroupID: first})
		},
		picture + "own": func(url string) (livechat.SetBravoGroupIconResult, error) {
			return own.SetBravoGroupIcon(t.ctx(), livechat.SetBravoGroupIconParams{ImageURL: url, BravoGroupID: first})
		},
	} {
		result, err := set(t.Serve("image/gif", file).URL)
		require.NoError(t, err)
		require.JSONEq(t, `{"200": "ok"}`, textOf(t, result))
		require.Equal(t, file, t.made(c.ID, first).Icon)
		require.Empty(t, t.made(c.ID, second).Icon)
	}
}
