package botctxtest_test

import (
	"context"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// finding finds nothing, whatever there is.
func finding[P any]() botctx.Interceptor {
	return func(ctx context.Context, call *botctx.Call, next botctx.Next) (any, error) {
		answer, err := next(ctx)
		if _, ok := call.Params.(P); ok && err == nil {
			return nil, boterr.New(boterr.NotFound, "", "there is none")
		}
		return answer, err
	}
}

// brokenAnswers are operations that have no effect or find nothing, and operations that give a
// plausible constant, where the tables of their domains have none.
var brokenAnswers = map[string]breakage{
	"getChannel finds nothing": {
		breaking: finding[channel.GetChannelParams], breaks: []string{"GetChannelTellsTheApp"},
	},
	"getMember finds nothing": {
		breaking: finding[member.GetMemberParams], breaks: []string{"GetMemberReturnsTheRecord", "GetMemberReadsTheWholeApp"},
	},
	"patchMembers changes nothing": {
		breaking: answers(func(_ *botctx.Call, p member.PatchMembersParams) member.PatchMembersResult {
			return member.PatchMembersResult{Result: &member.Member{ID: p.MemberID}}
		}),
		breaks: []string{"PatchMembersTakesModifiers", "PatchMembersSetsFields"},
	},
	"checkAndSaveMemberReferFrom is constant": {
		breaking: answers(func(_ *botctx.Call, p member.CheckAndSaveMemberReferFromParams) *member.Member {
			return &member.Member{ID: p.MemberID, Meta: document.O("referFrom", "a channel of the past")}
		}),
		breaks: []string{"CheckAndSaveMemberReferFromKeepsIt", "CheckAndSaveMemberReferFromKeepsTheFirst", "CheckAndSaveMemberReferFromKeepsOneOfMany"},
	},
	"getGroup finds nothing": {breaking: finding[getGroup], breaks: []string{"GetGroupReadsIt"}},
	"getGroupByExternalId finds nothing": {
		breaking: finding[groupByExternal],
		breaks:   []string{"GetGroupByExternalIdCombinesAgentAndGroup", "GetGroupByExternalIdReadsTheNewestLiveOne"},
	},
	"getGroupByGroupExternalId finds nothing": {
		breaking: finding[groupByItsExternal], breaks: []string{"GetGroupByGroupExternalIdReadsTheNewestLiveOne"},
	},
	"getGroupByInletGroup finds nothing": {
		breaking: finding[groupByInlet], breaks: []string{"GetGroupByInletGroupReadsTheNewestLiveOne"},
	},
	"getGroupByMemberId finds nothing": {
		breaking: finding[groupByMember], breaks: []string{"GetGroupByMemberIdReadsTheNewestLiveOne"},
	},
	"getAdmin finds nothing":             {breaking: finding[getAdmin], breaks: []string{"GetAdminReadsTheAgent"}},
	"getAdminByExternalId finds nothing": {breaking: finding[adminByExternal], breaks: []string{"GetAdminByExternalIdReadsTheAgent"}},
	"updateGroup is constant": {
		breaking: answers(func(*botctx.Call, updateGroup) groupUpdate { return groupUpdate{DocsIDs: constantIDs, Modified: 1} }),
		breaks:   []string{"UpdateGroupSetsTheGivenFields", "UpdateGroupTellsWhatItDid"},
	},
	"updateGroupMeta is constant": {
		breaking: answers(func(*botctx.Call, updateGroupMeta) groupUpdate { return groupUpdate{DocsIDs: constantIDs, Modified: 1} }),
		breaks:   []string{"UpdateGroupMetaSetsTheGivenFields", "UpdateGroupMetaTellsWhatItDid"},
	},
	"createHotelChannel gives one id": {
		breaking: answers(func(*botctx.Call, createHotel) createdHotel {
			return createdHotel{OK: 1, Result: document.O("id", "channel")}
		}),
		breaks: []string{"CreateHotelChannelMakesAChannel"},
	},
	"sendMessageToInlet is constant": {
		breaking: answers(func(call *botctx.Call, _ toInlet) send.Result { return constantResult(call) }),
		breaks:   []string{"SendMessageToInletReachesTheMember"},
	},
	"sendMessageToInletGroup is constant": {
		breaking: answers(func(call *botctx.Call, _ toInletGroup) send.Result { return constantResult(call) }),
		breaks:   []string{"SendMessageToInletGroupOnBravo", "SendMessageToInletGroupOnDelta"},
	},
	"sendMessageToOutletGroup is constant": {
		breaking: answers(func(call *botctx.Call, _ toOutletGroup) send.Result { return constantResult(call) }),
		breaks:   []string{"SendMessageToOutletGroupOnBravo", "SendMessageToOutletGroupOnDelta"},
	},
}

// constantIDs are always the same.
var constantIDs = livechat.DocsIDs{Updated: []string{"group"}}
