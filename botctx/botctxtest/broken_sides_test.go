package botctxtest_test

import (
	"context"
	"crypto/rand"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

// Short for the tables below.
type (
	toInlet       = livechat.SendMessageToInletParams
	toInletGroup  = livechat.SendMessageToInletGroupParams
	toOutletGroup = livechat.SendMessageToOutletGroupParams
	saveGroup     = livechat.SaveGroupIDToMemberParams
	savedGroup    = livechat.SaveGroupIDToMemberResult
)

// unsent is a result that looks as if a message had been sent.
func unsent(response send.Response) send.Result {
	return send.Result{Reply: document.O("ok", true), MessageEvent: send.MessageEvent{
		Type: response.Type(), Data: response.Object().Without("type"), Timestamp: 1, MessageID: rand.Text(),
	}}
}

// twice does an operation that sends, and does it again.
func twice[P any]() func() botctx.Interceptor {
	return instead(func(ctx context.Context, _ *botctx.Context, _ P, next botctx.Next) (any, error) {
		if result, err := next(ctx); err != nil {
			return result, err
		}
		return next(ctx)
	})
}

// brokenInletSends are the defects of operations that send to the inlet.
var brokenInletSends = map[string]breakage{
	"sendMessageToInlet sends nothing": {
		breaking: answers(func(_ *botctx.Call, p toInlet) send.Result { return unsent(p.Response) }),
		breaks: []string{
			"SendMessageToInletReachesTheMember", "SendMessageToInletTakesTheContextsOwn",
			"SendMessageToInletGoesOnWithTheLiveChat", "SendMessageToInletFindsNoOthers",
			"SendMessageToInletRefusesBadInput", "SendMessageToInletNeedsAnExternalID",
			"SendMessageToInletAnswersAsThePlatform", "SendMessageToInletAnswersAsDocumented",
			"SendMessageToInletTakesRecordsAsAddresses",
		},
		others: true,
	},
	"sendMessageToInlet sends twice": {
		breaking: twice[toInlet](),
		breaks:   []string{"SendMessageToInletReachesTheMember"},
		others:   true,
	},
	"sendMessageToInlet fills nothing": {
		breaking: given(func(p *toInlet) { p.Response = send.Raw(p.Response.Object()) }),
		breaks:   []string{"SendMessageToInletReachesTheMember", "SendMessageToInletRefusesBadInput"},
	},
	"sendMessageToInlet sends to the context's member": {
		breaking: instead(func(ctx context.Context, bot *botctx.Context, p toInlet, next botctx.Next) (any, error) {
			if result, err := next(ctx); err != nil {
				return result, err
			}
			sent, err := bot.SendResponse(ctx, send.SendResponseParams{Response: p.Response})
			return sent.Result(), err
		}),
		breaks: []string{"SendMessageToInletReachesTheMember", "SendMessageToInletTakesTheContextsOwn"},
		others: true,
	},
	"sendMessageToInlet needs the channel": {
		breaking: given(func(p *toInlet) {
			if p.Channel == nil {
				p.Channel = &channelRecord{ID: elsewhere}
			}
		}),
		breaks: []string{
			"SendMessageToInletTakesTheContextsOwn", "SendMessageToInletRefusesBadInput",
			"SendMessageToInletFindsNoOthers", "SendMessageToInletAnswersAsDocumented",
		},
	},
	"sendMessageToInlet has one shape for all": {
		breaking: gives(func(_ toInlet, r *send.Result) { *r = r.Full() }), breaks: []string{"SendMessageToInletAnswersAsThePlatform", "SendMessageToInletAnswersAsDocumented"},
	},
	"sendMessageToInlet to somebody without an id is no error": {
		breaking: excusingAt[toInlet](boterr.FailedPrecondition, send.Result{}), breaks: []string{"SendMessageToInletNeedsAnExternalID"},
		others: true,
	},
	"sendMessageToInletGroup sends nothing": {
		breaking: answers(func(_ *botctx.Call, p toInletGroup) send.Result { return unsent(p.Response) }),
		breaks: []string{
			"SendMessageToInletGroupOnBravo", "SendMessageToInletGroupOnDelta",
			"SendMessageToInletGroupIsForPlatformsWithGroups", "SendMessageToInletGroupTakesGroupsAsAddresses",
			"SendMessageToInletGroupGoesOnWithTheLiveChat", "SendMessageToInletGroupNeedsALiveGroup",
			"SendMessageToInletGroupFindsNoOthers", "SendMessageToInletGroupRefusesBadInput",
			"SendMessageToInletGroupNeedsAGroupThere", "SendMessageToInletGroupAnswersAsDocumented",
			"SendMessageToInletGroupTakesRecordsAsAddresses",
		},
	},
	"sendMessageToInletGroup sends twice": {
		breaking: twice[toInletGroup](),
		breaks: []string{
			"SendMessageToInletGroupOnBravo", "SendMessageToInletGroupOnDelta", "SendMessageToInletGroupTakesGroupsAsAddresses",
		},
	},
	"sendMessageToInletGroup ignores records": {
		breaking: given(func(p *toInletGroup) { p.Group = nil }),
		breaks: []string{
			"SendMessageToInletGroupTakesGroupsAsAddresses", "SendMessageToInletGroupRefusesBadInput", "SendMessageToInletGroupFindsNoOthers",
		},
	},
	"sendMessageToInletGroup where there is none is no error": {
		breaking: excusingAt[toInletGroup](boterr.FailedPrecondition, send.Result{}),
		breaks:   []string{"SendMessageToInletGroupNeedsALiveGroup", "SendMessageToInletGroupNeedsAGroupThere"},
	},
	"sendMessageToInletGroup on any platform is no error": {
		breaking: excusingAt[toInletGroup](boterr.Unsupported, send.Result{}),
		breaks:   []string{"SendMessageToInletGroupIsForPlatformsWithGroups"},
	},
	"one app for all inlets": {
		altering: oneApp,
		breaks:   []string{"SendMessageToInletFindsNoOthers", "SendMessageToInletGroupFindsNoOthers"},
		others:   true,
	},
}

// brokenOutletSends are the defects of sendMessageToOutletGroup.
var brokenOutletSends = map[string]breakage{
	"sendMessageToOutletGroup sends nothing": {
		breaking: answers(func(_ *botctx.Call, p toOutletGroup) send.Result { return unsent(p.Response) }),
		breaks: []string{
			"SendMessageToOutletGroupOnBravo", "SendMessageToOutletGroupOnCharlie", "SendMessageToOutletGroupOnDelta",
			"SendMessageToOutletGroupIsForPlatformsWithGroups", "SendMessageToOutletGroupTakesGroupsAsAddresses",
			"SendMessageToOutletGroupGoesOnWithTheLiveChat", "SendMessageToOutletGroupNeedsALiveGroup",
			"SendMessageToOutletGroupFindsNoOthers", "SendMessageToOutletGroupRefusesBadInput",
			"SendMessageToOutletGroupPostsToTheResponseURL", "SendMessageToOutletGroupRefusesBadAddresses",
			"SendMessageToOutletGroupAnswersAsDocumented", "SendMessageToOutletGroupTakesRecordsAsAddresses",
		},
		others: true,
	},
	"sendMessageToOutletGroup fills nothing": {
		breaking: given(func(p *toOutletGroup) { p.Response = send.Raw(p.Response.Object()) }),
		breaks: []string{
			"SendMessageToOutletGroupOnBravo", "SendMessageToOutletGroupOnCharlie", "SendMessageToOutletGroupOnDelta",
			"SendMessageToOutletGroupTakesGroupsAsAddresses", "SendMessageToOutletGroupRefusesBadInput",
			"SendMessageToOutletGroupPostsToTheResponseURL",
		},
	},
	"sendMessageToOutletGroup ignores records": {
		breaking: given(func(p *toOutletGroup) { p.Group = nil }),
		breaks: []string{
			"SendMessageToOutletGroupTakesGroupsAsAddresses", "SendMessageToOutletGroupRefusesBadInput",
			"SendMessageToOutletGroupFindsNoOthers",
		},
	},
	"sendMessageToOutletGroup ignores where it is to post": {
		breaking: given(func(p *toOutletGroup) { p.ResponseURL = "" }),
		breaks:   []string{"SendMessageToOutletGroupPostsToTheResponseURL", "SendMessageToOutletGroupRefusesBadAddresses"},
	},
	"sendMessageToOutletGroup posts and sends": {
		breaking: instead(func(ctx context.Context, bot *botctx.Context, p toOutletGroup, next botctx.Next) (any, error) {
			result, err := next(ctx)
			if err == nil && p.ResponseURL != "" {
				p.ResponseURL = ""
				_, err = bot.SendMessageToOutletGroup(ctx, p)
			}
			return result, err
		}),
		breaks: []string{"SendMessageToOutletGroupPostsToTheResponseURL"},
	},
	"sendMessageToOutletGroup to a group that was left is no error": {
		breaking: excusingAt[toOutletGroup](boterr.FailedPrecondition, send.Result{}),
		breaks:   []string{"SendMessageToOutletGroupNeedsALiveGroup"},
		others:   true,
	},
	"sendMessageToOutletGroup on any platform is no error": {
		breaking: excusingAt[toOutletGroup](boterr.Unsupported, send.Result{}),
		breaks:   []string{"SendMessageToOutletGroupIsForPlatformsWithGroups"},
	},
	"sendMessageToOutletGroup says all is well": {
		breaking: excusing[toOutletGroup](send.Result{}),
		breaks:   []string{"SendMessageToOutletGroupRefusesBadInput", "SendMessageToOutletGroupRefusesBadAddresses"},
	},
}

// brokenSavedGroups are the defects of saveGroupIdToMember.
var brokenSavedGroups = map[string]breakage{
	"saveGroupIdToMember keeps nothing": {
		breaking: answers(func(*botctx.Call, saveGroup) savedGroup { return savedGroup{ClientMutationID: rand.Text()} }),
		breaks: []string{
			"SaveGroupIdToMemberKeepsTheGroup", "SaveGroupIdToMemberKnowsTheInletsGroups",
			"SaveGroupIdToMemberTakesTheContextsOwn", "SaveGroupIdToMemberFindsNoOthers",
			"SaveGroupIdToMemberRefusesBadInput", "SaveGroupIdToMemberTakesRecordsAsAddresses",
		},
	},
	"saveGroupIdToMember answers with a constant": {
		breaking: gives(func(_ saveGroup, r *savedGroup) { r.ClientMutationID = "mutation" }),
		breaks:   []string{"SaveGroupIdToMemberAnswersWithANewID"},
	},
	"saveGroupIdToMember needs the channel": {
		breaking: given(func(p *saveGroup) {
			if p.Channel == nil {
				p.Channel = &channelRecord{ID: elsewhere}
			}
		}),
		breaks: []string{
			"SaveGroupIdToMemberTakesTheContextsOwn", "SaveGroupIdToMemberKnowsTheInletsGroups",
			"SaveGroupIdToMemberFindsNoOthers", "SaveGroupIdToMemberRefusesBadInput",
			"SaveGroupIdToMemberAnswersAsDocumented",
		},
	},
}
