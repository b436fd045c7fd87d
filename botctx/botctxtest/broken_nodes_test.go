package botctxtest_test

import (
	"context"
	"slices"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/botctx/botctxtest"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// Short for the table below.
type (
	redirectParams = botctx.RedirectMemberToNodeParams
	redirectResult = botctx.RedirectMemberToNodeResult
)

// ranSilently is the result of a node without responses.
func ranSilently(memberID string) redirectResult {
	return redirectResult{OK: 1, Member: memberID, SendResults: []botctx.NodeSendResult{
		{OK: 1, Member: memberID, Result: []send.Result{}},
	}}
}

// brokenNodes are the defects of operations on nodes.
var brokenNodes = map[string]breakage{
	"no node runs": {
		breaking: answers(func(_ *botctx.Call, p redirectParams) redirectResult { return ranSilently(p.MemberID) }),
		breaks: []string{
			"RedirectMemberToNodeTellsWhatEachNodeSent", "RedirectMemberToNodeWritesBack", "RedirectMemberToNodeFindsNoOthers", "RedirectMemberToNodeRefusesBadInput",
		},
		others: true,
	},
	"redirectMemberToNode is not ok": {
		breaking: gives(func(_ redirectParams, r *redirectResult) { r.OK = 0 }),
		breaks:   []string{"RedirectMemberToNodeTellsWhatEachNodeSent"},
	},
	"redirectMemberToNode tells of one node": {
		breaking: gives(func(_ redirectParams, r *redirectResult) { r.SendResults = r.SendResults[:1] }),
		breaks:   []string{"RedirectMemberToNodeTellsWhatEachNodeSent", "RedirectMemberToNodeOptionsAreTrueByDefault"},
	},
	"redirectMemberToNode tells of the last node first": {
		breaking: gives(func(_ redirectParams, r *redirectResult) { slices.Reverse(r.SendResults) }),
		breaks:   []string{"RedirectMemberToNodeTellsWhatEachNodeSent", "RedirectMemberToNodeOptionsAreTrueByDefault"},
	},
	"redirectMemberToNode runs no pre-actions by default": {
		breaking: given(func(p *redirectParams) { p.RedirectOptions.RunPreAction = orOff(p.RedirectOptions.RunPreAction) }),
		breaks: []string{
			"RedirectMemberToNodeRunsThePartsInOrder", "RedirectMemberToNodeOptionsAreTrueByDefault", "RedirectMemberToNodeGivesMeta",
			"RedirectMemberToNodeTakesTheTree", "RedirectMemberToNodeIsForAnyMemberOfTheChannel", "RedirectMemberToNodeWritesBack",
			"RedirectMemberToNodeWritesNothingBackWhereItFails",
		},
	},
	"redirectMemberToNode sends no responses by default": {
		breaking: given(func(p *redirectParams) { p.RedirectOptions.SendResponse = orOff(p.RedirectOptions.SendResponse) }),
		breaks: []string{
			"RedirectMemberToNodeTellsWhatEachNodeSent", "RedirectMemberToNodeRunsThePartsInOrder", "RedirectMemberToNodeOptionsAreTrueByDefault",
		},
	},
	"redirectMemberToNode runs no post-actions by default": {
		breaking: given(func(p *redirectParams) { p.RedirectOptions.RunPostAction = orOff(p.RedirectOptions.RunPostAction) }),
		breaks:   []string{"RedirectMemberToNodeRunsThePartsInOrder", "RedirectMemberToNodeOptionsAreTrueByDefault"},
	},
	"redirectMemberToNode ignores redirectOptions": {
		breaking: given(func(p *redirectParams) { p.RedirectOptions = botctx.RedirectOptions{} }),
		breaks:   []string{"RedirectMemberToNodeOptionsAreTrueByDefault", "RedirectMemberToNodeRefusesBadInput"},
	},
	"redirectMemberToNode ignores meta": {
		breaking: given(func(p *redirectParams) { p.Meta = document.Object{} }),
		breaks:   []string{"RedirectMemberToNodeGivesMeta", "RedirectMemberToNodeRefusesBadInput"},
	},
	"redirectMemberToNode has a meta": {
		breaking: given(func(p *redirectParams) {
			if p.Meta.IsZero() {
				p.Meta = document.O("from", "redirect")
			}
		}),
		breaks: []string{"RedirectMemberToNodeGivesMeta"},
	},
	"redirectMemberToNode ignores treeId": {
		breaking: given(func(p *redirectParams) { p.TreeID = "" }),
		breaks:   []string{"RedirectMemberToNodeTakesTheTree", "RedirectMemberToNodeFindsNoOthers"},
	},
	"redirectMemberToNode ignores channelId": {
		breaking: given(func(p *redirectParams) { p.ChannelID = "" }),
		breaks: []string{
			"RedirectMemberToNodeIsForAnyMemberOfTheChannel", "RedirectMemberToNodeFindsNoOthers",
			"RedirectMemberToNodeRefusesBadInput", "RedirectMemberToNodeTakesRecordsAsAddresses",
		},
	},
	"redirectMemberToNode for the context's own member": {
		breaking: func() botctx.Interceptor {
			return func(ctx context.Context, call *botctx.Call, next botctx.Next) (any, error) {
				if p, ok := call.Params.(redirectParams); ok && p.MemberID != "" {
					p.MemberID, p.ChannelID = call.Context.Scope().Member, ""
					call.Params = p
				}
				return next(ctx)
			}
		},
		breaks: []string{
			"RedirectMemberToNodeIsForAnyMemberOfTheChannel", "RedirectMemberToNodeWritesBack", "RedirectMemberToNodeFindsNoOthers",
			"RedirectMemberToNodeRefusesBadInput",
		},
	},
	"redirectMemberToNode writes nothing back": {
		breaking: instead(func(ctx context.Context, bot *botctx.Context, p redirectParams, next botctx.Next) (any, error) {
			before, _ := bot.GetMember(ctx, member.GetMemberParams{MemberID: p.MemberID})
			result, err := next(ctx)
			if err == nil && before != nil {
				err = setMeta(ctx, bot, p.MemberID, before.Meta)
			}
			return result, err
		}),
		breaks: []string{"RedirectMemberToNodeWritesBack"},
	},
	"redirectMemberToNode writes back what failed": {
		breaking: instead(func(ctx context.Context, bot *botctx.Context, p redirectParams, next botctx.Next) (any, error) {
			result, err := next(ctx)
			if boterr.CodeOf(err) == boterr.Conflict {
				if failed := setMeta(ctx, bot, p.MemberID, document.O("first", true)); failed != nil {
					return nil, failed
				}
			}
			return result, err
		}),
		breaks: []string{"RedirectMemberToNodeWritesNothingBackWhereItFails"},
	},
	"failed actions are skipped":     {breaking: excusingCode(boterr.Conflict), breaks: []string{"RedirectMemberToNodeWritesNothingBackWhereItFails"}},
	"redirects without end are left": {breaking: excusingCode(boterr.ResourceExhausted), breaks: []string{"RedirectMemberToNodeStopsEndlessRedirects"}},
	"nodes redirect nowhere": {
		altering: alteringNodes(func(n *botctx.Node) { n.Redirect = nil }),
		breaks: []string{
			"RedirectMemberToNodeTellsWhatEachNodeSent", "RedirectMemberToNodeRunsThePartsInOrder", "RedirectMemberToNodeOptionsAreTrueByDefault",
			"RedirectMemberToNodeWritesBack", "RedirectMemberToNodeStopsEndlessRedirects",
		},
	},
	"responses come last": {
		altering: alteringNodes(func(n *botctx.Node) { n.Pre, n.Post = slices.Concat(n.Pre, n.Post), nil }),
		breaks:   []string{"RedirectMemberToNodeRunsThePartsInOrder", "RedirectMemberToNodeOptionsAreTrueByDefault"},
	},
}

// orOff returns an option, off where it is not given.
func orOff(option *bool) *bool {
	if option == nil {
		return new(false)
	}
	return option
}

// setMeta replaces the meta of a member.
func setMeta(ctx context.Context, bot *botctx.Context, memberID string, meta document.Object) error {
	_, err := bot.UpdateMember(ctx, member.UpdateMemberParams{Member: document.O("_id", memberID, "meta", meta)})
	return err
}

// excusingCode answers a redirect that ends with an error of that code as if all were
// well.
func excusingCode(code boterr.Code) func() botctx.Interceptor {
	return instead(func(ctx context.Context, _ *botctx.Context, p redirectParams, next botctx.Next) (any, error) {
		result, err := next(ctx)
		if boterr.CodeOf(err) == code {
			return ranSilently(p.MemberID), nil
		}
		return result, err
	})
}

// alteringNodes breaks nodes when they are added.
func alteringNodes(alter func(*botctx.Node)) func(*botctxtest.Harness) {
	return func(h *botctxtest.Harness) {
		handle := h.Handle
		h.Handle = func(nodes ...*botctx.Node) {
			for _, node := range nodes {
				alter(node)
			}
			handle(nodes...)
		}
	}
}
