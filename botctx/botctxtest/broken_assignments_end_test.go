package botctxtest_test

import (
	"context"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/botctx/botctxtest"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
)

// Short for the table below.
type (
	removeParams   = livechat.RemovePendingAssignmentByMemberIDParams
	removeResult   = livechat.RemovePendingAssignmentByMemberIDResult
	endParams      = livechat.EndLiveChatParams
	endResult      = livechat.EndLiveChatResult
	inletEndParams = livechat.InletEndLiveChatParams
	bravoEndParams = livechat.EndBravoLiveChatParams
	bravoEndResult = []livechat.EndBravoLiveChatResult
)

// brokenEnds are the defects of the ways to end a live chat.
var brokenEnds = map[string]breakage{
	"what arrives is lost without an error": {
		altering: func(h *botctxtest.Harness) { h.Receive = func(botctx.Inbound) error { return nil } },
		breaks:   []string{"MessagesOfALiveChatReachSomebody"},
		only:     true,
	},
	"removePendingAssignmentByMemberId removes nothing": {
		breaking: given(func(p *removeParams) {
			if p.MemberID != "" {
				p.MemberID = "nobody"
			}
		}),
		breaks: []string{
			"RemovePendingAssignmentByMemberIdWithdrawsIt", "RemovePendingAssignmentByMemberIdRecallsTickets",
			"AnAgentTakesOnlyWhatIsOpenThere",
		},
	},
	"removePendingAssignmentByMemberId gives one id": {
		breaking: gives(func(_ removeParams, r *removeResult) { r.ClientMutationID = "mutation" }),
		breaks:   []string{"RemovePendingAssignmentByMemberIdOfNothing"},
	},
	"removePendingAssignmentByMemberId ends what was taken": {
		breaking: instead(func(ctx context.Context, bot *botctx.Context, p removeParams, next botctx.Next) (any, error) {
			_, _ = bot.InletEndLiveChat(ctx, inletEndParams{Member: &member.Member{ID: p.MemberID}})
			return next(ctx)
		}),
		breaks: []string{"RemovePendingAssignmentByMemberIdWithdrawsIt", "RemovePendingAssignmentByMemberIdLeavesOthers"},
		others: true,
	},
	"removePendingAssignmentByMemberId needs a request": {
		breaking: instead(func(ctx context.Context, bot *botctx.Context, p removeParams, next botctx.Next) (any, error) {
			found, err := bot.GetAssignmentsByMemberID(ctx, byMemberParams{MemberID: p.MemberID})
			if err == nil && len(found) == 0 {
				return removeResult{}, boterr.New(boterr.NotFound, "memberId", "has none")
			}
			return next(ctx)
		}),
		breaks: []string{"RemovePendingAssignmentByMemberIdOfNothing", "RemovePendingAssignmentByMemberIdLeavesOthers"},
	},
	"tickets are never recalled": {
		altering: func(h *botctxtest.Harness) {
			sent := h.Sent
			h.Sent = func() []botctxtest.Sent {
				all := sent()
				for i := range all {
					all[i].IsRecalled = false
				}
				return all
			}
		},
		breaks: []string{"RemovePendingAssignmentByMemberIdRecallsTickets", "InletEndLiveChatRecallsOnlyOnDemand"},
	},
	"endLiveChat ends nothing": {
		breaking: instead(func(ctx context.Context, bot *botctx.Context, _ endParams, _ botctx.Next) (any, error) {
			m, err := bot.GetMember(ctx, member.GetMemberParams{MemberID: bot.Scope().Member})
			return endResult{Member: m}, err
		}),
		breaks: []string{
			"EndLiveChatEndsTheLiveChat", "EndLiveChatClearsTheMembersGroup", "EndLiveChatEndsOnce", "EndLiveChatFindsNoOthers",
			"EndLiveChatRefusesBadInput", "EndLiveChatTakesTheContextsOwn",
		},
		others: true,
	},
	"endLiveChat tells of one and the same": {
		breaking: gives(func(_ endParams, r *endResult) { r.ID, r.Version = "assignment", 1 }),
		breaks:   []string{"EndLiveChatEndsTheLiveChat"},
	},
	"endLiveChat clears no group": {
		breaking: instead(func(ctx context.Context, bot *botctx.Context, _ endParams, next botctx.Next) (any, error) {
			result, err := next(ctx)
			if ended, ok := result.(endResult); ok && ended.Member != nil {
				_, _ = bot.PatchMembers(ctx, member.PatchMembersParams{
					MemberID: ended.Member.ID, Patch: document.Set("group", "another"), WithModifier: true,
				})
			}
			return result, err
		}),
		breaks: []string{"EndLiveChatClearsTheMembersGroup", "EndLiveChatEndsTheLiveChat"},
		others: true,
	},
	"endLiveChat needs a channel": {
		breaking: given(func(p *endParams) {
			if p.Channel == nil {
				p.Channel = &channel.Channel{}
			}
		}),
		breaks: []string{
			"EndLiveChatTakesTheContextsOwn", "EndLiveChatAnswersAsDocumented", "EndLiveChatRefusesBadInput",
			"EndLiveChatFindsNoOthers",
		},
	},
	"endLiveChat ends again": {
		breaking: excusingAt[endParams](boterr.FailedPrecondition, endResult{}),
		breaks:   []string{"EndLiveChatEndsOnce"},
	},
	"inletEndLiveChat ends nothing": {
		breaking: instead(func(ctx context.Context, bot *botctx.Context, _ inletEndParams, _ botctx.Next) (any, error) {
			m, err := bot.GetMember(ctx, member.GetMemberParams{MemberID: bot.Scope().Member})
			return endResult{Member: m}, err
		}),
		breaks: []string{"InletEndLiveChatEndsTheLiveChat", "InletEndLiveChatNeedsALiveChat"},
		others: true,
	},
	"inletEndLiveChat tells of one and the same": {
		breaking: gives(func(_ inletEndParams, r *endResult) { r.ID, r.Version = "assignment", 1 }),
		breaks:   []string{"InletEndLiveChatEndsTheLiveChat", "InletEndLiveChatTakesAddresses"},
	},
	"inletEndLiveChat is for the context's own member": {
		breaking: given(func(p *inletEndParams) { p.Member = nil }),
		breaks: []string{
			"InletEndLiveChatTakesAddresses", "InletEndLiveChatFindsNoOthers", "InletEndLiveChatRefusesBadInput",
			"InletEndLiveChatTakesRecordsAsAddresses",
		},
	},
	"inletEndLiveChat needs a member": {
		breaking: given(func(p *inletEndParams) {
			if p.Member == nil {
				p.Member = &member.Member{}
			}
		}),
		breaks: []string{"InletEndLiveChatEndsTheLiveChat"},
		others: true,
	},
	"inletEndLiveChat ignores channel": {
		breaking: given(func(p *inletEndParams) { p.Channel = nil }),
		breaks:   []string{"InletEndLiveChatFindsNoOthers", "InletEndLiveChatRefusesBadInput"},
	},
	"inletEndLiveChat recalls always": {
		breaking: given(func(p *inletEndParams) { p.Options.RecallRelayMessage = true }),
		breaks:   []string{"InletEndLiveChatRecallsOnlyOnDemand"},
	},
	"inletEndLiveChat never recalls": {
		breaking: given(func(p *inletEndParams) { p.Options.RecallRelayMessage = false }),
		breaks:   []string{"InletEndLiveChatRecallsOnlyOnDemand", "InletEndLiveChatCannotRecallEverywhere"},
	},
	"inletEndLiveChat ends again": {
		breaking: excusingAt[inletEndParams](boterr.FailedPrecondition, endResult{}),
		breaks:   []string{"InletEndLiveChatNeedsALiveChat"},
	},
	"endBravoLiveChat ends nothing": {
		breaking: answers(func(*botctx.Call, bravoEndParams) bravoEndResult { return bravoEndResult{} }),
		breaks: []string{
			"EndBravoLiveChatEndsThoseOfTheAgent", "EndBravoLiveChatOfNothing", "EndBravoLiveChatTakesTheContextsOwn",
			"EndBravoLiveChatFindsNoOthers", "EndBravoLiveChatRefusesOtherPlatforms", "EndBravoLiveChatRefusesBadInput",
			"EndBravoLiveChatEndsAGroupWithoutAssignment", "EndBravoLiveChatAnswersAsDocumented",
			"EndBravoLiveChatTakesRecordsAsAddresses",
		},
	},
	"endBravoLiveChat tells of one and the same": {
		breaking: gives(func(_ bravoEndParams, r *bravoEndResult) {
			for i := range *r {
				(*r)[i].AssignmentRaw = &livechat.Assignment{ID: "assignment"}
			}
		}),
		breaks: []string{"EndBravoLiveChatEndsThoseOfTheAgent", "EndBravoLiveChatEndsAGroupWithoutAssignment"},
	},
	"endBravoLiveChat is null": {
		breaking: gives(func(_ bravoEndParams, r *bravoEndResult) {
			if len(*r) == 0 {
				*r = nil
			}
		}),
		breaks: []string{"EndBravoLiveChatOfNothing"},
	},
	"endBravoLiveChat needs an id of a channel": {
		breaking: given(func(p *bravoEndParams) {
			p.Channel = nil
			if p.ChannelID == "" {
				p.ChannelID = "none"
			}
		}),
		breaks: []string{
			"EndBravoLiveChatTakesTheContextsOwn", "EndBravoLiveChatFindsNoOthers", "EndBravoLiveChatRefusesBadInput",
			"EndBravoLiveChatAnswersAsDocumented", "EndBravoLiveChatRefusesOtherPlatforms",
		},
	},
	"endBravoLiveChat ends those of every agent": {
		breaking: instead(func(ctx context.Context, bot *botctx.Context, p bravoEndParams, next botctx.Next) (any, error) {
			group, err := bot.GetGroupByGroupExternalID(ctx, livechat.GetGroupByGroupExternalIDParams{GroupExternalID: p.BravoGroupID})
			if err == nil && p.AdminExternalID != "" {
				p.AdminExternalID = group.AdminExternalID
				return bot.EndBravoLiveChat(ctx, p)
			}
			return next(ctx)
		}),
		breaks: []string{"EndBravoLiveChatOfNothing"},
	},
}
