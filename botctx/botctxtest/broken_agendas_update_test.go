package botctxtest_test

import (
	"context"
	"sync"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

var brokenUpdateAgenda = map[string]breakage{
	"updateAgenda changes nothing": {
		breaking: given(func(p *updateParams) {
			if p.MemberID != "" && !p.Replace {
				*p = updateParams{MemberID: p.MemberID, Tag: p.Tag}
			}
		}),
		breaks: []string{
			"NewAgendaKeepsMetaToTheLetter", "UpdateAgendaSetsWhatIsGiven", "UpdateAgendaChangesTheTag",
			"UpdateAgendaChangesAll", "UpdateAgendaTellsWhatItDid", "UpdateAgendaSchedulesAnew",
			"UpdateAgendaRefusesBadInput", "UpdateAgendaIsAllOrNone", "UpdateAgendaLosesNoField",
			"APatternRunsUntilItsEnd", "WhatIsDeletedOrReplacedDoesNotRun", "UpdateAgendaOfASingleRun",
			"NewAgendaReadsAPatternInTheZoneThatItNames",
		},
	},
	"updateAgenda finds nothing": {
		breaking: answers(func(*botctx.Call, updateParams) updateResult {
			return updateResult{DocsIDs: agenda.DocsIDs{Updated: []string{}}, Docs: []*agenda.Agenda{}}
		}),
		breaks: []string{"UpdateAgendaTellsWhatItDid"},
		others: true,
	},
	"updateAgenda counts all": {
		breaking: gives(func(_ updateParams, r *updateResult) { r.Modified = int64(len(r.Docs)) }),
		breaks:   []string{"UpdateAgendaTellsWhatItDid"},
	},
	"updateAgenda counts nothing": {
		breaking: gives(func(_ updateParams, r *updateResult) { r.Modified = 0 }),
		breaks:   []string{"UpdateAgendaTellsWhatItDid"},
	},
	"updateAgenda tells no ids": {
		breaking: gives(func(_ updateParams, r *updateResult) { r.DocsIDs.Updated = nil }),
		breaks: []string{
			"UpdateAgendaReplaces", "UpdateAgendaTellsWhatItDid", "UpdateAgendaOfNothing",
			"UpdateAgendaAnswersAsDocumented",
		},
	},
	"updateAgenda of nothing is null": {
		breaking: gives(func(_ updateParams, r *updateResult) {
			if len(r.Docs) == 0 {
				r.Docs = nil
			}
		}),
		breaks: []string{"UpdateAgendaOfNothing"},
	},
	"updateAgenda ignores tag": {
		breaking: given(func(p *updateParams) {
			if p.Tag != "" {
				p.Tag, p.Replace = "", false
			}
		}),
		breaks: []string{
			"NewAgendaKeepsOneReplacementOfMany", "UpdateAgendaReplaces", "UpdateAgendaChangesTheTag",
			"UpdateAgendaTellsWhatItDid", "UpdateAgendaOfNothing", "WhatIsDeletedOrReplacedDoesNotRun",
			"UpdateAgendaRefusesBadInput",
		},
	},
	"updateAgenda needs a tag": {
		breaking: given(func(p *updateParams) {
			if p.MemberID != "" && p.Priority != nil {
				p.Tag = orElse(p.Tag, "default")
			}
		}),
		breaks: []string{"UpdateAgendaChangesAll", "UpdateAgendaIsAllOrNone", "UpdateAgendaLosesNoField"},
	},
	"updateAgenda shows no records": {
		breaking: gives(func(p updateParams, r *updateResult) {
			if p.Priority != nil {
				r.Docs = []*agenda.Agenda{}
			}
		}),
		breaks: []string{
			"UpdateAgendaSetsWhatIsGiven", "UpdateAgendaChangesTheTag", "UpdateAgendaChangesAll",
			"UpdateAgendaTellsWhatItDid",
		},
	},
	"updateAgenda of the context's own member": {
		breaking: func() botctx.Interceptor {
			return func(ctx context.Context, call *botctx.Call, next botctx.Next) (any, error) {
				if p, ok := call.Params.(updateParams); ok && p.MemberID != "" {
					p.MemberID = call.Context.Scope().Member
					call.Params = p
				}
				return next(ctx)
			}
		},
		breaks: []string{"UpdateAgendaChangesAll", "UpdateAgendaOfNothing"},
	},
	"updateAgenda sets the default priority": {
		breaking: given(func(p *updateParams) {
			if p.Priority == nil && !p.Meta.IsZero() {
				p.Priority = new(int64(0))
			}
		}),
		breaks: []string{"UpdateAgendaSetsWhatIsGiven"},
		others: true, // UpdateAgendaLosesNoField, unless the update of the priority comes last.
	},
	"updateAgenda ignores priority 0": {
		breaking: given(func(p *updateParams) {
			if p.Priority != nil && *p.Priority == 0 {
				p.Priority = nil
			}
		}),
		breaks: []string{"UpdateAgendaSetsWhatIsGiven"},
	},
	"updateAgenda ignores an empty meta": {
		breaking: given(func(p *updateParams) {
			if p.Meta.Err() == nil && p.Meta.Len() == 0 {
				p.Meta = document.Object{}
			}
		}),
		breaks: []string{"UpdateAgendaSetsWhatIsGiven"},
	},
	"updateAgenda adds to meta": {
		breaking: given(func(p *updateParams) {
			if !p.Meta.IsZero() && p.Meta.Err() == nil {
				p.Meta = p.Meta.With("n", 1)
			}
		}),
		breaks: []string{
			"NewAgendaKeepsMetaToTheLetter", "UpdateAgendaSetsWhatIsGiven", "UpdateAgendaLosesNoField",
			"WhatIsDeletedOrReplacedDoesNotRun",
		},
	},
	"updateAgenda ignores treeId":          {breaking: given(func(p *updateParams) { p.TreeID = "" }), breaks: []string{"UpdateAgendaSetsWhatIsGiven", "UpdateAgendaLosesNoField"}},
	"updateAgenda ignores nodeCompositeId": {breaking: given(func(p *updateParams) { p.NodeCompositeID = "" }), breaks: []string{"UpdateAgendaReplaces", "UpdateAgendaSetsWhatIsGiven", "UpdateAgendaLosesNoField"}},
	"updateAgenda ignores nextRunAt": {breaking: given(func(p *updateParams) { p.NextRunAt = 0 }), breaks: []string{
		"UpdateAgendaSetsWhatIsGiven", "UpdateAgendaSchedulesAnew", "UpdateAgendaRefusesBadInput",
		"UpdateAgendaIsAllOrNone", "UpdateAgendaLosesNoField", "UpdateAgendaOfASingleRun",
	}},
	"updateAgenda wants a runUntil beside a pattern": {
		breaking: instead(func(ctx context.Context, _ *botctx.Context, p updateParams, next botctx.Next) (any, error) {
			if p.Pattern != "" && p.NextRunAt > 0 && p.RunUntil == 0 {
				return nil, boterr.Invalid("runUntil", "is missing")
			}
			return next(ctx)
		}),
		breaks: []string{"UpdateAgendaOfASingleRun", "UpdateAgendaSchedulesAnew"},
	},
	"a new pattern overrides nextRunAt": {
		breaking: given(func(p *updateParams) {
			if p.Pattern != "" {
				p.NextRunAt = 0
			}
		}),
		breaks: []string{
			"UpdateAgendaSchedulesAnew", "UpdateAgendaOfASingleRun", "UpdateAgendaRefusesBadInput",
		},
	},
	"a new pattern is ignored": {
		breaking: given(func(p *updateParams) { p.Pattern, p.RunUntil = "", 0 }),
		breaks: []string{
			"UpdateAgendaSchedulesAnew", "UpdateAgendaRefusesBadInput", "APatternRunsUntilItsEnd",
		},
	},
	"a new pattern has no end": {
		breaking: given(func(p *updateParams) {
			if p.Pattern != "" && p.RunUntil == 0 {
				p.RunUntil = 4_102_444_800_000
			}
		}),
		breaks: []string{"UpdateAgendaRefusesBadInput", "UpdateAgendaOfASingleRun"},
	},
	"a new nextRunAt moves the end": {
		breaking: instead(func(ctx context.Context, bot *botctx.Context, p updateParams, next botctx.Next) (any, error) {
			updated, err := next(ctx)
			if err != nil && p.NextRunAt > 0 && p.RunUntil == 0 {
				p.RunUntil = p.NextRunAt
				return bot.UpdateAgenda(ctx, p)
			}
			return updated, err
		}),
		breaks: []string{"UpdateAgendaRefusesBadInput", "UpdateAgendaIsAllOrNone"},
	},
	"updateAgenda revives what has run": {breaking: reviving, breaks: []string{"UpdateAgendaStaysInTheApp", "ACompletedAgendaStaysAsItIs"}},
	"updateAgenda excuses bad input":    {breaking: excusing[updateParams](updateResult{}), breaks: []string{"UpdateAgendaRefusesBadInput", "UpdateAgendaIsAllOrNone"}},
	"updateAgenda does half of it": {
		breaking: instead(func(ctx context.Context, bot *botctx.Context, p updateParams, next botctx.Next) (any, error) {
			updated, err := next(ctx)
			if err != nil && p.Priority != nil {
				_, half := bot.UpdateAgenda(ctx, updateParams{MemberID: p.MemberID, Priority: p.Priority})
				if half != nil {
					return nil, half
				}
			}
			return updated, err
		}),
		breaks: []string{"UpdateAgendaIsAllOrNone"},
	},
	"updateAgenda writes whole agendas": {breaking: writingWholeAgendas, breaks: []string{"UpdateAgendaLosesNoField"}, only: true},
}

// reviving makes the last agenda anew where an update that schedules finds none.
func reviving() botctx.Interceptor {
	var made sync.Map
	return func(ctx context.Context, call *botctx.Call, next botctx.Next) (any, error) {
		result, err := next(ctx)
		if p, ok := call.Params.(newParams); ok {
			made.Store(p.MemberID+" "+p.Tag, p)
		}
		p, isUpdate := call.Params.(updateParams)
		updated, _ := result.(updateResult)
		last, ok := made.Load(p.MemberID + " " + p.Tag)
		if !ok || !isUpdate || err != nil || len(updated.Docs) > 0 || p.NextRunAt == 0 {
			return result, err
		}
		again, _ := last.(newParams)
		again.NextRunAt = p.NextRunAt
		revived, err := call.Context.NewAgenda(ctx, again)
		return updateResult{Docs: []*agenda.Agenda{revived}, Modified: 1}, err
	}
}

// writingWholeAgendas sets all fields of an agenda, those that are not given to what they
// were when it was made.
func writingWholeAgendas() botctx.Interceptor {
	var mu sync.Mutex
	var made agenda.Agenda
	return func(ctx context.Context, call *botctx.Call, next botctx.Next) (any, error) {
		mu.Lock()
		defer mu.Unlock()
		if p, ok := call.Params.(updateParams); ok && p != (updateParams{MemberID: p.MemberID}) {
			p.NodeCompositeID = orElse(p.NodeCompositeID, made.NodeCompositeID)
			if p.Priority == nil {
				p.Priority = new(made.Priority)
			}
			if p.NextRunAt == 0 {
				p.NextRunAt = made.NextRunAt
			}
			call.Params = p
		}
		result, err := next(ctx)
		if a, ok := result.(*agenda.Agenda); ok && err == nil {
			made = *a
		}
		return result, err
	}
}
