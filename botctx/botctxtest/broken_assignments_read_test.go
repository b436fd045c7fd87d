package botctxtest_test

import (
	"context"
	"slices"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
)

// Short for the table below.
type (
	readParams     = livechat.GetAssignmentParams
	byOutletParams = livechat.GetAssignmentByOutletParams
	byBravoParams  = livechat.GetAssignmentByBravoGroupIDParams
	byMemberParams = livechat.GetAssignmentsByMemberIDParams
	byMetaParams   = livechat.GetAssignmentsByMetaParams
	byParentParams = livechat.GetAssignmentsByParentAssignmentIDParams
	assignments    = []*livechat.Assignment
)

// aConstant is an assignment that is always the same.
func aConstant[P any](*botctx.Call, P) *livechat.Assignment {
	return &livechat.Assignment{ID: "assignment", Member: "member", Meta: document.O()}
}

// nobodys is a look-up that finds nothing.
func nobodys[P any](*botctx.Call, P) *livechat.Assignment { return nil }

// nones are lists in which there is nothing.
func nones[P any](*botctx.Call, P) assignments { return assignments{} }

// constants are lists that are always the same.
func constants[P any](*botctx.Call, P) assignments {
	return assignments{{ID: "assignment", Member: "member", Meta: document.O()}}
}

// brokenAssignmentReads are the defects of look-ups of assignments.
var brokenAssignmentReads = map[string]breakage{
	"getAssignment finds nothing": {
		breaking: answers(nobodys[readParams]), others: true,
		breaks: []string{"GetAssignmentReadsIt", "GetAssignmentFindsNoOthers", "GetAssignmentRefusesBadInput"},
	},
	"getAssignment finds one and the same": {
		breaking: answers(aConstant[readParams]), others: true,
		breaks: []string{"GetAssignmentReadsIt", "GetAssignmentFindsNoOthers", "GetAssignmentRefusesBadInput"},
	},
	"getAssignmentByOutlet finds nothing": {
		breaking: answers(nobodys[byOutletParams]),
		breaks: []string{
			"GetAssignmentByOutletReadsTheNewestOpen", "GetAssignmentByOutletIsWhereItWasTaken",
			"GetAssignmentByOutletTakesMetaAsAFilter", "GetAssignmentByOutletFindsNoOthers",
			"GetAssignmentByOutletRefusesBadInput", "GetAssignmentByOutletAnswersAsDocumented",
		},
	},
	"getAssignmentByOutlet finds one and the same": {
		breaking: answers(aConstant[byOutletParams]),
		breaks: []string{
			"GetAssignmentByOutletReadsTheNewestOpen", "GetAssignmentByOutletIsWhereItWasTaken",
			"GetAssignmentByOutletTakesMetaAsAFilter", "GetAssignmentByOutletFindsNoOthers",
			"GetAssignmentByOutletRefusesBadInput", "GetAssignmentByOutletAnswersAsDocumented",
		},
	},
	"getAssignmentByOutlet reads meta as data": {
		breaking: given(func(p *createParams) {
			if !p.Meta.IsZero() {
				p.Meta = document.O("was", p.Meta)
			}
		}),
		breaks: []string{"GetAssignmentByOutletTakesMetaAsAFilter"},
		others: true,
	},
	"getAssignmentByBravoGroupId finds nothing": {
		breaking: answers(nobodys[byBravoParams]),
		breaks: []string{
			"GetAssignmentByBravoGroupIdReadsTheNewest", "GetAssignmentByBravoGroupIdFindsNoOthers",
			"GetAssignmentByBravoGroupIdRefusesBadInput", "GetAssignmentByBravoGroupIdAnswersAsDocumented",
		},
	},
	"getAssignmentByBravoGroupId finds one and the same": {
		breaking: answers(aConstant[byBravoParams]),
		breaks: []string{
			"GetAssignmentByBravoGroupIdReadsTheNewest", "GetAssignmentByBravoGroupIdFindsNoOthers",
			"GetAssignmentByBravoGroupIdRefusesBadInput", "GetAssignmentByBravoGroupIdAnswersAsDocumented",
		},
	},
	"getAssignmentsByMemberId finds nothing": {
		breaking: answers(nones[byMemberParams]),
		breaks: []string{
			"GetAssignmentsByMemberIdReadsAll", "GetAssignmentsByMemberIdSorts", "GetAssignmentsByMemberIdRefusesBadInput",
			"GetAssignmentsByMemberIdAnswersAsDocumented",
		},
		others: true,
	},
	"getAssignmentsByMemberId finds one and the same": {
		breaking: answers(constants[byMemberParams]),
		breaks: []string{
			"GetAssignmentsByMemberIdReadsAll", "GetAssignmentsByMemberIdSorts",
			"GetAssignmentsByMemberIdIsEmptyForOthers", "GetAssignmentsByMemberIdRefusesBadInput",
			"GetAssignmentsByMemberIdAnswersAsDocumented",
		},
		others: true,
	},
	"getAssignmentsByMemberId gives the newest first": {
		breaking: gives(func(_ byMemberParams, r *assignments) { slices.Reverse(*r) }),
		breaks:   []string{"GetAssignmentsByMemberIdReadsAll", "GetAssignmentsByMemberIdSorts"},
	},
	"getAssignmentsByMemberId ignores sortBy": {
		breaking: given(func(p *byMemberParams) { p.SortBy = document.Object{} }),
		breaks:   []string{"GetAssignmentsByMemberIdSorts", "GetAssignmentsByMemberIdRefusesBadInput"},
	},
	"getAssignmentsByMemberId is null": {
		breaking: gives(nullWhereEmpty[byMemberParams]),
		breaks:   []string{"GetAssignmentsByMemberIdIsEmptyForOthers"},
	},
	"getAssignmentsByMeta finds nothing": {
		breaking: answers(nones[byMetaParams]),
		breaks: []string{
			"GetAssignmentsByMetaReadsWhatHoldsIt", "GetAssignmentsByMetaStaysInTheApp",
			"GetAssignmentsByMetaRefusesBadInput", "GetAssignmentsByMetaAnswersAsDocumented",
		},
	},
	"getAssignmentsByMeta finds one and the same": {
		breaking: answers(constants[byMetaParams]),
		breaks: []string{
			"GetAssignmentsByMetaReadsWhatHoldsIt", "GetAssignmentsByMetaStaysInTheApp",
			"GetAssignmentsByMetaRefusesBadInput", "GetAssignmentsByMetaAnswersAsDocumented",
		},
	},
	"getAssignmentsByMeta finds all": {
		breaking: given(func(p *byMetaParams) {
			if !p.Meta.IsZero() {
				p.Meta = document.O()
			}
		}),
		breaks: []string{
			"GetAssignmentsByMetaReadsWhatHoldsIt", "GetAssignmentsByMetaStaysInTheApp", "GetAssignmentsByMetaRefusesBadInput",
		},
	},
	"getAssignmentsByMeta is null": {
		breaking: gives(nullWhereEmpty[byMetaParams]),
		breaks:   []string{"GetAssignmentsByMetaReadsWhatHoldsIt", "GetAssignmentsByMetaStaysInTheApp"},
	},
	"getAssignmentsByParentAssignmentId finds nothing": {
		breaking: answers(nones[byParentParams]),
		breaks: []string{
			"GetAssignmentsByParentAssignmentIdReadsWhatItWasHandedOnTo",
			"GetAssignmentsByParentAssignmentIdIsEmptyForOthers", "GetAssignmentsByParentAssignmentIdRefusesBadInput",
			"GetAssignmentsByParentAssignmentIdAnswersAsDocumented",
		},
	},
	"getAssignmentsByParentAssignmentId finds one and the same": {
		breaking: answers(constants[byParentParams]),
		breaks: []string{
			"GetAssignmentsByParentAssignmentIdReadsWhatItWasHandedOnTo",
			"GetAssignmentsByParentAssignmentIdIsEmptyForOthers", "GetAssignmentsByParentAssignmentIdRefusesBadInput",
			"GetAssignmentsByParentAssignmentIdAnswersAsDocumented",
		},
	},
	"getAssignmentsByParentAssignmentId finds those of the member": {
		breaking: instead(func(ctx context.Context, bot *botctx.Context, p byParentParams, next botctx.Next) (any, error) {
			parent, err := bot.GetAssignment(ctx, readParams(p))
			if err != nil {
				return next(ctx)
			}
			return bot.GetAssignmentsByMemberID(ctx, byMemberParams{MemberID: parent.Member})
		}),
		breaks: []string{"GetAssignmentsByParentAssignmentIdReadsWhatItWasHandedOnTo", "GetAssignmentsByParentAssignmentIdIsEmptyForOthers"},
	},
	"getAssignmentsByParentAssignmentId is null": {
		breaking: gives(nullWhereEmpty[byParentParams]),
		breaks:   []string{"GetAssignmentsByParentAssignmentIdIsEmptyForOthers"},
	},
}

// nullWhereEmpty gives no list in place of an empty one.
func nullWhereEmpty[P any](_ P, found *assignments) {
	if len(*found) == 0 {
		*found = nil
	}
}
