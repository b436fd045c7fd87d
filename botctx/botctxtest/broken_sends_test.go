package botctxtest_test

import (
	"context"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send"
)

// Short for the table below.
type (
	sendParams = send.SendResponseParams
	sendResult = send.SendResponseResult
)

// brokenSends are the defects of operations that send.
var brokenSends = map[string]breakage{
	"nothing is sent": {
		breaking: answers(func(*botctx.Call, sendParams) sendResult {
			return sendResult{Results: []send.Result{{
				Reply: document.O("ok", true), MessageEvent: send.MessageEvent{Type: send.TypeText, Timestamp: 1, MessageID: "m"},
			}}}
		}),
		breaks: []string{"SendResponseReachesTheMember", "SendResponseTellsWhatWasSent"},
		others: true,
	},
	"everything is sent twice": {
		breaking: instead(func(ctx context.Context, _ *botctx.Context, _ sendParams, next botctx.Next) (any, error) {
			if result, err := next(ctx); err != nil {
				return result, err
			}
			return next(ctx)
		}),
		breaks: []string{
			"SendResponseReachesTheMember", "SendResponseFillsPaths", "SendResponsePassesTypesThrough",
			"SendResponseTakesACopy", "SendResponseReachesSeveralMembers",
			"SendResponseLoadsRecordsAgain", "SendResponseTakesAnotherChannel",
			"SendResponseGoesToTheGroup", "SendResponseSendsLiteralsAsTheyAre",
		},
		others: true,
	},
	"nothing is filled": {
		breaking: given(func(p *sendParams) { p.Response = send.Raw(p.Response.Object()) }),
		breaks: []string{
			"SendResponseFillsPaths", "SendResponseRefusesBadInput", "SendResponseReachesSeveralMembers",
			"SendResponseLoadsRecordsAgain", "SendResponseSendsToAllOrNone",
			"SendResponseGoesToTheGroup",
		},
	},
	"everything is filled": {
		breaking: given(func(p *sendParams) { p.Response = p.Response.WithPlaceholders() }),
		breaks:   []string{"SendResponseSendsLiteralsAsTheyAre"},
	},
	"types are known": {
		breaking: instead(func(ctx context.Context, _ *botctx.Context, p sendParams, next botctx.Next) (any, error) {
			if p.Response.Type() == "HOLOGRAM" {
				return nil, boterr.Invalid("response.type", "is not known")
			}
			return next(ctx)
		}),
		breaks: []string{"SendResponsePassesTypesThrough"},
	},
	"one of several": {
		breaking: given(func(p *sendParams) {
			if len(p.MemberID) > 1 {
				p.MemberID = p.MemberID[:1]
			}
		}),
		breaks: []string{
			"SendResponseTakesACopy", "SendResponseReachesSeveralMembers", "SendResponseRefusesBadInput",
			"SendResponseFindsNoOthers", "SendResponseSendsToAllOrNone", "SendResponseNeedsAnExternalID",
			"SendResponseOnCharlie", "SendResponseOnEcho", "SendResponseOnAlpha", "SendResponseOnBravo",
			"SendResponseOnDelta", "SendResponseOnFoxtrot", "SendResponseOnHotel", "SendResponseOnCustom",
			"SendResponseOnWebchat",
		},
	},
	"each of several by itself": {
		breaking: sendOneByOne,
		breaks: []string{
			"SendResponseReachesSeveralMembers", "SendResponseRefusesBadInput",
			"SendResponseFindsNoOthers", "SendResponseSendsToAllOrNone", "SendResponseNeedsAnExternalID",
		},
	},
	"groups are ignored": {
		breaking: instead(func(ctx context.Context, bot *botctx.Context, p sendParams, _ botctx.Next) (any, error) {
			if bot.Scope().GroupExternalID != "" && p.Member == nil && p.MemberID == nil {
				p.MemberID = document.One(bot.Scope().Member)
			}
			return bot.SendResponse(ctx, p)
		}),
		breaks: []string{"SendResponseGoesToTheGroup"},
	},
	"records are ignored": {
		breaking: given(func(p *sendParams) { p.Channel, p.Member = nil, nil }),
		breaks: []string{
			"SendResponseTakesAnotherChannel", "SendResponseRefusesBadInput", "SendResponseFindsNoOthers",
			"SendResponseGoesToTheGroup",
		},
	},
	"ids are ignored": {
		breaking: given(func(p *sendParams) { p.ChannelID, p.MemberID = "", nil }),
		breaks: []string{
			"SendResponseTellsWhatWasSent", "SendResponseFillsPaths", "SendResponseTakesACopy",
			"SendResponseReachesSeveralMembers", "SendResponseTakesAnotherChannel",
			"SendResponseRefusesBadInput", "SendResponseFindsNoOthers", "SendResponseSendsToAllOrNone",
			"SendResponseNeedsAnExternalID", "SendResponseOnCharlie", "SendResponseOnEcho",
			"SendResponseOnAlpha", "SendResponseOnBravo", "SendResponseOnDelta", "SendResponseOnFoxtrot",
			"SendResponseOnHotel", "SendResponseOnCustom", "SendResponseOnWebchat",
			"SendResponseGoesToTheGroup",
		},
	},
	"records beat ids": {
		breaking: given(func(p *sendParams) {
			if p.Channel != nil {
				p.ChannelID = ""
			}
			if p.Member != nil {
				p.MemberID = nil
			}
		}),
		breaks: []string{"SendResponseRefusesBadInput"},
	},
	"records are believed": {
		breaking: believing,
		breaks:   []string{"SendResponseLoadsRecordsAgain"},
	},
	"strangers are left out": {
		breaking: instead(func(ctx context.Context, _ *botctx.Context, _ sendParams, next botctx.Next) (any, error) {
			result, err := next(ctx)
			if boterr.CodeOf(err) == boterr.NotFound {
				return sendResult{}, nil
			}
			return result, err
		}),
		breaks: []string{"SendResponseFindsNoOthers", "SendResponseSendsToAllOrNone"},
	},
	"bad responses are cut": {
		breaking: instead(func(ctx context.Context, bot *botctx.Context, p sendParams, next botctx.Next) (any, error) {
			result, err := next(ctx)
			if e, ok := boterr.AsError(err); ok && e.Field == "response.text" && len(p.Response.Text()) > send.MaxText {
				p.Response = send.Text(p.Response.Text()[:send.MaxText])
				return bot.SendResponse(ctx, p)
			}
			return result, err
		}),
		breaks: []string{"SendResponseRefusesBadInput"},
	},
	"no external id needed": {
		breaking: instead(func(ctx context.Context, _ *botctx.Context, _ sendParams, next botctx.Next) (any, error) {
			result, err := next(ctx)
			if boterr.CodeOf(err) == boterr.FailedPrecondition {
				return sendResult{}, nil
			}
			return result, err
		}),
		breaks: []string{"SendResponseNeedsAnExternalID"},
	},
	"one shape for all": {
		breaking: gives(func(_ sendParams, r *sendResult) {
			for i := range r.Results {
				r.Results[i] = r.Results[i].Full()
			}
		}),
		breaks: []string{
			"SendResponseOnCharlie", "SendResponseOnEcho", "SendResponseOnAlpha", "SendResponseOnBravo",
			"SendResponseOnDelta", "SendResponseOnFoxtrot", "SendResponseOnHotel", "SendResponseOnCustom",
			"SendResponseOnWebchat", "SendResponseAnswersAsDocumented",
		},
	},
	"no message ids": {
		breaking: gives(func(_ sendParams, r *sendResult) {
			for i := range r.Results {
				r.Results[i].MessageEvent.MessageID = "message"
			}
		}),
		breaks: []string{"SendResponseTellsWhatWasSent"},
	},
}

// sendOneByOne sends to each of several members until one fails.
func sendOneByOne() botctx.Interceptor {
	return instead(func(ctx context.Context, bot *botctx.Context, p sendParams, next botctx.Next) (any, error) {
		if len(p.MemberID) < 2 || p.Member != nil {
			return next(ctx)
		}
		var all sendResult
		for _, id := range p.MemberID {
			p.MemberID = document.One(id)
			one, err := bot.SendResponse(ctx, p)
			if err != nil {
				return sendResult{}, err
			}
			all.Results = append(all.Results, one.Results...)
		}
		return all, nil
	})()
}

// believing fills a message from the record that is passed in.
func believing() botctx.Interceptor {
	return given(func(p *sendParams) {
		if filled, err := send.Fill(p.Response, p.Member); p.Member != nil && err == nil {
			p.Response = filled
		}
	})()
}
