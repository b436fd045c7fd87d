package botctxtest_test

import (
	"context"
	"sync"

	"github.com/google/uuid"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
)

// Short for the tables below.
type (
	addParams      = livechat.AddNewTargetsToAssignmentParams
	addResult      = livechat.AddNewTargetsToAssignmentResult
	reassignParams = livechat.ReassignAssignmentParams
	reassignResult = livechat.ReassignAssignmentResult
	setMetaParams  = livechat.UpdateAssignmentMetaParams
	setGroupParams = livechat.UpdateAssignmentGroupParams
	setResult      = livechat.UpdateAssignmentResult
)

// brokenNewTargets are the defects of addNewTargetsToAssignment.
var brokenNewTargets = map[string]breakage{
	"addNewTargetsToAssignment adds nothing": {
		breaking: given(func(p *addParams) {
			if len(p.Targets) > 0 {
				p.Targets = []livechat.NewTarget{{Channel: "none"}}
			}
		}),
		breaks: []string{"AddNewTargetsToAssignmentSendsFurtherTickets", "AddNewTargetsToAssignmentCanBeTakenThere"},
		others: true,
	},
	"addNewTargetsToAssignment adds the first alone": {
		breaking: given(func(p *addParams) {
			if len(p.Targets) > 1 {
				p.Targets = p.Targets[:1]
			}
		}),
		breaks: []string{
			"AddNewTargetsToAssignmentFindsNoOthers", "AddNewTargetsToAssignmentRefusesBadInput", "AddNewTargetsToAssignmentNeedsAPendingRequest",
		},
	},
	"addNewTargetsToAssignment gives one id": {
		breaking: gives(func(_ addParams, r *addResult) { r.AssignmentID = "assignment" }),
		breaks: []string{
			"AddNewTargetsToAssignmentSendsFurtherTickets", "AddNewTargetsToAssignmentTakesEveryForm", "AddNewTargetsToAssignmentPutsTheMemberInLiveChat",
			"AddNewTargetsToAssignmentCanBeTakenThere",
		},
	},
	"addNewTargetsToAssignment gives an old member": {
		breaking: gives(func(_ addParams, r *addResult) { r.Member.Version = 1 }),
		breaks:   []string{"AddNewTargetsToAssignmentSendsFurtherTickets"},
	},
	"addNewTargetsToAssignment ends live chat by default": {
		breaking: given(func(p *addParams) {
			if p.LiveChat == nil {
				p.LiveChat = new(false)
			}
		}),
		breaks: []string{"AddNewTargetsToAssignmentPutsTheMemberInLiveChat"},
	},
	"addNewTargetsToAssignment ignores liveChat": {
		breaking: given(func(p *addParams) { p.LiveChat = nil }),
		breaks:   []string{"AddNewTargetsToAssignmentPutsTheMemberInLiveChat"},
	},
	"addNewTargetsToAssignment ignores labels": {
		breaking: given(func(p *addParams) {
			for i := range p.Targets {
				p.Targets[i].Label = ""
			}
		}),
		breaks: []string{"AddNewTargetsToAssignmentTakesEveryForm", "AddNewTargetsToAssignmentNeedsAPendingRequest"},
	},
	"addNewTargetsToAssignment adds one of many": {
		breaking: func() botctx.Interceptor {
			var adding sync.Mutex // So that of several at once the second sees what the first has added.
			return instead(func(ctx context.Context, bot *botctx.Context, p addParams, next botctx.Next) (any, error) {
				adding.Lock()
				defer adding.Unlock()
				found, err := bot.GetAssignment(ctx, livechat.GetAssignmentParams{AssignmentID: p.AssignmentID})
				if err == nil && len(found.Targets) > 1 {
					return addResult{}, boterr.New(boterr.Conflict, "", "was done")
				}
				return next(ctx)
			})()
		},
		breaks: []string{
			"AddNewTargetsToAssignmentSendsFurtherTickets", "AddNewTargetsToAssignmentSendsOneOfManyAtOnce", "AddNewTargetsToAssignmentPutsTheMemberInLiveChat",
			"AddNewTargetsToAssignmentRefusesBadInput",
		},
	},
	"addNewTargetsToAssignment excuses what was taken": {
		breaking: excusingAt[addParams](boterr.FailedPrecondition, addResult{}),
		breaks:   []string{"AddNewTargetsToAssignmentNeedsAPendingRequest"},
	},
}

// brokenReassign are the defects of reassignAssignment.
var brokenReassign = map[string]breakage{
	"reassignAssignment does nothing": {
		breaking: instead(func(ctx context.Context, bot *botctx.Context, p reassignParams, next botctx.Next) (any, error) {
			if p.PreviousAssignment != nil {
				return next(ctx)
			}
			found, err := bot.GetAssignmentByOutlet(ctx, livechat.GetAssignmentByOutletParams{ChannelID: p.Channel.ID})
			if err != nil {
				return reassignResult{}, err
			}
			return reassignResult{AssignmentID: found.ID}, nil
		}),
		breaks: []string{"ReassignAssignmentEndsOneAndBeginsAnother", "ReassignAssignmentAgainGivesTheNewOne", "ReassignAssignmentFindsThePrevious"},
		others: true,
	},
	"reassignAssignment gives another id each time": {
		breaking: gives(func(_ reassignParams, r *reassignResult) { r.AssignmentID = uuid.NewString() }),
		breaks:   []string{"ReassignAssignmentMakesOneOfManyAtOnce", "ReassignAssignmentEndsOneAndBeginsAnother"},
		others:   true,
	},
	"reassignAssignment gives one id": {
		breaking: gives(func(_ reassignParams, r *reassignResult) { r.AssignmentID = "assignment" }),
		breaks:   []string{"ReassignAssignmentEndsOneAndBeginsAnother", "ReassignAssignmentMakesOneOfManyAtOnce"},
		others:   true,
	},
	"reassignAssignment ignores label": {
		breaking: given(func(p *reassignParams) {
			if p.Label != "" {
				p.Label = "default"
			}
		}),
		breaks: []string{
			"ReassignAssignmentEndsOneAndBeginsAnother", "ReassignAssignmentNeedsWhatCanBeHandedOn", "ReassignAssignmentMakesOneOfManyAtOnce",
			"ReassignAssignmentTakesOverWhatIsNotGiven", "ReassignAssignmentSetsWhatIsGiven",
		},
	},
	"reassignAssignment ends live chat by default": {
		breaking: given(func(p *reassignParams) {
			if p.LiveChat == nil {
				p.LiveChat = new(false)
			}
		}),
		breaks: []string{"ReassignAssignmentPutsTheMemberInLiveChat", "ReassignAssignmentEndsOneAndBeginsAnother"},
		others: true,
	},
	"reassignAssignment ignores liveChat": {
		breaking: given(func(p *reassignParams) { p.LiveChat = nil }),
		breaks:   []string{"ReassignAssignmentPutsTheMemberInLiveChat"},
	},
	"reassignAssignment is to an inlet group always": {
		breaking: given(func(p *reassignParams) { p.InletGroup = true }),
		breaks:   []string{"ReassignAssignmentIsToNoInletGroupByDefault"},
		others:   true,
	},
	"reassignAssignment ignores inletGroup": {
		breaking: given(func(p *reassignParams) { p.InletGroup = false }),
		breaks:   []string{"ReassignAssignmentIsToNoInletGroupByDefault"},
	},
	"reassignAssignment ignores targets": {
		breaking: given(func(p *reassignParams) {
			if len(p.Targets) > 0 {
				p.Targets, p.Label = nil, "sales"
			}
		}),
		breaks: []string{
			"ReassignAssignmentGoesToItsTargets", "ReassignAssignmentFindsNoOthers", "ReassignAssignmentRefusesBadInput", "ReassignAssignmentNeedsWhatCanBeHandedOn",
			"ReassignAssignmentShowsTheTakenMessage",
		},
	},
	"reassignAssignment ignores previousAssignment": {
		breaking: given(func(p *reassignParams) {
			if p.MessageEvent != nil {
				p.PreviousAssignment = nil
			}
		}),
		breaks: []string{"ReassignAssignmentRefusesBadInput"},
	},
	"reassignAssignment believes previousAssignment": {
		breaking: given(func(p *reassignParams) {
			if p.PreviousAssignment != nil && p.Meta.IsZero() {
				p.Meta = p.PreviousAssignment.Meta
			}
		}),
		breaks: []string{"ReassignAssignmentFindsThePrevious"},
	},
	"reassignAssignment ignores what it is given": {
		breaking: given(func(p *reassignParams) { p.GroupName, p.Summary, p.RelayMessage = "", "", "" }),
		breaks:   []string{"ReassignAssignmentSetsWhatIsGiven", "ReassignAssignmentRefusesBadInput"},
	},
	"reassignAssignment has a summary of its own": {
		breaking: given(func(p *reassignParams) {
			if p.Summary == "" {
				p.Summary = "Handed on"
			}
		}),
		breaks: []string{"ReassignAssignmentTakesOverWhatIsNotGiven"},
		others: true,
	},
	"reassignAssignment ignores meta": {
		breaking: given(func(p *reassignParams) { p.Meta = document.Object{} }),
		breaks:   []string{"ReassignAssignmentSetsWhatIsGiven", "ReassignAssignmentRefusesBadInput"},
	},
	"reassignAssignment ignores takenMessage": {
		breaking: given(func(p *reassignParams) { p.TakenMessage = "" }),
		breaks:   []string{"ReassignAssignmentShowsTheTakenMessage"},
	},
	"reassignAssignment excuses what has ended": {
		breaking: excusingAt[reassignParams](boterr.FailedPrecondition, reassignResult{}),
		breaks:   []string{"ReassignAssignmentNeedsWhatCanBeHandedOn", "ReassignAssignmentAgainGivesTheNewOne", "ReassignAssignmentIsToNoInletGroupByDefault"},
	},
}

// brokenAssignmentUpdates are the defects of updates of assignments.
var brokenAssignmentUpdates = map[string]breakage{
	"updateAssignmentGroup changes nothing": {
		breaking: instead(func(ctx context.Context, bot *botctx.Context, p setGroupParams, next botctx.Next) (any, error) {
			if p.Group == nil || p.AssignmentID == "" {
				return next(ctx)
			}
			return bot.UpdateAssignmentMeta(ctx, setMetaParams{AssignmentID: p.AssignmentID, Meta: document.O()})
		}),
		breaks: []string{
			"UpdateAssignmentGroupSetsTheGroup", "UpdateAssignmentGroupSetsTheBravoGroup", "UpdateAssignmentGroupFindsNoOthers",
			"UpdateAssignmentGroupRefusesBadInput", "UpdateAssignmentGroupConnectsBothSides",
		},
		others: true,
	},
	"updateAssignmentGroup changes one always": {
		breaking: gives(func(_ setGroupParams, r *setResult) { r.Modified = 1 }),
		breaks:   []string{"UpdateAssignmentGroupSetsTheGroup"},
	},
	"updateAssignmentGroup gives one id": {
		breaking: gives(func(_ setGroupParams, r *setResult) { r.DocsIDs.Updated = []string{"assignment"} }),
		breaks:   []string{"UpdateAssignmentGroupSetsTheGroup"},
	},
	"updateAssignmentGroup ignores bravoGroupId": {
		breaking: given(func(p *setGroupParams) { p.BravoGroupID = "" }),
		breaks:   []string{"UpdateAssignmentGroupSetsTheBravoGroup", "UpdateAssignmentGroupConnectsBothSides"},
	},
	"updateAssignmentGroup needs bravoGroupId": {
		breaking: given(func(p *setGroupParams) {
			if p.BravoGroupID == "" {
				p.BravoGroupID = "none"
			}
		}),
		breaks: []string{"UpdateAssignmentGroupSetsTheBravoGroup", "UpdateAssignmentGroupRefusesBadInput"},
	},
	"updateAssignmentMeta changes nothing": {
		breaking: given(func(p *setMetaParams) {
			if p.Meta.Err() == nil && !p.Meta.IsZero() {
				p.Meta = document.O()
			}
		}),
		breaks: []string{
			"UpdateAssignmentMetaSetsTheGivenFields", "UpdateAssignmentMetaTellsWhatItDid", "AssignmentsTellWhenTheyChanged",
			"UpdateAssignmentMetaRefusesBadInput", "UpdateAssignmentMetaLosesNoField",
		},
	},
	"updateAssignmentMeta writes each time": {
		breaking: given(func(p *setMetaParams) {
			if !p.Meta.IsZero() {
				p.Meta = p.Meta.With("written", uuid.NewString())
			}
		}),
		breaks: []string{"UpdateAssignmentMetaSetsTheGivenFields", "UpdateAssignmentMetaTellsWhatItDid", "AssignmentsTellWhenTheyChanged"},
	},
	"updateAssignmentMeta changes one always": {
		breaking: gives(func(_ setMetaParams, r *setResult) { r.Modified = 1 }),
		breaks:   []string{"UpdateAssignmentMetaTellsWhatItDid"},
	},
	"updateAssignmentMeta tells of nothing": {
		breaking: gives(func(_ setMetaParams, r *setResult) { r.Docs = nil }),
		breaks:   []string{"UpdateAssignmentMetaTellsWhatItDid", "UpdateAssignmentMetaAnswersAsDocumented"},
	},
	"updateAssignmentMeta in two steps": {breaking: metaInTwoSteps, breaks: []string{"UpdateAssignmentMetaLosesNoField"}, only: true},
}

// metaInTwoSteps reads the meta of an assignment, and writes all of it.
func metaInTwoSteps() botctx.Interceptor {
	together := newMeeting()
	return instead(func(ctx context.Context, bot *botctx.Context, p setMetaParams, _ botctx.Next) (any, error) {
		found, err := bot.GetAssignment(ctx, livechat.GetAssignmentParams{AssignmentID: p.AssignmentID})
		if err != nil {
			return setResult{}, err
		}
		together.join()
		for path, value := range p.Meta.All() {
			found.Meta.Set(path, value)
		}
		return bot.UpdateAssignmentMeta(ctx, setMetaParams{AssignmentID: p.AssignmentID, Meta: found.Meta})
	})()
}
