package botctxtest_test

import (
	"context"
	"errors"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/botctx/botctxtest"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/member"
)

// brokenEverywhere are the defects of all operations.
var brokenEverywhere = map[string]breakage{
	"contexts never end": {
		breaking: func() botctx.Interceptor {
			return func(ctx context.Context, _ *botctx.Call, next botctx.Next) (any, error) {
				return next(context.WithoutCancel(ctx))
			}
		},
		breaks: []string{"EndedContextIsCanceled", "PassedDeadlineIsCanceled"},
	},
	"no codes": {
		breaking: func() botctx.Interceptor {
			return func(ctx context.Context, _ *botctx.Call, next botctx.Next) (any, error) {
				result, err := next(ctx)
				if err != nil {
					err = boterr.New(boterr.Internal, "", "%w", context.Canceled)
				}
				return result, err
			}
		},
		breaks: []string{
			"GetChannelFindsNoOthers", "GetMemberFindsNoOthers", "FindAndModifyMemberDoesNotUpsert",
			"FindAndModifyDataFromDataSourceRefusesAnIDThatExists", "SendResponseNeedsAnExternalID", "EndedContextIsCanceled",
		},
		others: true,
	},
	"one app for all": {
		altering: oneApp,
		breaks: []string{
			"GetChannelFindsNoOthers", "GetMemberFindsNoOthers", "UpdateMemberFindsNoOthers", "CheckAndSaveMemberReferFromFindsNoOthers",
			"PatchMembersFindsNoOthers", "FindAndModifyMemberStaysInTheApp", "SendResponseFindsNoOthers",
			"DataOfAnotherAppIsNotRead", "DataOfAnotherAppIsNotWritten", "FetchGeoNearFromDataSourceStaysInTheApp",
			"NewAgendaFindsNoOthers", "UpdateAgendaStaysInTheApp", "DeleteMemberAgendaStaysInTheApp",
			"CreateAssignmentFindsNoOthers", "AddNewTargetsToAssignmentFindsNoOthers", "ReassignAssignmentFindsNoOthers", "GetAssignmentFindsNoOthers",
			"GetAssignmentByOutletFindsNoOthers", "GetAssignmentByBravoGroupIdFindsNoOthers",
			"GetAssignmentsByMemberIdIsEmptyForOthers", "GetAssignmentsByMetaStaysInTheApp", "GetAssignmentsByParentAssignmentIdIsEmptyForOthers",
			"UpdateAssignmentGroupFindsNoOthers", "UpdateAssignmentMetaFindsNoOthers", "RemovePendingAssignmentByMemberIdOfNothing",
			"EndLiveChatFindsNoOthers", "InletEndLiveChatFindsNoOthers", "EndBravoLiveChatFindsNoOthers",
		},
		others: true,
	},
	"the clock stands still": {
		altering: func(h *botctxtest.Harness) { h.Advance = func(time.Duration) {} },
		breaks: []string{
			"MembersTellWhenTheyChanged", "EntriesTellWhenTheyChanged", "ADueAgendaRunsItsNode", "ACompletedAgendaStaysAsItIs",
			"ARunThatIsTriedAgainSendsUnderTheSameIDs",
			"DueAgendasRunByPriority", "APatternRunsUntilItsEnd", "WhatIsDeletedOrReplacedDoesNotRun",
			"WithoutRunUntilAPatternRunsOnce", "CreateAssignmentEndsWhenIdle", "AssignmentsTellWhenTheyChanged",
			"GroupsTellWhenTheyChanged", "SendMessageToInletGoesOnWithTheLiveChat",
			"SendMessageToInletGroupGoesOnWithTheLiveChat", "SendMessageToOutletGroupGoesOnWithTheLiveChat",
		},
	},
	"errors are those of Go": {
		altering: func(h *botctxtest.Harness) {
			whole := h.Operations
			h.Operations = func(scope record.Scope) botctx.Operations { return codeless{whole(scope)} }
		},
		breaks: []string{"GetMemberFindsNoOthers", "GetMemberRefusesBadInput", "EndedContextIsCanceled", "PassedDeadlineIsCanceled"},
		others: true,
	},
	"one call at a time": {breaking: oneAtATime, breaks: []string{"OperationsAreSafeForConcurrentUse"}, only: true},
}

// oneAtATime refuses a getMember while another is under way.
func oneAtATime() botctx.Interceptor {
	together := newMeeting()
	return func(ctx context.Context, call *botctx.Call, next botctx.Next) (any, error) {
		if call.Op == botctx.OpGetMember && together.join() == 1 {
			return nil, boterr.New(boterr.Conflict, "", "is busy")
		}
		return next(ctx)
	}
}

// oneApp makes all apps one and the same.
func oneApp(h *botctxtest.Harness) {
	addChannel, addMember, whole := h.AddChannel, h.AddMember, h.Operations
	h.AddChannel = func(c channel.Channel) *channel.Channel {
		app := c.App
		c.App = ""
		stored := addChannel(c)
		stored.App = app
		return stored
	}
	h.AddMember = func(m member.Member) *member.Member {
		app := m.App
		m.App = ""
		stored := addMember(m)
		stored.App = app
		return stored
	}
	pair, agent := h.Pair, h.Agent
	h.Pair = func(inlet *channel.Channel, outlets ...*channel.Channel) {
		ids := make([]*channel.Channel, len(outlets))
		for i, outlet := range outlets {
			ids[i] = &channel.Channel{ID: outlet.ID}
		}
		pair(&channel.Channel{ID: inlet.ID}, ids...)
	}
	h.Agent = func(outlet *channel.Channel) *botctxtest.Agent { return agent(&channel.Channel{ID: outlet.ID}) }
	h.Operations = func(scope record.Scope) botctx.Operations {
		scope.App = ""
		return whole(scope)
	}
}

// codeless reads members, and says why not in its own words.
type codeless struct{ botctx.Operations }

func (o codeless) GetMember(ctx context.Context, p member.GetMemberParams) (*member.Member, error) {
	m, err := o.Operations.GetMember(ctx, p)
	if err != nil {
		return nil, errors.New("no member")
	}
	return m, nil
}
