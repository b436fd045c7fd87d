package botctxtest_test

import (
	"context"
	"sync/atomic"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send"
)

// Short for the table below.
type (
	hotelParams         = send.SendHotelResponseParams
	deltaParams         = send.SendDeltaResponseParams
	deltaResult         = send.SendDeltaResponseResult
	commentParams       = send.SavePostCommentAnalyticsParams
	archiveParams       = send.CharlieArchiveConversationParams
	updateMessageParams = send.UpdateMessageParams
	tagParams           = send.EchoSaveMemberTagParams
	tagResult           = send.EchoSaveMemberTagResult
)

// brokenPlatforms are the defects of operations of the other platforms.
var brokenPlatforms = map[string]breakage{
	"sendHotelResponse is constant": {
		breaking: answers(func(call *botctx.Call, _ hotelParams) send.Result { return constantResult(call) }),
		breaks:   []string{"SendHotelResponseReachesTheRecipient", "SendHotelResponseTellsWhatWasSent"},
	},
	"sendHotelResponse needs a user": {
		breaking: instead(func(ctx context.Context, _ *botctx.Context, p hotelParams, next botctx.Next) (any, error) {
			if p.RecipientID == "" {
				return nil, boterr.Invalid("recipientId", "is missing")
			}
			return next(ctx)
		}),
		breaks: []string{"SendHotelResponseReachesTheRecipient"},
	},
	"sendHotelResponse prefers the group": {
		breaking: given(func(p *hotelParams) {
			if p.HotelGroupID != "" {
				p.RecipientID, p.ReceiverType = "", ""
			}
		}),
		breaks: []string{"SendHotelResponseReachesTheRecipient", "SendHotelResponseRefusesBadInput"},
	},
	"sendHotelResponse fills nothing": {
		breaking: given(func(p *hotelParams) { p.Response = send.Raw(p.Response.Object()) }),
		breaks:   []string{"SendHotelResponseReachesTheRecipient", "SendHotelResponseRefusesBadInput"},
	},
	"sendDeltaResponse is constant": {
		breaking: answers(func(*botctx.Call, deltaParams) deltaResult { return deltaResult{ID: "req-1", Status: "OK"} }),
		breaks:   []string{"SendDeltaResponseReachesEach", "SendDeltaResponseTakesOneID", "SendDeltaResponseKeepsTheOthers"},
	},
	"sendDeltaResponse stops at the first failure": {
		breaking: instead(func(ctx context.Context, bot *botctx.Context, p deltaParams, next botctx.Next) (any, error) {
			if len(p.MemberID) < 2 {
				return next(ctx)
			}
			var last deltaResult
			for _, id := range p.MemberID {
				p.MemberID = document.One(id)
				one, err := bot.SendDeltaResponse(ctx, p)
				if err != nil {
					return deltaResult{}, err
				}
				last = one
			}
			return last, nil
		}),
		breaks: []string{"SendDeltaResponseKeepsTheOthers", "SendDeltaResponseSendsToAllOrNone", "SendDeltaResponseReachesEach"},
	},
	"sendDeltaResponse takes lists alone": {
		altering: narrow(`"memberId":"`), breaks: []string{"SendDeltaResponseTakesOneID"},
	},
	"savePostCommentAnalytics is constant": {
		breaking: answers(func(*botctx.Call, commentParams) send.SavePostCommentAnalyticsResult {
			return send.SavePostCommentAnalyticsResult{ClientMutationID: "1"}
		}),
		breaks: []string{"SavePostCommentAnalyticsRecordsTheComment", "SavePostCommentAnalyticsIsNotMatchedByDefault"},
	},
	"savePostCommentAnalytics matches all": {
		breaking: given(func(p *commentParams) { p.IsMatched = true }),
		breaks:   []string{"SavePostCommentAnalyticsIsNotMatchedByDefault"},
	},
	"savePostCommentAnalytics matches none": {
		breaking: given(func(p *commentParams) { p.IsMatched = false }),
		breaks:   []string{"SavePostCommentAnalyticsRecordsTheComment"},
	},
	"charlieArchiveConversation is constant": {
		breaking: answers(func(*botctx.Call, archiveParams) send.CharlieArchiveConversationResult {
			return send.CharlieArchiveConversationResult{OK: true}
		}),
		breaks: []string{"CharlieArchiveConversationEndsTheConversation", "CharlieArchiveConversationFindsNoOtherConversations"},
	},
	"updateMessage is constant": {
		breaking: answers(func(_ *botctx.Call, p updateMessageParams) send.UpdateMessageResult {
			return send.UpdateMessageResult{OK: true, Channel: p.ExternalChannelID, TS: p.MessageTS, Text: p.Text}
		}),
		breaks: []string{
			"UpdateMessageChangesTheMessage", "UpdateMessageFindsNoOtherMessages", "UpdateMessageTakesTheEvent",
		},
	},
	"updateMessage fills": {
		breaking: given(func(p *updateMessageParams) {
			if p.Text == "Bye {{firstName}}" {
				p.Text = "Bye Ada"
			}
		}),
		breaks: []string{"UpdateMessageChangesTheMessage"},
	},
	"updateMessage knows no events": {
		breaking: given(func(p *updateMessageParams) { p.MessageEvent = nil }),
		breaks:   []string{"UpdateMessageTakesTheEvent", "UpdateMessageRefusesBadInput"},
	},
	"EchoSaveMemberTag is constant": {
		breaking: answers(func(*botctx.Call, tagParams) tagResult { return tagResult{ErrMsg: "ok"} }),
		breaks:   []string{"EchoSaveMemberTagKeepsTheLimit", "EchoSaveMemberTagIsOneStep"},
	},
	"EchoSaveMemberTag fails beyond the limit": {
		breaking: instead(func(ctx context.Context, _ *botctx.Context, _ tagParams, next botctx.Next) (any, error) {
			result, err := next(ctx)
			if said, ok := result.(tagResult); ok && said.ErrCode != 0 {
				return nil, boterr.New(boterr.ResourceExhausted, "", "has too many tags")
			}
			return result, err
		}),
		breaks: []string{"EchoSaveMemberTagKeepsTheLimit", "EchoSaveMemberTagIsOneStep"},
	},
	"EchoSaveMemberTag counts first and writes then": {
		breaking: countingFirst, breaks: []string{"EchoSaveMemberTagIsOneStep"},
	},
}

// countingFirst lets two calls meet that both believe that there is room for one tag more.
func countingFirst() botctx.Interceptor {
	const most = send.MaxMemberTags
	var saved atomic.Int64
	together := newMeeting()
	return func(ctx context.Context, call *botctx.Call, next botctx.Next) (any, error) {
		if _, ok := call.Params.(tagParams); !ok {
			return next(ctx)
		}
		if saved.Load() < most-1 {
			saved.Add(1)
			return tagResult{ErrMsg: "ok"}, nil
		}
		if saved.Load() < most {
			together.join()
			saved.Add(1)
			return tagResult{ErrMsg: "ok"}, nil
		}
		return tagResult{ErrCode: 45059, ErrMsg: "too many"}, nil
	}
}
