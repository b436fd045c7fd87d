package botctxtest_test

import (
	"context"
	"crypto/rand"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
)

// Short for the tables below.
type (
	createBravo   = livechat.CreateBravoGroupParams
	createdBravo  = livechat.CreateBravoGroupResult
	adminJoined   = livechat.HandleAdminJoinedGroupParams
	endLink       = livechat.DisableBravoGroupInviteLinkParams
	endedLink     = livechat.DisableBravoGroupInviteLinkResult
	setIcon       = livechat.SetBravoGroupIconParams
	iconSet       = livechat.SetBravoGroupIconResult
	createHotel   = livechat.CreateHotelChannelParams
	createdHotel  = livechat.CreateHotelChannelResult
	channelRecord = channel.Channel
)

// elsewhere is a channel that does not exist.
const elsewhere = "elsewhere"

// brokenBravoGroups are the defects of operations on groups on Bravo.
var brokenBravoGroups = map[string]breakage{
	"createBravoGroup makes none": {
		breaking: answers(func(*botctx.Call, createBravo) createdBravo {
			return createdBravo{GroupID: rand.Text(), InvitationLink: "https://invite.example/" + rand.Text()}
		}),
		breaks: []string{
			"CreateBravoGroupMakesAGroup", "CreateBravoGroupTellsTheLinkThatWasAskedFor", "CreateBravoGroupTakesTheContextsOwn",
			"CreateBravoGroupRefusesOtherPlatforms", "CreateBravoGroupFindsNoOthers", "CreateBravoGroupRefusesBadInput",
		},
		others: true,
	},
	"createBravoGroup gives each the same id": {
		breaking: gives(func(_ createBravo, r *createdBravo) { r.GroupID = "group" }),
		breaks:   []string{"CreateBravoGroupTellsTheLinkThatWasAskedFor"},
		others:   true,
	},
	"createBravoGroup has a name of its own": {
		breaking: given(func(p *createBravo) {
			if p.Name != "" {
				p.Name = "Group"
			}
		}),
		breaks: []string{"CreateBravoGroupMakesAGroup"},
	},
	"createBravoGroup makes no link by default": {
		breaking: given(func(p *createBravo) {
			if p.RequireInvitationLink == nil {
				p.RequireInvitationLink = new(bool)
			}
		}),
		breaks: []string{"CreateBravoGroupMakesAGroup", "CreateBravoGroupTellsTheLinkThatWasAskedFor"},
		others: true,
	},
	"createBravoGroup always makes a link": {
		breaking: given(func(p *createBravo) { p.RequireInvitationLink = nil }),
		breaks:   []string{"CreateBravoGroupMakesAGroup", "CreateBravoGroupTellsTheLinkThatWasAskedFor"},
	},
	"createBravoGroup needs the channel": {
		breaking: given(func(p *createBravo) {
			if p.ChannelID == "" {
				p.ChannelID = elsewhere
			}
		}),
		breaks: []string{
			"CreateBravoGroupTakesTheContextsOwn", "CreateBravoGroupRefusesBadInput",
			"CreateBravoGroupAnswersAsDocumented", "CreateBravoGroupRefusesOtherPlatforms",
		},
	},
	"handleAdminJoinedGroup records nothing": {
		breaking: answers(func(*botctx.Call, adminJoined) string { return "https://invite.example/" + rand.Text() }),
		breaks: []string{
			"HandleAdminJoinedGroupMakesTheRecord", "HandleAdminJoinedGroupJoinsTheLiveChat",
			"HandleAdminJoinedGroupRenewsTheLink", "HandleAdminJoinedGroupFindsNoOthers",
			"HandleAdminJoinedGroupRefusesOtherPlatforms", "HandleAdminJoinedGroupTakesTheContextsOwn",
			"HandleAdminJoinedGroupRefusesBadInput", "HandleAdminJoinedGroupTakesRecordsAsAddresses",
		},
	},
	"handleAdminJoinedGroup always makes a link": {
		breaking: given(func(p *adminJoined) { p.IsRenewGroupInviteLink = nil }),
		breaks:   []string{"HandleAdminJoinedGroupRenewsTheLink"},
	},
	"handleAdminJoinedGroup makes no link by default": {
		breaking: given(func(p *adminJoined) {
			if p.IsRenewGroupInviteLink == nil {
				p.IsRenewGroupInviteLink = new(bool)
			}
		}),
		breaks: []string{"HandleAdminJoinedGroupRenewsTheLink", "HandleAdminJoinedGroupAnswersAsDocumented"},
	},
	"handleAdminJoinedGroup tells a link that does not work": {
		breaking: gives(func(_ adminJoined, link *string) {
			if *link != "" {
				*link = "https://invite.example/1"
			}
		}),
		breaks: []string{"HandleAdminJoinedGroupRenewsTheLink"},
	},
	"handleAdminJoinedGroup forgets the live chat": {
		breaking: forgettingTheLiveChat, breaks: []string{"HandleAdminJoinedGroupJoinsTheLiveChat"},
	},
	"handleAdminJoinedGroup needs the channel": {
		breaking: given(func(p *adminJoined) {
			if p.Channel == nil {
				p.Channel = &channelRecord{ID: elsewhere}
			}
		}),
		breaks: []string{
			"HandleAdminJoinedGroupTakesTheContextsOwn", "HandleAdminJoinedGroupAnswersAsDocumented",
			"HandleAdminJoinedGroupRefusesBadInput", "HandleAdminJoinedGroupFindsNoOthers",
			"HandleAdminJoinedGroupRefusesOtherPlatforms",
		},
	},
	"disableBravoGroupInviteLink does nothing": {
		breaking: answers(func(*botctx.Call, endLink) endedLink { return endedLink{ClientMutationID: rand.Text()} }),
		breaks: []string{
			"DisableBravoGroupInviteLinkEndsTheLink", "DisableBravoGroupInviteLinkFindsNoOthers",
			"DisableBravoGroupInviteLinkRefusesOtherPlatforms", "DisableBravoGroupInviteLinkTakesTheContextsOwn",
			"DisableBravoGroupInviteLinkRefusesBadInput", "DisableBravoGroupInviteLinkTakesRecordsAsAddresses",
		},
	},
	"disableBravoGroupInviteLink answers with a constant": {
		breaking: gives(func(_ endLink, r *endedLink) { r.ClientMutationID = "mutation" }),
		breaks:   []string{"DisableBravoGroupInviteLinkAnswersWithANewID"},
	},
	"disableBravoGroupInviteLink needs the channel": {
		breaking: given(func(p *endLink) {
			if p.Channel == nil {
				p.Channel = &channelRecord{ID: elsewhere}
			}
		}),
		breaks: []string{"DisableBravoGroupInviteLinkTakesTheContextsOwn", "DisableBravoGroupInviteLinkAnswersAsDocumented", "DisableBravoGroupInviteLinkRefusesBadInput", "DisableBravoGroupInviteLinkFindsNoOthers", "DisableBravoGroupInviteLinkRefusesOtherPlatforms"},
	},
	"setBravoGroupIcon does nothing": {
		breaking: answers(func(*botctx.Call, setIcon) iconSet { return iconSet{OK: "ok"} }),
		breaks: []string{
			"SetBravoGroupIconShowsThePicture", "SetBravoGroupIconRefusesOtherPlatforms", "SetBravoGroupIconFindsNoOthers",
			"SetBravoGroupIconRefusesBadInput", "SetBravoGroupIconTakesTheContextsOwn",
			"SetBravoGroupIconTakesRecordsAsAddresses",
		},
	},
	"setBravoGroupIcon has words of its own": {
		breaking: gives(func(_ setIcon, r *iconSet) { r.OK = "OK" }), breaks: []string{"SetBravoGroupIconShowsThePicture"},
	},
	"setBravoGroupIcon needs the channel": {
		breaking: given(func(p *setIcon) {
			if p.ChannelID == "" {
				p.ChannelID = elsewhere
			}
		}),
		breaks: []string{
			"SetBravoGroupIconShowsThePicture", "SetBravoGroupIconRefusesBadInput", "SetBravoGroupIconAnswersAsDocumented",
			"SetBravoGroupIconFindsNoOthers", "SetBravoGroupIconTakesTheContextsOwn",
			"SetBravoGroupIconRefusesOtherPlatforms",
		},
	},
}

// forgettingTheLiveChat makes groups of agents who joined that belong to nothing.
func forgettingTheLiveChat() botctx.Interceptor {
	return instead(func(ctx context.Context, bot *botctx.Context, p adminJoined, next botctx.Next) (any, error) {
		link, err := next(ctx)
		if err != nil || p.Channel == nil {
			return link, err
		}
		g, err := bot.GetGroupByExternalID(ctx, groupByExternal{AdminExternalID: p.ExternalID, ChannelID: p.Channel.ID})
		if err == nil {
			_, err = bot.UpdateGroup(ctx, updateGroup{Group: document.O("_id", g.ID, "assignment", "", "member", "")})
		}
		return link, err
	})()
}

// brokenHotelChannels are the defects of createHotelChannel.
var brokenHotelChannels = map[string]breakage{
	"createHotelChannel makes none": {
		breaking: answers(func(*botctx.Call, createHotel) createdHotel {
			return createdHotel{OK: 1, Result: document.O("id", rand.Text())}
		}),
		breaks: []string{
			"CreateHotelChannelMakesAChannel", "CreateHotelChannelRefusesOtherPlatforms",
			"CreateHotelChannelFindsNoOthers", "CreateHotelChannelTakesTheContextsOwn",
			"CreateHotelChannelRefusesBadInput", "CreateHotelChannelTakesRecordsAsAddresses",
		},
	},
	"createHotelChannel has a name of its own": {
		breaking: given(func(p *createHotel) {
			if p.DisplayName != "" {
				p.DisplayName = "Channel"
			}
		}),
		breaks: []string{"CreateHotelChannelMakesAChannel"},
	},
	"createHotelChannel gives no reply": {
		breaking: gives(func(_ createHotel, r *createdHotel) { r.Result = document.Object{} }),
		breaks:   []string{"CreateHotelChannelAnswersAsDocumented"},
	},
	"createHotelChannel needs the channel": {
		breaking: given(func(p *createHotel) {
			if p.Channel == nil {
				p.Channel = &channelRecord{ID: elsewhere}
			}
		}),
		breaks: []string{
			"CreateHotelChannelTakesTheContextsOwn", "CreateHotelChannelRefusesBadInput",
			"CreateHotelChannelAnswersAsDocumented", "CreateHotelChannelRefusesOtherPlatforms",
		},
	},
}
