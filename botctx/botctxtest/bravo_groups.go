package botctxtest

import (
	"context"
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/record"
)

// onePlatform is an operation for channels of one type.
type onePlatform struct {
	name     string
	op       botctx.Op
	platform channel.Type
	// field is the parameter that names the channel.
	field string
	// run calls the operation for the channel of that id, "" for the context's own. What else it
	// is given is good where groupID is that of a group there.
	run func(ctx context.Context, operations botctx.Operations, channelID, groupID string) error
}

// givenChannel is a channel that is passed in, nil for none: only its _id is good.
func givenChannel(id string) *channel.Channel {
	if id == "" {
		return nil
	}
	return &channel.Channel{ID: id, App: "forged", Type: "forged"}
}

var onePlatforms = []onePlatform{
	{
		"CreateBravoGroup", botctx.OpCreateBravoGroup, channel.Bravo, "channelId",
		func(ctx context.Context, operations botctx.Operations, channelID, _ string) error {
			return errorOf(operations.CreateBravoGroup(ctx, livechat.CreateBravoGroupParams{ChannelID: channelID, Name: "Orders"}))
		},
	},
	{
		"DisableBravoGroupInviteLink", botctx.OpDisableBravoGroupInviteLink, channel.Bravo, "channel",
		func(ctx context.Context, operations botctx.Operations, channelID, groupID string) error {
			return errorOf(operations.DisableBravoGroupInviteLink(ctx, livechat.DisableBravoGroupInviteLinkParams{
				Channel: givenChannel(channelID), ExternalID: groupID,
			}))
		},
	},
	{
		"HandleAdminJoinedGroup", botctx.OpHandleAdminJoinedGroup, channel.Bravo, "channel",
		func(ctx context.Context, operations botctx.Operations, channelID, groupID string) error {
			return errorOf(operations.HandleAdminJoinedGroup(ctx, livechat.HandleAdminJoinedGroupParams{
				Channel: givenChannel(channelID), ExternalID: "agent", BravoGroupID: groupID,
			}))
		},
	},
	{
		"CreateHotelChannel", botctx.OpCreateHotelChannel, channel.Hotel, "channel",
		func(ctx context.Context, operations botctx.Operations, channelID, _ string) error {
			return errorOf(operations.CreateHotelChannel(ctx, livechat.CreateHotelChannelParams{
				Channel: givenChannel(channelID), HotelGroupID: "floor", DisplayName: "Lobby",
			}))
		},
	},
}

// onePlatformRules are the rules that hold for each operation for one type of channels.
func onePlatformRules(o onePlatform) []Rule {
	return []Rule{
		{
			Name:  o.name + "IsForOnePlatform",
			Text:  "channels of another type are Unsupported, and the error names the type that is allowed",
			check: func(t *trial) { isForOnePlatform(t, o) },
		},
		{
			Name:  o.name + "FindsNoOtherChannels",
			Text:  "a channel that does not exist, or is of another app, is NotFound, whatever the record says, and nothing is changed",
			check: func(t *trial) { findsNoOtherChannels(t, o) },
		},
		{
			Name:  o.name + "TakesTheContextsChannel",
			Text:  "the channel is the context's own by default, and of one that is passed in only the _id counts",
			Needs: []Capability{readMade},
			check: func(t *trial) { takesTheContextsChannel(t, o) },
		},
	}
}

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

func isForOnePlatform(t *trial, o onePlatform) {
	for _, platform := range platforms {
		if platform == o.platform || !t.offers(On(platform)) {
			continue
		}
		c := t.newChannelOf(t.home, platform)
		t.try(string(platform), func(t *trial) {
			refused := t.refusal(o.op, boterr.Unsupported, o.field, func() error {
				return o.run(t.ctx(), t.home, c.ID, "group")
			})
			require.ErrorContains(t, refused, string(o.platform))
		})
	}
}

func findsNoOtherChannels(t *trial, o onePlatform) {
	theirs := t.newChannelOf(t.away, o.platform)
	for name, id := range map[string]string{"of nobody": unique("channel"), "of another app": theirs.ID} {
		t.try(name, func(t *trial) {
			t.requireUnchanged(o.op, boterr.NotFound, o.field, func() error {
				return o.run(t.ctx(), t.home, id, "group")
			})
		})
	}
}

func takesTheContextsChannel(t *trial, o onePlatform) {
	first, second := t.newChannelOf(t.home, o.platform), t.newChannelOf(t.home, o.platform)
	own := t.Operations(record.Scope{App: t.home.scope.App, Channel: first.ID})
	for _, c := range []struct{ given, meant, other string }{{"", first.ID, second.ID}, {second.ID, second.ID, first.ID}} {
		group := "group"
		if o.platform == channel.Bravo {
			group = t.makeGroup(c.meant, livechat.CreateBravoGroupParams{}).GroupID
		}
		meant, other := textOf(t, t.madeIn(c.meant)), textOf(t, t.madeIn(c.other))
		require.NoError(t, o.run(t.ctx(), own, c.given, group))
		require.NotEqual(t, meant, textOf(t, t.madeIn(c.meant)), "it is done in the channel that is meant")
		require.Equal(t, other, textOf(t, t.madeIn(c.other)), "and in no other")
	}
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
	rules := slices.Concat(createBravoGroupRules, adminJoinedRules, inviteLinkRules, iconRules)
	for _, o := range onePlatforms {
		if o.platform == channel.Bravo {
			rules = append(rules, onePlatformRules(o)...)
		}
	}
	return needing([]Capability{On(channel.Bravo)}, rules)
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
	{
		Name:  "CreateBravoGroupRefusesBadInput",
		Text:  "bad input of createBravoGroup is InvalidArgument with the name of the parameter, and makes nothing",
		check: createBravoGroupRefusesBadInput,
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

func createBravoGroupRefusesBadInput(t *trial) {
	type params = livechat.CreateBravoGroupParams
	c := t.newChannelOf(t.home, channel.Bravo)
	requireRefused(t, botctx.OpCreateBravoGroup, t.home.CreateBravoGroup, []badInput[params]{
		{"no name", params{ChannelID: c.ID}, "name"},
	})
	alone := t.Operations(record.Scope{App: t.home.scope.App})
	requireRefused(t, botctx.OpCreateBravoGroup, alone.CreateBravoGroup, []badInput[params]{
		{"no channel", params{Name: "Orders"}, "channelId"},
	})
}
