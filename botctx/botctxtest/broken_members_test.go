package botctxtest_test

import (
	"context"
	"strings"
	"sync"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/botctx/botctxtest"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
)

// brokenMembers are the defects of operations on channels and members.
var brokenMembers = map[string]breakage{
	"every channel exists": {
		breaking: answers(func(call *botctx.Call, p channel.GetChannelParams) *channel.Reference {
			return &channel.Reference{ChannelID: p.ChannelID, AppID: call.Context.Scope().App}
		}),
		breaks: []string{
			"GetChannelFindsNoOthers", "GetChannelRefusesBadInput", "EndedContextIsCanceled",
			"PassedDeadlineIsCanceled", "CreateHotelChannelMakesAChannel",
		},
	},
	"a constant app": {
		breaking: gives(func(_ channel.GetChannelParams, r **channel.Reference) { (*r).AppID = "app" }),
		breaks:   []string{"GetChannelTellsTheApp"},
	},
	"unknown fields are dropped": {
		breaking: gives(func(_ member.GetMemberParams, m **member.Member) { (*m).Unknown = document.Object{} }),
		breaks:   []string{"MembersKeepUnknownFields"},
	},
	"tags are dropped": {
		breaking: gives(func(_ member.GetMemberParams, m **member.Member) { (*m).Tags = document.Array{} }),
		breaks: []string{
			"GetMemberReturnsTheRecord", "FindAndModifyMemberReturnsBeforeOrAfter", "PatchMembersReturnsTheFirst",
			"UpdateMemberTellsWhatItDid", "CheckAndSaveMemberReferFromKeepsIt", "CheckAndSaveMemberReferFromKeepsTheFirst",
			"GetMemberAnswersAsDocumented",
		},
	},
	"members are shared": {
		breaking: sharedMembers,
		breaks:   []string{"MembersAreTheCallersOwn"},
	},
	"getMember of the context's own": {
		breaking: func() botctx.Interceptor {
			return func(ctx context.Context, call *botctx.Call, next botctx.Next) (any, error) {
				if p, ok := call.Params.(member.GetMemberParams); ok && p.MemberID != "" {
					call.Params = member.GetMemberParams{MemberID: call.Context.Scope().Member}
				}
				return next(ctx)
			}
		},
		breaks: []string{"GetMemberReadsTheWholeApp", "GetMemberFindsNoOthers"},
	},
	"findAndModifyMember without modifiers by default": {
		breaking: given(func(p *member.FindAndModifyMemberParams) {
			if p.WithModifier == nil {
				p.WithModifier = new(false)
			}
		}),
		breaks: []string{
			"MembersKeepUnknownFields", "FindAndModifyMemberTakesModifiers", "FindAndModifyMemberReturnsBeforeOrAfter",
			"FindAndModifyMemberOfNothing", "FindAndModifyMemberReturnsByAnySpelling",
			"FindAndModifyMemberShowsTheProjection", "FindAndModifyMemberTakesOptionsOfDrivers",
			"FindAndModifyMemberRefusesOptions", "FindAndModifyMemberTakesTheFirst", "FindAndModifyMemberSearchesTheApp",
			"FindAndModifyMemberReplaces", "FindAndModifyMemberFiltersElements", "FindAndModifyMemberRefusesBadInput",
			"FindAndModifyMemberStampsChanges", "FindAndModifyMemberStaysInTheApp", "FindAndModifyMemberIsOneStep",
			"OperationsAreSafeForConcurrentUse", "FindAndModifyMemberAnswersAsDocumented",
		},
	},
	"findAndModifyMember with modifiers always": {
		breaking: given(func(p *member.FindAndModifyMemberParams) { p.WithModifier = nil }),
		breaks:   []string{"FindAndModifyMemberSetsFields", "FindAndModifyMemberRefusesBadInput"},
	},
	"findAndModifyMember returns the new member always": {
		breaking: given(func(p *member.FindAndModifyMemberParams) { p.Option.New = true }),
		breaks: []string{
			"FindAndModifyMemberReturnsBeforeOrAfter", "FindAndModifyMemberReturnsByAnySpelling", "FindAndModifyMemberShowsTheProjection",
		},
	},
	"findAndModifyMember returns the old member always": {
		breaking: given(func(p *member.FindAndModifyMemberParams) { p.Option.New = false }),
		breaks: []string{
			"FindAndModifyMemberReturnsBeforeOrAfter", "FindAndModifyMemberReturnsByAnySpelling", "FindAndModifyMemberRefusesOptions",
			"FindAndModifyMemberIsOneStep",
		},
	},
	"findAndModifyMember does not sort": {
		breaking: given(func(p *member.FindAndModifyMemberParams) { p.SortBy = document.Object{} }),
		breaks:   []string{"FindAndModifyMemberTakesTheFirst", "FindAndModifyMemberRefusesBadInput"},
	},
	"findAndModifyMember ignores upserts": {
		breaking: given(func(p *member.FindAndModifyMemberParams) { p.Option.Upsert = false }),
		breaks:   []string{"FindAndModifyMemberDoesNotUpsert"},
	},
	"findAndModifyMember ignores arrayFilters": {
		breaking: given(func(p *member.FindAndModifyMemberParams) {
			if len(p.Option.ArrayFilters) > 0 {
				p.Option.ArrayFilters = []document.Object{document.O(arrayFilterName(p.Option.ArrayFilters[0]), document.O("$exists", true))}
			}
		}),
		breaks: []string{"FindAndModifyMemberFiltersElements", "FindAndModifyMemberRefusesBadInput"},
	},
	"findAndModifyMember stays in the channel": {
		breaking: func() botctx.Interceptor {
			return func(ctx context.Context, call *botctx.Call, next botctx.Next) (any, error) {
				if p, ok := call.Params.(member.FindAndModifyMemberParams); ok && !p.Filter.IsZero() {
					own := document.O("channel", call.Context.Scope().Channel)
					p.Filter = document.O("$and", document.A(own, p.Filter))
					call.Params = p
				}
				return next(ctx)
			}
		},
		breaks: []string{"FindAndModifyMemberSearchesTheApp"},
	},
	"findAndModifyMember changes nothing": {
		breaking: given(func(p *member.FindAndModifyMemberParams) {
			if p.Patch.Len() > 0 {
				p.Patch = document.Set("_version", 1)
			}
		}),
		breaks: []string{
			"FindAndModifyMemberTakesModifiers", "FindAndModifyMemberSetsFields",
			"FindAndModifyMemberReturnsBeforeOrAfter", "FindAndModifyMemberSearchesTheApp",
			"FindAndModifyMemberReplaces", "FindAndModifyMemberFiltersElements", "FindAndModifyMemberReturnsByAnySpelling",
			"FindAndModifyMemberShowsTheProjection", "FindAndModifyMemberTakesOptionsOfDrivers",
			"FindAndModifyMemberRefusesBadInput", "FindAndModifyMemberStampsChanges",
			"FindAndModifyMemberMovesNobody", "FindAndModifyMemberIsOneStep",
		},
	},
	"findAndModifyMember in two steps": {breaking: findAndModifyInTwoSteps, breaks: []string{"FindAndModifyMemberIsOneStep"}, only: true},
	"findAndModifyMember finds somebody else": {
		breaking: instead(func(ctx context.Context, bot *botctx.Context, p member.FindAndModifyMemberParams, next botctx.Next) (any, error) {
			result, err := next(ctx)
			if found, ok := result.(member.FindAndModifyMemberResult); ok && err == nil && found.Member == nil {
				p.Filter = document.O()
				return bot.FindAndModifyMember(ctx, p)
			}
			return result, err
		}),
		breaks: []string{"FindAndModifyMemberOfNothing", "FindAndModifyMemberStaysInTheApp"},
	},
	"patchMembers with modifiers always": {
		breaking: given(func(p *member.PatchMembersParams) { p.WithModifier = true }),
		breaks: []string{
			"MembersKeepUnknownFields", "PatchMembersSetsFields", "PatchMembersChangesTheChannel",
			"PatchMembersTakesAChannel", "PatchMembersReturnsTheFirst", "PatchMembersStampsChanges",
			"PatchMembersStaysInTheApp",
		},
	},
	"patchMembers without modifiers always": {
		breaking: given(func(p *member.PatchMembersParams) { p.WithModifier = false }),
		breaks: []string{
			"PatchMembersTakesModifiers", "PatchMembersRefusesBadInput", "PatchMembersLosesNoChange",
			"OperationsAreSafeForConcurrentUse", "PatchMembersAnswersAsDocumented", "PatchMembersTakesTheContextsOwn",
			"PatchMembersTakesRecordsAsAddresses",
		},
	},
	"patchMembers ignores the filter": {
		breaking: given(func(p *member.PatchMembersParams) { p.Filter = document.Object{} }),
		breaks: []string{
			"PatchMembersChangesTheChannel", "PatchMembersTakesMemberAndFilter", "PatchMembersReturnsTheFirst",
			"PatchMembersRefusesBadInput",
		},
	},
	"patchMembers ignores memberId": {
		breaking: given(func(p *member.PatchMembersParams) { p.MemberID = "" }),
		breaks: []string{
			"PatchMembersTakesModifiers", "PatchMembersTakesMemberAndFilter", "PatchMembersStampsChanges",
			"PatchMembersStaysInTheApp",
		},
	},
	"patchMembers ignores channel": {
		breaking: given(func(p *member.PatchMembersParams) { p.Channel = nil }),
		breaks: []string{
			"PatchMembersTakesAChannel", "PatchMembersFindsNoOthers", "PatchMembersRefusesBadInput",
		},
	},
	"patchMembers excuses bad input": {
		breaking: excusing[member.PatchMembersParams](member.PatchMembersResult{}),
		breaks:   []string{"PatchMembersMovesNobody", "PatchMembersRefusesBadInput", "PatchMembersIsAllOrNone"},
	},
	"patchMembers returns nobody": {
		breaking: gives(func(_ member.PatchMembersParams, r *member.PatchMembersResult) { r.Result = nil }),
		breaks: []string{
			"PatchMembersTakesAChannel", "PatchMembersTakesMemberAndFilter", "PatchMembersReturnsTheFirst",
			"PatchMembersAnswersAsDocumented",
		},
	},
	"patchMembers changes the first alone": {
		breaking: instead(func(ctx context.Context, bot *botctx.Context, p member.PatchMembersParams, next botctx.Next) (any, error) {
			found, err := bot.FindAndModifyMember(ctx, member.FindAndModifyMemberParams{
				Filter: document.O("$and", document.A(document.O("channel", bot.Scope().Channel), present(p.Filter))),
				Patch:  document.Set("_version", 1),
			})
			if err == nil && found.Member != nil && p.MemberID == "" && p.Channel == nil {
				p.MemberID = found.Member.ID
				return bot.PatchMembers(ctx, p)
			}
			return next(ctx)
		}),
		breaks: []string{
			"PatchMembersChangesTheChannel", "PatchMembersReturnsTheFirst", "PatchMembersIsAllOrNone",
			"PatchMembersRefusesBadInput", "PatchMembersLosesNoChange",
		},
	},
	"updateMember changes nothing": {
		breaking: given(func(p *member.UpdateMemberParams) {
			if id, ok := p.Member.Field("_id"); ok && p.Member.Err() == nil {
				p.Member = document.O("_id", id)
			}
		}),
		breaks: append(rulesAboutStrangers(),
			"UpdateMemberSetsTheGivenFields", "UpdateMemberTellsWhatItDid", "UpdateMemberTakesWhatWasRead",
			"UpdateMemberAndStaleEtags", "UpdateMemberRefusesBadInput", "UpdateMemberStampsChanges",
			"MembersTellWhenTheyChanged", "UpdateMemberLosesNoField",
		),
	},
	"updateMember counts 1 always": {
		breaking: gives(func(_ member.UpdateMemberParams, r *member.UpdateMemberResult) { r.Modified = 1 }),
		breaks:   []string{"UpdateMemberTellsWhatItDid"},
	},
	"updateMember tells no ids": {
		breaking: gives(func(_ member.UpdateMemberParams, r *member.UpdateMemberResult) { r.DocsIDs.Updated = nil }),
		breaks:   []string{"UpdateMemberTellsWhatItDid", "UpdateMemberAnswersAsDocumented"},
	},
	"updateMember ignores what is empty": {
		breaking: given(func(p *member.UpdateMemberParams) {
			for field, value := range p.Member.All() {
				if value == "" {
					p.Member = p.Member.Without(field)
				}
			}
		}),
		breaks: append(rulesAboutStrangers(), "UpdateMemberSetsTheGivenFields"),
	},
	"updateMember makes up members": {
		breaking: instead(func(ctx context.Context, bot *botctx.Context, p member.UpdateMemberParams, next botctx.Next) (any, error) {
			result, err := next(ctx)
			if err != nil && document.Get(p.Member, "_id", "") != "" {
				return bot.UpdateMember(ctx, member.UpdateMemberParams{Member: p.Member.With("_id", bot.Scope().Member)})
			}
			return result, err
		}),
		breaks: []string{"UpdateMemberFindsNoOthers"},
	},
	"the last referFrom wins": {
		breaking: instead(func(
			ctx context.Context, bot *botctx.Context, p member.CheckAndSaveMemberReferFromParams, next botctx.Next,
		) (any, error) {
			saved, err := next(ctx)
			if err != nil {
				return saved, err
			}
			found, err := bot.FindAndModifyMember(ctx, member.FindAndModifyMemberParams{
				Filter: document.O("_id", p.MemberID), Patch: document.Set("meta.referFrom", p.ReferFrom),
				Option: member.FindAndModifyOption{New: true},
			})
			return found.Member, err
		}),
		breaks: []string{"CheckAndSaveMemberReferFromKeepsTheFirst", "CheckAndSaveMemberReferFromKeepsOneOfMany"},
	},
	"no referFrom is kept": {
		breaking: instead(func(
			ctx context.Context, bot *botctx.Context, p member.CheckAndSaveMemberReferFromParams, _ botctx.Next,
		) (any, error) {
			return bot.GetMember(ctx, member.GetMemberParams{MemberID: p.MemberID})
		}),
		breaks: []string{
			"CheckAndSaveMemberReferFromKeepsIt", "CheckAndSaveMemberReferFromKeepsTheFirst", "CheckAndSaveMemberReferFromRefusesBadInput", "CheckAndSaveMemberReferFromKeepsOneOfMany",
		},
	},
}

// arrayFilterName returns the name that a filter of elements is about.
func arrayFilterName(filter document.Object) string { return filter.Keys()[0] }

// present returns a filter that is there.
func present(filter document.Object) document.Object {
	if filter.IsZero() {
		return document.O()
	}
	return filter
}

// sharedMembers gives the same member to all who read the same version of it.
func sharedMembers() botctx.Interceptor {
	var mu sync.Mutex
	kept := map[string]*member.Member{}
	return func(ctx context.Context, call *botctx.Call, next botctx.Next) (any, error) {
		answer, err := next(ctx)
		m, ok := answer.(*member.Member)
		if !ok || err != nil || call.Op != botctx.OpGetMember {
			return answer, err
		}
		mu.Lock()
		defer mu.Unlock()
		if old := kept[m.ID]; old != nil && old.Etag == m.Etag {
			return old, nil
		}
		kept[m.ID] = m
		return m, nil
	}
}

// findAndModifyInTwoSteps reads a member first and writes it then.
func findAndModifyInTwoSteps() botctx.Interceptor {
	together := newMeeting()
	return func(ctx context.Context, call *botctx.Call, next botctx.Next) (any, error) {
		p, ok := call.Params.(member.FindAndModifyMemberParams)
		if !ok {
			return next(ctx)
		}
		before, err := call.Context.GetMember(ctx, member.GetMemberParams{MemberID: document.Get(p.Filter, "_id", "")})
		if err != nil {
			return nil, err
		}
		together.join()
		p.Patch = document.Set("meta.n", document.Get(before.Meta, "n", 0)+1)
		call.Params = p
		return next(ctx)
	}
}

// rulesAboutStrangers are those for which updateMember takes an external id away.
func rulesAboutStrangers() []string {
	var names []string
	for _, rule := range botctxtest.Rules() {
		if strings.HasSuffix(rule.Name, "NeedsAnExternalID") {
			names = append(names, rule.Name)
		}
	}
	return names
}
