package botctxtest_test

import (
	"context"
	"sync/atomic"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/botctx/botctxtest"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
)

// brokenAssignments are the defects of operations on assignments.
var brokenAssignments = []map[string]breakage{
	brokenCreateAssignment, brokenRouting, brokenTakes, brokenNewTargets, brokenReassign, brokenAssignmentReads, brokenAssignmentUpdates, brokenEnds,
}

// Short for the tables below.
type (
	createParams = livechat.CreateAssignmentParams
	createResult = livechat.CreateAssignmentResult
)

// brokenCreateAssignment are the defects of createAssignment.
var brokenCreateAssignment = map[string]breakage{
	"createAssignment does nothing": {
		breaking: instead(func(ctx context.Context, bot *botctx.Context, p createParams, next botctx.Next) (any, error) {
			if p.Member != nil || len(p.Targets) > 0 {
				return next(ctx)
			}
			m, err := bot.GetMember(ctx, member.GetMemberParams{MemberID: bot.Scope().Member})
			if err != nil {
				return createResult{}, err
			}
			m.BotMeta.Set("liveChat", true)
			return createResult{Member: m, AssignmentID: "assignment"}, nil
		}),
		breaks: []string{"CreateAssignmentPutsTheMemberInLiveChat", "CreateAssignmentKeepsTheRequest"},
		others: true,
	},
	"createAssignment gives one id": {
		breaking: gives(func(_ createParams, r *createResult) { r.AssignmentID = "assignment" }),
		breaks:   []string{"CreateAssignmentKeepsTheRequest", "CreateAssignmentAgainGivesTheOpenOne"},
		others:   true,
	},
	"createAssignment leaves the member where it was": {
		breaking: gives(func(_ createParams, r *createResult) { r.Member.BotMeta.Set("liveChat", false) }),
		breaks:   []string{"CreateAssignmentPutsTheMemberInLiveChat", "CreateAssignmentTakesMembersAsAddresses"},
	},
	"createAssignment is for the context's own member": {
		breaking: given(func(p *createParams) { p.Member = nil }),
		breaks: []string{
			"CreateAssignmentTakesMembersAsAddresses", "CreateAssignmentFindsNoOthers", "CreateAssignmentRefusesBadInput",
			"CreateAssignmentSendsTickets", "CreateAssignmentRemembersTheGroup", "TheConversationIsNamedAndSummedUp",
			"CreateAssignmentTakesRecordsAsAddresses",
		},
	},
	"createAssignment is for sales by default": {
		breaking: given(func(p *createParams) {
			if p.Label == "" && len(p.Targets) == 0 {
				p.Label = "sales"
			}
		}),
		breaks: []string{"CreateAssignmentIsForTheLabel", "CreateAssignmentKeepsTheRequest"},
		others: true,
	},
	"createAssignment ignores label": {
		breaking: given(func(p *createParams) { p.Label = "" }),
		breaks: []string{
			"CreateAssignmentIsForTheLabel", "CreateAssignmentNeedsWhoTakesIt", "CreateAssignmentGoesToAllPairedOutlets",
		},
	},
	"createAssignment adds the history always": {
		breaking: given(func(p *createParams) { p.History = true }),
		breaks:   []string{"CreateAssignmentIsWithoutHistoryByDefault"},
		others:   true,
	},
	"createAssignment ignores history": {
		breaking: given(func(p *createParams) { p.History = false }),
		breaks:   []string{"CreateAssignmentAddsTheHistory"},
	},
	"createAssignment watches no idle time by default": {
		breaking: given(func(p *createParams) {
			if p.SetLiveChatAgenda == nil {
				p.SetLiveChatAgenda = new(false)
			}
		}),
		breaks: []string{"CreateAssignmentWatchesIdleTimeByDefault", "CreateAssignmentEndsWhenIdle"},
	},
	"createAssignment watches idle time always": {
		breaking: given(func(p *createParams) { p.SetLiveChatAgenda = nil }),
		breaks:   []string{"CreateAssignmentWatchesIdleTimeByDefault", "CreateAssignmentEndsWhenIdle"},
	},
	"createAssignment forgets the group": {
		breaking: gives(func(_ livechat.GetAssignmentParams, r **livechat.Assignment) { (*r).InletGroupInfo = document.Object{} }),
		breaks:   []string{"CreateAssignmentRemembersTheGroup"},
	},
	"createAssignment has a meta": {
		breaking: given(func(p *createParams) {
			if p.Meta.IsZero() {
				p.Meta = document.O("source", "bot")
			}
		}),
		breaks: []string{"CreateAssignmentMetaIsEmptyByDefault"},
	},
	"createAssignment ignores meta": {
		breaking: given(func(p *createParams) { p.Meta = document.Object{} }),
		breaks: []string{
			"CreateAssignmentMetaIsEmptyByDefault", "CreateAssignmentKeepsTheRequest", "CreateAssignmentRefusesBadInput",
			"CreateAssignmentAsksALiveChatAPI",
		},
	},
	"createAssignment ignores the relay message": {
		breaking: given(func(p *createParams) { p.AssignmentDetails.RelayMessage = nil }),
		breaks: []string{
			"CreateAssignmentKeepsTheRequest", "CreateAssignmentSendsTickets", "CreateAssignmentRefusesBadInput",
		},
	},
	"createAssignment makes a new one each time": {
		breaking: instead(func(ctx context.Context, bot *botctx.Context, _ createParams, next botctx.Next) (any, error) {
			_, _ = bot.InletEndLiveChat(ctx, livechat.InletEndLiveChatParams{})
			return next(ctx)
		}),
		breaks: []string{
			"CreateAssignmentAgainGivesTheOpenOne", "CreateAssignmentMakesOneOfManyAtOnce",
			"CreateAssignmentAsksALiveChatAPI",
		},
		others: true,
	},
	"createAssignment sends the ticket again": {
		altering: func(h *botctxtest.Harness) {
			sent := h.Sent
			h.Sent = func() []botctxtest.Sent { return append(sent(), sent()...) }
		},
		breaks: []string{"CreateAssignmentSendsTickets", "CreateAssignmentMakesOneOfManyAtOnce", "CreateAssignmentGoesToAllPairedOutlets"},
		others: true,
	},
	"createAssignment excuses bad input": {
		breaking: excusing[createParams](createResult{}),
		breaks:   []string{"CreateAssignmentRefusesBadInput", "CreateAssignmentTakesAnyDetailsForCustom"},
	},
	"createAssignment waits for somebody to be there": {
		breaking: excusingAt[createParams](boterr.FailedPrecondition, createResult{}),
		breaks:   []string{"CreateAssignmentNeedsWhoTakesIt", "CreateAssignmentPassesOverWhatIsOff"},
	},
	"assignments are shared": {
		breaking: sharedAssignments,
		breaks:   []string{"CreateAssignmentTakesACopy"},
		others:   true,
	},
}

// sharedAssignments gives the same record to all who read an assignment.
func sharedAssignments() botctx.Interceptor {
	var kept atomic.Pointer[livechat.Assignment]
	return func(ctx context.Context, _ *botctx.Call, next botctx.Next) (any, error) {
		answer, err := next(ctx)
		found, ok := answer.(*livechat.Assignment)
		if !ok || err != nil {
			return answer, err
		}
		if before := kept.Load(); before != nil && before.ID == found.ID {
			return before, nil
		}
		kept.Store(found)
		return found, nil
	}
}

// brokenRouting are the defects of where requests go.
var brokenRouting = map[string]breakage{
	"the last outlet comes first": {
		altering: func(h *botctxtest.Harness) {
			pair := h.Pair
			h.Pair = func(inlet *channel.Channel, outlets ...*channel.Channel) {
				backwards := make([]*channel.Channel, 0, len(outlets))
				for i := range outlets {
					backwards = append(backwards, outlets[len(outlets)-1-i])
				}
				pair(inlet, backwards...)
			}
		},
		breaks: []string{"CreateAssignmentGoesToAllPairedOutlets", "CreateAssignmentGoesToCustomAlone"},
	},
	"one outlet is asked": {
		altering: func(h *botctxtest.Harness) {
			pair := h.Pair
			h.Pair = func(inlet *channel.Channel, outlets ...*channel.Channel) { pair(inlet, outlets[0]) }
		},
		breaks: []string{
			"CreateAssignmentGoesToAllPairedOutlets", "CreateAssignmentGoesToCustomAlone", "CreateAssignmentGoesToFoxtrotAlone",
			"CreateAssignmentPassesOverWhatIsOff",
		},
	},
	"channels are on always": {
		altering: func(h *botctxtest.Harness) { h.SwitchOff = func(*channel.Channel) {} },
		breaks:   []string{"CreateAssignmentPassesOverWhatIsOff"},
	},
	"targets are ignored": {
		breaking: given(func(p *createParams) { p.Targets = nil }),
		breaks: []string{
			"CreateAssignmentGoesToItsTargets", "CreateAssignmentGoesToCustomAlone", "CreateAssignmentFindsNoOthers",
			"CreateAssignmentRefusesBadInput", "CreateAssignmentNeedsWhoTakesIt", "CreateAssignmentTakesACopy",
			"CreateAssignmentPassesOverWhatIsOff", "CreateAssignmentTakesAnyDetailsForCustom",
		},
	},
	"targets have the label of the request": {
		breaking: given(func(p *createParams) {
			for i := range p.Targets {
				if p.Targets[i].Label == "" {
					p.Targets[i].Label = p.Label
				}
			}
		}),
		breaks: []string{"CreateAssignmentGoesToItsTargets"},
	},
	"Foxtrot has no groups": {
		altering: alteringChannels(channel.Foxtrot, func(c *channel.Channel) { c.BroadcastGroups = nil }),
		breaks:   []string{"CreateAssignmentGoesToFoxtrotAlone"},
	},
	"Foxtrot has tickets": {
		altering: alteringChannels(channel.Foxtrot, func(c *channel.Channel) { c.Type = channel.Delta }),
		breaks:   []string{"CreateAssignmentGoesToFoxtrotAlone"},
	},
	"custom channels have tickets": {
		altering: alteringChannels(channel.Custom, func(c *channel.Channel) { c.Type = channel.Delta }),
		breaks: []string{
			"CreateAssignmentGoesToCustomAlone", "CreateAssignmentAsksALiveChatAPI", "CreateAssignmentMakesNoGroupByDefault",
			"CreateAssignmentTakesAnyDetailsForCustom",
		},
	},
	"a live-chat API is asked twice": {
		altering: func(h *botctxtest.Harness) {
			asked := h.Asked
			h.Asked = func() []botctxtest.Asked { return append(asked(), asked()...) }
		},
		breaks: []string{
			"CreateAssignmentAsksALiveChatAPI", "CreateAssignmentGoesToCustomAlone",
			"CreateAssignmentMakesNoGroupByDefault",
		},
	},
	"a live-chat API makes a group always": {
		breaking: given(func(p *createParams) {
			if p.CreateGroup == nil {
				p.CreateGroup = &livechat.CreateGroup{}
			}
		}),
		breaks: []string{"CreateAssignmentMakesNoGroupByDefault"},
	},
	"a live-chat API is never asked": {
		breaking: given(func(p *createParams) { p.CreateGroup = nil }),
		breaks:   []string{"CreateAssignmentAsksALiveChatAPI"},
	},
	"a live-chat API is not told what is unknown": {
		breaking: given(func(p *createParams) { p.AssignmentDetails.Unknown = document.Object{} }),
		breaks:   []string{"CreateAssignmentAsksALiveChatAPI", "CreateAssignmentTakesAnyDetailsForCustom"},
	},
}

// alteringChannels makes a harness store channels of a type otherwise than it is told.
func alteringChannels(platform channel.Type, alter func(*channel.Channel)) func(*botctxtest.Harness) {
	return func(h *botctxtest.Harness) {
		add := h.AddChannel
		h.AddChannel = func(c channel.Channel) *channel.Channel {
			if c.Type == platform {
				alter(&c)
			}
			return add(c)
		}
	}
}

// brokenTakes are the defects of what happens where an agent takes a ticket.
var brokenTakes = map[string]breakage{
	"nobody gets a ticket": {
		altering: taking(func(func() error) error { return nil }),
		breaks:   []string{"ATakenAssignmentTellsWhoHasIt", "OneOfFiftyAgentsTakesATicket", "AnAgentTakesOnlyWhatIsOpenThere"},
		others:   true,
	},
	"everybody gets a ticket": {
		altering: taking(func(take func() error) error {
			_ = take()
			return nil
		}),
		breaks: []string{"OneOfFiftyAgentsTakesATicket", "AnAgentTakesOnlyWhatIsOpenThere"},
	},
	"a summary is not sent": {
		breaking: given(func(p *createParams) { p.AssignmentDetails.Summary = "" }),
		breaks:   []string{"TheConversationIsNamedAndSummedUp"},
	},
	"a summary is sent always": {
		breaking: given(func(p *createParams) { p.AssignmentDetails.Summary += "." }),
		breaks:   []string{"TheConversationIsNamedAndSummedUp"},
		others:   true,
	},
	"conversations have one name": {
		breaking: given(func(p *createParams) { p.AssignmentDetails.GroupName = "Live chat" }),
		breaks:   []string{"TheConversationIsNamedAndSummedUp"},
	},
	"agents have no admin record": {
		altering: func(h *botctxtest.Harness) {
			agent := h.Agent
			h.Agent = func(outlet *channel.Channel) *botctxtest.Agent {
				a := agent(outlet)
				a.AdminID = "admin"
				return a
			}
		},
		breaks: []string{"ATakenAssignmentTellsWhoHasIt"},
	},
}

// taking makes agents take tickets in another way.
func taking(try func(take func() error) error) func(*botctxtest.Harness) {
	return func(h *botctxtest.Harness) {
		agent := h.Agent
		h.Agent = func(outlet *channel.Channel) *botctxtest.Agent {
			a := agent(outlet)
			take := a.Take
			a.Take = func(id string) error { return try(func() error { return take(id) }) }
			return a
		}
	}
}
