package botctxtest_test

import (
	"context"
	"maps"
	"strconv"
	"strings"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/botctx/botctxtest"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// Short for the tables below.
type (
	newParams    = agenda.NewAgendaParams
	updateParams = agenda.UpdateAgendaParams
	updateResult = agenda.UpdateAgendaResult
	deleteParams = agenda.DeleteMemberAgendaParams
	deleteResult = agenda.DeleteMemberAgendaResult
)

// brokenAgendas are the defects of operations on agendas, and of their runs.
var brokenAgendas = merged(brokenNewAgenda, brokenReplace, brokenUpdateAgenda, brokenDeleteMemberAgenda, brokenIDs)

// merged returns several tables as one.
func merged(tables ...map[string]breakage) map[string]breakage {
	all := map[string]breakage{}
	for _, table := range tables {
		maps.Copy(all, table)
	}
	return all
}

var brokenNewAgenda = map[string]breakage{
	"nothing is scheduled": {
		breaking: answers(func(call *botctx.Call, p newParams) *agenda.Agenda {
			return &agenda.Agenda{
				ID: "agenda", App: call.Context.Scope().App, Channel: call.Context.Scope().Channel, Member: p.MemberID,
				Tree: p.TreeID, NodeCompositeID: p.NodeCompositeID, NextRunAt: p.NextRunAt, Meta: document.O(), Tag: p.Tag,
			}
		}),
		breaks: []string{
			"NewAgendaReturnsTheRecord", "NewAgendaHasDefaults", "NewAgendaRunsFirstByThePattern", "NewAgendaFindsNoOthers",
			"NewAgendaRefusesBadInput", "ADueAgendaRunsItsNode",
		},
		others: true,
	},
	"agendas have one id": {
		breaking: gives(func(_ newParams, a **agenda.Agenda) { (*a).ID = "agenda" }),
		breaks:   []string{"NewAgendaReturnsTheRecord"},
		others:   true,
	},
	"agendas are in one channel": {
		breaking: gives(func(_ newParams, a **agenda.Agenda) { (*a).Channel = "channel" }),
		breaks:   []string{"NewAgendaReturnsTheRecord", "NewAgendaIsForAnyMemberOfTheApp"},
		others:   true,
	},
	"newAgenda for the context's own member": {
		breaking: func() botctx.Interceptor {
			return func(ctx context.Context, call *botctx.Call, next botctx.Next) (any, error) {
				if p, ok := call.Params.(newParams); ok && p.MemberID != "" {
					p.MemberID = call.Context.Scope().Member
					call.Params = p
				}
				return next(ctx)
			}
		},
		breaks: []string{
			"NewAgendaHasDefaults", "NewAgendaIsForAnyMemberOfTheApp", "NewAgendaFindsNoOthers",
			"NewAgendaReplacesItsTag", "NewAgendaKeepsOneReplacementOfMany", "UpdateAgendaReplaces",
			"UpdateAgendaChangesTheTag", "UpdateAgendaChangesAll", "DeleteMemberAgendaRemovesTheTag",
			"DeleteMemberAgendaRemovesAll", "ADueAgendaRunsItsNode", "ARunThatIsTriedAgainSendsUnderTheSameIDs",
		},
	},
	"newAgenda for nobody": {
		breaking: instead(func(ctx context.Context, _ *botctx.Context, p newParams, next botctx.Next) (any, error) {
			made, err := next(ctx)
			if boterr.CodeOf(err) == boterr.NotFound {
				return &agenda.Agenda{ID: "agenda", Member: p.MemberID}, nil
			}
			return made, err
		}),
		breaks: []string{"NewAgendaFindsNoOthers"},
	},
	"newAgenda ignores treeId": {breaking: given(func(p *newParams) { p.TreeID = "" }), breaks: []string{"NewAgendaReturnsTheRecord"}},
	"newAgenda has a root tree": {breaking: given(func(p *newParams) { p.TreeID = orElse(p.TreeID, "root") }), breaks: []string{
		"NewAgendaHasDefaults", "ADueAgendaRunsItsNode", "ACompletedAgendaStaysAsItIs",
		"DueAgendasRunByPriority", "ARunThatIsTriedAgainSendsUnderTheSameIDs", "APatternRunsUntilItsEnd", "WhatIsDeletedOrReplacedDoesNotRun",
		"WithoutRunUntilAPatternRunsOnce",
	}},
	"newAgenda ignores priority": {breaking: given(func(p *newParams) { p.Priority = nil }), breaks: []string{
		"NewAgendaReturnsTheRecord", "UpdateAgendaTellsWhatItDid", "DueAgendasRunByPriority",
	}},
	"newAgenda has priority 1": {
		breaking: given(func(p *newParams) {
			if p.Priority == nil {
				p.Priority = new(int64(1))
			}
		}),
		breaks: []string{"NewAgendaHasDefaults", "DueAgendasRunByPriority"},
	},
	"newAgenda ignores meta": {breaking: given(func(p *newParams) { p.Meta = document.Object{} }), breaks: []string{
		"NewAgendaReturnsTheRecord", "NewAgendaKeepsMetaToTheLetter", "NewAgendaRefusesBadInput",
		"ADueAgendaRunsItsNode", "DueAgendasRunByPriority", "WhatIsDeletedOrReplacedDoesNotRun",
	}},
	"newAgenda has no meta": {
		breaking: gives(func(p newParams, a **agenda.Agenda) {
			if p.Meta.IsZero() {
				(*a).Meta = document.Object{}
			}
		}),
		breaks: []string{"NewAgendaHasDefaults"},
		others: true,
	},
	"newAgenda drops modifiers in meta": {
		breaking: given(func(p *newParams) {
			if p.Meta.Len() > 0 {
				p.Meta = p.Meta.Without("$set")
			}
		}),
		breaks: []string{"NewAgendaKeepsMetaToTheLetter"},
	},
	"newAgenda has a tag": {breaking: given(func(p *newParams) { p.Tag = orElse(p.Tag, "default") }), breaks: []string{"NewAgendaHasDefaults", "NewAgendaRefusesBadInput"}},
	"newAgenda ignores tag": {
		breaking: given(func(p *newParams) {
			if p.Tag != "" {
				p.Tag, p.Replace = "", false
			}
		}),
		breaks: []string{
			"NewAgendaReturnsTheRecord", "NewAgendaReplacesItsTag", "NewAgendaKeepsTheLastReplacement",
			"NewAgendaKeepsOneReplacementOfMany", "UpdateAgendaReplaces", "UpdateAgendaSetsWhatIsGiven",
			"UpdateAgendaChangesTheTag", "UpdateAgendaTellsWhatItDid", "UpdateAgendaRefusesBadInput",
			"DeleteMemberAgendaRemovesTheTag", "APatternRunsUntilItsEnd", "WhatIsDeletedOrReplacedDoesNotRun",
			"UpdateAgendaOfASingleRun",
		},
	},
	"the pattern overrides nextRunAt": {
		breaking: given(func(p *newParams) {
			if p.Pattern != "" {
				p.NextRunAt = 0
			}
		}),
		breaks: []string{
			"NewAgendaRunsFirstAtNextRunAt", "NewAgendaRefusesBadInput", "UpdateAgendaRefusesBadInput",
			"WithoutRunUntilAPatternRunsOnce",
		},
	},
	"the zone of a pattern is ignored": {
		breaking: given(func(p *newParams) {
			if i := strings.Index(p.Pattern, " "); strings.HasPrefix(p.Pattern, "CRON_TZ=") {
				p.Pattern = p.Pattern[i+1:]
			}
		}),
		breaks: []string{"NewAgendaReadsAPatternInTheZoneThatItNames", "NewAgendaRefusesBadInput"},
	},
	"patterns are ignored": {
		breaking: given(func(p *newParams) {
			if p.Pattern != "" && p.NextRunAt == 0 {
				p.NextRunAt = p.RunUntil
			}
			p.Pattern, p.RunUntil = "", 0
		}),
		breaks: []string{
			"NewAgendaRunsFirstByThePattern", "NewAgendaReadsAPatternInTheZoneThatItNames", "NewAgendaRefusesBadInput",
			"UpdateAgendaRefusesBadInput", "UpdateAgendaIsAllOrNone", "APatternRunsUntilItsEnd",
		},
	},
	"an overridden pattern goes on for ever": {
		breaking: given(func(p *newParams) {
			if p.Pattern != "" && p.NextRunAt > 0 && p.RunUntil == 0 {
				p.RunUntil = 8_640_000_000_000_000
			}
		}),
		breaks: []string{"WithoutRunUntilAPatternRunsOnce"},
	},
	"runUntil is exclusive": {
		breaking: instead(func(ctx context.Context, _ *botctx.Context, p newParams, next botctx.Next) (any, error) {
			if p.NextRunAt != 0 && p.NextRunAt == p.RunUntil && p.Pattern != "" {
				return nil, boterr.Invalid("nextRunAt", "is the end")
			}
			return next(ctx)
		}),
		breaks: []string{
			"NewAgendaRunsFirstAtNextRunAt", "NewAgendaRefusesBadInput", "NewAgendaReplacesItsTag",
		},
	},
	"what has passed does not run": {
		breaking: instead(func(ctx context.Context, _ *botctx.Context, p newParams, next botctx.Next) (any, error) {
			if p.NextRunAt > 0 && p.NextRunAt < 1e9 {
				return nil, boterr.Invalid("nextRunAt", "has passed")
			}
			return next(ctx)
		}),
		breaks: []string{"NewAgendaRunsFirstAtNextRunAt"},
	},
}

// orElse returns a text, or another where it is empty.
func orElse(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

var brokenReplace = map[string]breakage{
	"newAgenda replaces nothing": {
		breaking: given(func(p *newParams) { p.Replace = p.Replace && p.Tag == "" }),
		breaks: []string{
			"NewAgendaReplacesItsTag", "NewAgendaKeepsTheLastReplacement", "NewAgendaKeepsOneReplacementOfMany",
			"UpdateAgendaReplaces", "UpdateAgendaSetsWhatIsGiven", "WhatIsDeletedOrReplacedDoesNotRun",
			"UpdateAgendaOfASingleRun",
		},
	},
	"newAgenda replaces always": {
		breaking: given(func(p *newParams) { p.Replace = p.Replace || p.Tag != "" }),
		breaks: []string{
			"NewAgendaReturnsTheRecord", "NewAgendaReplacesNothingByDefault", "UpdateAgendaChangesTheTag",
			"UpdateAgendaTellsWhatItDid",
		},
	},
	"newAgenda replaces all of the member": {
		breaking: instead(func(ctx context.Context, bot *botctx.Context, p newParams, next botctx.Next) (any, error) {
			if p.Replace && p.Tag != "" {
				if _, err := bot.DeleteMemberAgenda(ctx, deleteParams{MemberID: p.MemberID}); err != nil {
					return nil, err
				}
			}
			return next(ctx)
		}),
		breaks: []string{
			"NewAgendaReplacesItsTag", "NewAgendaKeepsOneReplacementOfMany", "UpdateAgendaReplaces",
			"NewAgendaRefusesBadInput",
		},
	},
	"the first one stays": {
		breaking: instead(func(ctx context.Context, bot *botctx.Context, p newParams, next botctx.Next) (any, error) {
			there, err := bot.UpdateAgenda(ctx, updateParams{MemberID: p.MemberID, Tag: p.Tag})
			if p.Replace && p.Tag != "" && err == nil && len(there.Docs) > 0 {
				return there.Docs[0], nil
			}
			return next(ctx)
		}),
		breaks: []string{
			"NewAgendaReplacesItsTag", "NewAgendaKeepsTheLastReplacement", "WhatIsDeletedOrReplacedDoesNotRun",
			"NewAgendaRefusesBadInput",
		},
	},
	"newAgenda replaces one at a time": {breaking: replacingOneAtATime, breaks: []string{"NewAgendaKeepsOneReplacementOfMany"}, only: true},
	"updateAgenda replaces nothing": {
		breaking: given(func(p *updateParams) { p.Replace = p.Replace && p.Tag == "" }),
		breaks:   []string{"UpdateAgendaReplaces"},
	},
	"updateAgenda replaces always": {
		breaking: given(func(p *updateParams) { p.Replace = p.Replace || p.Tag != "" }),
		breaks:   []string{"UpdateAgendaChangesTheTag", "UpdateAgendaTellsWhatItDid"},
	},
	"updateAgenda replaces all of the member": {
		breaking: instead(func(ctx context.Context, bot *botctx.Context, p updateParams, next botctx.Next) (any, error) {
			updated, err := next(ctx)
			if p.Replace && err == nil {
				_, err = bot.DeleteMemberAgenda(ctx, deleteParams{MemberID: p.MemberID, Tag: "another"})
			}
			return updated, err
		}),
		breaks: []string{"UpdateAgendaReplaces"},
	},
}

// replacingOneAtATime replaces until two replacements come at once, and nothing after
// that.
func replacingOneAtATime() botctx.Interceptor {
	together := newMeeting()
	return given(func(p *newParams) {
		if p.Replace && p.Tag != "" {
			together.join()
			p.Replace = false
		}
	})()
}

var brokenDeleteMemberAgenda = map[string]breakage{
	"nothing is deleted": {
		breaking: answers(func(*botctx.Call, deleteParams) deleteResult { return deleteResult{ClientMutationID: "mutation"} }),
		breaks: []string{
			"DeleteMemberAgendaRemovesTheTag", "DeleteMemberAgendaRemovesAll", "DeleteMemberAgendaAcknowledges",
			"DeleteMemberAgendaRefusesBadInput", "WhatIsDeletedOrReplacedDoesNotRun", "EndedContextIsCanceled",
			"PassedDeadlineIsCanceled",
		},
	},
	"deleteMemberAgenda gives one id": {
		breaking: gives(func(_ deleteParams, r *deleteResult) { r.ClientMutationID = "mutation" }),
		breaks:   []string{"DeleteMemberAgendaAcknowledges"},
	},
	"deleteMemberAgenda gives no id": {
		breaking: gives(func(_ deleteParams, r *deleteResult) { r.ClientMutationID = "" }),
		breaks:   []string{"DeleteMemberAgendaAcknowledges", "DeleteMemberAgendaAnswersAsDocumented"},
	},
	"deleteMemberAgenda ignores tag": {breaking: given(func(p *deleteParams) { p.Tag = "" }), breaks: []string{"DeleteMemberAgendaRemovesTheTag", "WhatIsDeletedOrReplacedDoesNotRun"}},
	"deleteMemberAgenda needs a tag": {
		breaking: given(func(p *deleteParams) {
			if p.MemberID != "" {
				p.Tag = orElse(p.Tag, "default")
			}
		}),
		breaks: []string{"DeleteMemberAgendaRemovesAll"},
	},
	"deleteMemberAgenda of the context's own member": {
		breaking: func() botctx.Interceptor {
			return func(ctx context.Context, call *botctx.Call, next botctx.Next) (any, error) {
				if p, ok := call.Params.(deleteParams); ok && p.MemberID != "" {
					p.MemberID = call.Context.Scope().Member
					call.Params = p
				}
				return next(ctx)
			}
		},
		breaks: []string{"DeleteMemberAgendaRemovesAll"},
	},
}

// brokenIDs are the defects of what a run that is tried again sends.
var brokenIDs = map[string]breakage{
	"what a run sends has no id":              {altering: idsOf(func(int, botctxtest.Sent) string { return "" }), breaks: againRule},
	"what a run sends has a new id each time": {altering: idsOf(func(i int, _ botctxtest.Sent) string { return strconv.Itoa(i) }), breaks: againRule},
	"all that a run sends has one id":         {altering: idsOf(func(int, botctxtest.Sent) string { return "run" }), breaks: againRule},
	"equal texts of a run have one id": {
		altering: idsOf(func(_ int, s botctxtest.Sent) string { return s.Response.Text() }), breaks: againRule,
	},
	"an id tells what is said": {
		altering: idsOf(func(i int, s botctxtest.Sent) string { return s.Response.Text() + strconv.FormatBool(i%3 == 2) }), breaks: againRule,
	},
}

// againRule is the rule about the ids of a run that is tried again.
var againRule = []string{"ARunThatIsTriedAgainSendsUnderTheSameIDs"}

// idsOf gives what has arrived other ids.
func idsOf(id func(i int, s botctxtest.Sent) string) func(*botctxtest.Harness) {
	return func(h *botctxtest.Harness) {
		arrived := h.Sent
		h.Sent = func() []botctxtest.Sent {
			all := arrived()
			for i := range all {
				all[i].ID = id(i, all[i])
			}
			return all
		}
	}
}
