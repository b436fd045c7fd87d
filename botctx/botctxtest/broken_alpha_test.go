package botctxtest_test

import (
	"context"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/botctx/botctxtest"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// Short for the tables below.
type (
	alphaParams  = send.SendAlphaResponseParams
	alphasParams = send.SendAlphaResponseToMemberIDsParams
	alphasResult = send.SendAlphaResponseToMemberIDsResult
)

// constantResult is a plausible send result.
func constantResult(*botctx.Call) send.Result {
	return send.Result{
		Reply: document.O("recipient_id", "1", "message_id", "m_1"),
		MessageEvent: send.MessageEvent{
			From: "bot", To: "1", Type: send.TypeText, Timestamp: 1, MessageID: "m_1", Data: document.O("text", "Hello"),
		},
	}
}

// brokenAlpha are the defects of operations of Alpha.
var brokenAlpha = map[string]breakage{
	"sendAlphaResponse is constant": {
		breaking: answers(func(call *botctx.Call, _ alphaParams) send.Result { return constantResult(call) }),
		breaks:   []string{"SendAlphaResponseReachesTheMember", "SendAlphaResponseTellsWhatWasSent"},
	},
	"sendAlphaResponse fills nothing": {
		breaking: given(func(p *alphaParams) { p.Response = send.Raw(p.Response.Object()) }),
		breaks:   []string{"SendAlphaResponseReachesTheMember", "SendAlphaResponseRefusesBadInput"},
	},
	"sendAlphaResponse ignores memberId": {
		breaking: given(func(p *alphaParams) { p.MemberID = "" }),
		breaks: []string{
			"SendAlphaResponseReachesTheMember", "SendAlphaResponseFindsNoOthers", "SendAlphaResponseRefusesBadInput",
		},
	},
	"sendAlphaResponse knows all types": {
		breaking: instead(func(ctx context.Context, _ *botctx.Context, p alphaParams, next botctx.Next) (any, error) {
			if p.Response.Type() == "HOLOGRAM" {
				return nil, boterr.Invalid("response.type", "is not known")
			}
			return next(ctx)
		}),
		breaks: []string{"SendAlphaResponseReachesTheMember"},
	},
	"sendAlphaResponse has one message id": {
		breaking: gives(func(_ alphaParams, r *send.Result) { r.MessageEvent.MessageID = "m_1" }),
		breaks:   []string{"SendAlphaResponseTellsWhatWasSent"},
	},
	"sendAlphaResponse tells the chat": {
		breaking: gives(func(_ alphaParams, r *send.Result) { *r = r.Full() }),
		breaks:   []string{"SendAlphaResponseAnswersAsDocumented"},
	},
	"sendAlphaResponseToMemberIds is constant": {
		breaking: answers(func(call *botctx.Call, _ alphasParams) alphasResult {
			return alphasResult{Results: []send.Result{constantResult(call)}}
		}),
		breaks: []string{"SendAlphaResponseToMemberIdsReachesEach", "SendAlphaResponseToMemberIdsTakesOneID"},
	},
	"sendAlphaResponseToMemberIds tells in another order": {
		breaking: gives(func(_ alphasParams, r *alphasResult) {
			last := len(r.Results) - 1
			r.Results[0], r.Results[last] = r.Results[last], r.Results[0]
		}),
		breaks: []string{"SendAlphaResponseToMemberIdsReachesEach"},
	},
	"sendAlphaResponseToMemberIds stops at the first failure": {
		breaking: instead(func(ctx context.Context, bot *botctx.Context, p alphasParams, next botctx.Next) (any, error) {
			if len(p.MemberID) < 2 {
				return next(ctx)
			}
			var all alphasResult
			for _, id := range p.MemberID {
				p.MemberID = document.One(id)
				one, err := bot.SendAlphaResponseToMemberIDs(ctx, p)
				if err != nil {
					return alphasResult{}, err
				}
				all.Results = append(all.Results, one.Results...)
			}
			return all, nil
		}),
		breaks: []string{
			"SendAlphaResponseToMemberIdsKeepsTheOthers", "SendAlphaResponseToMemberIdsSendsToAllOrNone",
			"SendAlphaResponseToMemberIdsReachesEach",
		},
	},
	"sendAlphaResponseToMemberIds takes lists alone": {
		altering: narrow(`"memberId":"`), breaks: []string{"SendAlphaResponseToMemberIdsTakesOneID"},
	},
	"alphaCreateBroadcast is constant": {
		breaking: answers(func(*botctx.Call, send.AlphaCreateBroadcastParams) send.AlphaCreateBroadcastResult {
			return send.AlphaCreateBroadcastResult{OK: 1, Result: []send.StoredMessage{{Response: document.O("message_creative_id", 3_000_000_001)}}}
		}),
		breaks: []string{"AlphaCreateBroadcastStoresTheMessage", "AlphaCreateBroadcastTakesTextAndObjects"},
	},
	"alphaCreateBroadcast cuts paths": {
		breaking: given(func(p *send.AlphaCreateBroadcastParams) {
			if p.Response.Type() == send.TypeText {
				p.Response = send.Text("Hello")
			}
		}),
		breaks: []string{"AlphaCreateBroadcastStoresTheMessage"},
	},
	"alphaCreateBroadcast takes objects alone": {
		altering: narrow(`"response":"`), breaks: []string{"AlphaCreateBroadcastTakesTextAndObjects"},
	},
	"alphaCreateBroadcast keeps the token": {
		breaking: gives(func(_ send.AlphaCreateBroadcastParams, r *send.AlphaCreateBroadcastResult) {
			r.Result[0].AccessToken = channel.Secret{}
		}),
		breaks: []string{"AlphaCreateBroadcastTellsWhatIsStored"},
	},
	"alphaSendBroadcast fails where one does": {
		altering: refusingAll, breaks: []string{"AlphaSendBroadcastReachesTheRest"},
	},
	"sendAlphaResponseToMemberIds sorts what it is given": {
		breaking: given(func(p *alphasParams) {
			if len(p.MemberID) > 1 {
				p.MemberID[0], p.MemberID[1] = p.MemberID[1], p.MemberID[0]
			}
		}),
		breaks: []string{"SendAlphaResponseToMemberIdsTakesACopy", "SendAlphaResponseToMemberIdsReachesEach"},
	},
	"alphaSendBroadcast is constant": {
		breaking: answers(func(*botctx.Call, send.AlphaSendBroadcastParams) send.AlphaSendBroadcastResult {
			return send.AlphaSendBroadcastResult{BroadcastID: 5_000_000_001}
		}),
		breaks: []string{
			"AlphaSendBroadcastReachesTheLabelled", "AlphaSendBroadcastFindsNoOtherMessages", "AlphaSendBroadcastTakesTextAndObjects",
		},
	},
	"alphaSendBroadcast takes text alone": {
		altering: narrow(`"broadcastId":{`), breaks: []string{"AlphaSendBroadcastTakesTextAndObjects"},
	},
	"alphaGetAttachmentId is constant": {
		breaking: answers(func(*botctx.Call, send.AlphaGetAttachmentIDParams) send.AlphaGetAttachmentIDResult {
			return send.AlphaGetAttachmentIDResult{AttachmentID: "1857777774821032"}
		}),
		breaks: []string{"AlphaGetAttachmentIdGivesAnIDForMessages"},
	},
	"alphaGetAttachmentId takes capitals alone": {
		altering: narrow(`"image"`), breaks: []string{"AlphaGetAttachmentIdTakesBothSpellings"},
	},
	"alphaPassThreadControl is constant": {
		breaking: answers(func(*botctx.Call, send.AlphaPassThreadControlParams) send.AlphaPassThreadControlResult {
			return send.AlphaPassThreadControlResult{Success: true}
		}),
		breaks: []string{"AlphaPassThreadControlTakesTheConversationAway"},
	},
	"alphaPassThreadControl ignores the member": {
		breaking: given(func(p *send.AlphaPassThreadControlParams) { p.Member = nil }),
		breaks:   []string{"AlphaPassThreadControlTakesTheConversationAway", "AlphaPassThreadControlFindsNoOthers"},
	},
	"alphaSaveCustomLabel is constant": {
		breaking: answers(func(*botctx.Call, send.AlphaSaveCustomLabelParams) send.AlphaSaveCustomLabelResult {
			return send.AlphaSaveCustomLabelResult{ID: 1712444532121303}
		}),
		breaks: []string{"AlphaSaveCustomLabelIsRepeatable", "AlphaSendBroadcastReachesTheLabelled"},
	},
	"alphaRemoveCustomLabel is constant": {
		breaking: answers(func(*botctx.Call, send.AlphaRemoveCustomLabelParams) send.AlphaRemoveCustomLabelResult {
			return send.AlphaRemoveCustomLabelResult{Success: true}
		}),
		breaks: []string{"AlphaRemoveCustomLabelTakesTheLabelOff"},
	},
}

// refusingAll makes the platform refuse messages to all where it is to refuse those to one.
func refusingAll(h *botctxtest.Harness) {
	var members []*member.Member
	add, refuse := h.AddMember, h.Refuse
	h.AddMember = func(m member.Member) *member.Member {
		stored := add(m)
		members = append(members, stored)
		return stored
	}
	h.Refuse = func(*member.Member) {
		for _, m := range members {
			refuse(m)
		}
	}
}
