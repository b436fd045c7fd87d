package livechats

import (
	"context"
	"slices"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
)

// stateFilter returns a filter for the records in a state. It corresponds to AssignmentRecord.State.
func stateFilter(s livechat.State) document.Object {
	open := document.O(fieldEndedAt, isAbsent)
	untaken := open.With(fieldAssignee, isAbsent).With(fieldAssignedAt, isAbsent)
	switch s {
	case livechat.Sending:
		return untaken.With(fieldSentAt, isAbsent)
	case livechat.Pending:
		return untaken.With(fieldSentAt, isPresent)
	case livechat.Taken:
		return open.With("$or", document.A(document.O(fieldAssignee, isPresent), document.O(fieldAssignedAt, isPresent)))
	default:
		return document.O(fieldEndedAt, isPresent)
	}
}

// isAbsent and isPresent are conditions on a field.
var (
	isAbsent  = document.O("$exists", false)
	isPresent = document.O("$exists", true)
)

// endableIn returns the states in which an assignment can end in a way.
func endableIn(by livechat.EndedBy) []livechat.State {
	switch by {
	case livechat.EndedByIdle:
		return []livechat.State{livechat.Pending, livechat.Taken}
	case livechat.EndedByRemoval:
		return []livechat.State{livechat.Sending, livechat.Pending}
	default:
		return []livechat.State{livechat.Sending, livechat.Pending, livechat.Taken}
	}
}

// move changes the state of an assignment by a single write, which applies only in the states of from, so only one of
// several concurrent calls succeeds. It returns the changed assignment, or nil if the assignment does not meet the
// condition or is in another state.
func (s *Service) move(
	ctx context.Context, r *livechat.AssignmentRecord, from []livechat.State, condition, update document.Object,
) (*livechat.AssignmentRecord, error) {
	states := make([]any, len(from))
	for i, state := range from {
		states[i] = stateFilter(state)
	}
	return s.modify(ctx, r.ID, condition.With("$or", document.A(states...)), update)
}

// markEnded ends an open assignment that meets a condition, and sets further fields. It returns the changed
// assignment, or nil if the condition is not met.
func (s *Service) markEnded(
	ctx context.Context, r *livechat.AssignmentRecord, by livechat.EndedBy, condition document.Object, further ...any,
) (*livechat.AssignmentRecord, error) {
	fields := append([]any{fieldEndedAt, document.TimestampOf(s.env.Now()), fieldEndedBy, string(by), fieldSlot, endedSlot(r.ID)}, further...)
	return s.move(ctx, r, endableIn(by), condition, document.O(
		"$set", document.O(fields...),
		"$unset", document.O(fieldExpiry, ""),
	))
}

// openSlots is the prefix of slots of open assignments.
const openSlots = "member/"

// openSlot returns the slot of a member's open assignment.
func openSlot(memberID string) string { return openSlots + memberID }

// isOpenSlot matches the slots of open assignments as a range, which an index serves. 0 follows / in ASCII.
func isOpenSlot() document.Object { return document.O("$gte", openSlots, "$lt", "member0") }

func endedSlot(assignmentID string) string { return "ended/" + assignmentID }

// handoverSlots is the prefix of slots of assignments that will replace an open one.
const handoverSlots = "handover/"

// handoverSlot returns the slot of the assignment that will replace another one.
func handoverSlot(previousID string) string { return handoverSlots + previousID }

func isSent(r *livechat.AssignmentRecord) bool {
	return !slices.ContainsFunc(r.Tickets, func(ticket livechat.Ticket) bool { return ticket.SentAt.IsZero() })
}

// hasGroupOfAPI reports whether the group from the live-chat API is stored, or the request asks for none.
func hasGroupOfAPI(r *livechat.AssignmentRecord) bool {
	return r.Group != "" || !asksForGroup(r)
}

// asksForGroup reports whether the request asks a custom outlet for a group. Other outlets ignore this.
func asksForGroup(r *livechat.AssignmentRecord) bool {
	return r.CreateGroup != nil && len(r.Tickets) > 0 && r.Tickets[0].Type.Has(channel.LiveChatAPI)
}

// hasNobodyInGroup reports whether no agent in the request's group can take it: it has no group, or it
// already has an agent.
func hasNobodyInGroup(r *livechat.AssignmentRecord) bool { return r.Group == "" || r.Assignee != "" }

// isFirst reports whether the assignment was not handed on from another one.
func isFirst(r *livechat.AssignmentRecord) bool { return r.ParentAssignment == "" }

// wasSentNowhere reports whether no outlet has accepted any part of the request.
func wasSentNowhere(r *livechat.AssignmentRecord) bool {
	return !slices.ContainsFunc(r.Tickets, func(ticket livechat.Ticket) bool { return !ticket.SentAt.IsZero() })
}

// hasNoSummaryLeft reports whether no summary remains to be sent. A custom outlet that was asked for a group
// got the summary with the request.
func hasNoSummaryLeft(r *livechat.AssignmentRecord) bool {
	return r.Summary == "" || !r.SummarySentAt.IsZero() || asksForGroup(r)
}

// shownTaken returns the tickets that do not yet show the agent who has the assignment. from is the broadcast
// group whose ticket the agent took, or "". That ticket is left out.
func shownTaken(r *livechat.AssignmentRecord, from string) []livechat.Ticket {
	if r.Direct != "" {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(r.Tickets), func(ticket livechat.Ticket) bool {
		isDone := ticket.SentAt.IsZero() || !ticket.TakenAt.IsZero() || !ticket.RecalledAt.IsZero()
		return isDone || from != "" && ticket.Channel == r.Outlet && ticket.Group.ID == from
	})
}

// hasNoGroup reports whether the assignment had no conversation.
func hasNoGroup(r *livechat.AssignmentRecord) bool { return r.Group == "" }

// wasHandedOn reports whether the assignment ended because another one replaces it.
func wasHandedOn(r *livechat.AssignmentRecord) bool { return r.EndedBy == livechat.EndedByReassign }

func isInterrupted(r *livechat.AssignmentRecord, by livechat.EndedBy) bool {
	return r.EndedBy == by && r.ClosedAt.IsZero()
}

// recallable returns the tickets that were sent but not recalled.
func recallable(r *livechat.AssignmentRecord) []livechat.Ticket {
	return slices.DeleteFunc(slices.Clone(r.Tickets), func(ticket livechat.Ticket) bool {
		return ticket.SentAt.IsZero() || !ticket.RecalledAt.IsZero()
	})
}

// A want is the aim of a call for an assignment.
type want string

// The possible aims.
const (
	// wantOpen means that all tickets are sent, and botMeta.liveChat of the member has the requested value.
	wantOpen want = "open request"
	// wantConversation means that agent and member can talk, and the tickets show this.
	wantConversation want = "conversation"
	// wantClosed means that everything that must end with the assignment has ended.
	wantClosed want = "closed"
)

type step struct {
	name string
	// want is the aim for which the step is needed.
	want want
	// in are the states in which the step is due. If due is not nil, it must also return true.
	in  []livechat.State
	due func(*pass) bool
	// done reports whether the record shows that the step was carried out. A step without done is repeated by
	// each call; repeating it changes nothing.
	done func(*livechat.AssignmentRecord) bool
	// do carries out the step.
	do func(*pass, context.Context) error
}

// steps returns all steps in order. The columns are name, want, in, due, done and do.
func steps() []step {
	sending, open := []livechat.State{livechat.Sending}, []livechat.State{livechat.Pending, livechat.Taken}
	taken, ended := []livechat.State{livechat.Taken}, []livechat.State{livechat.Ended}
	return []step{
		{"send the tickets", wantOpen, []livechat.State{livechat.Sending, livechat.Pending}, (*pass).isSender, isSent, (*pass).send},
		{"store the group of the API", wantOpen, sending, nil, hasGroupOfAPI, (*pass).storeGroupOfAPI},
		{"end the previous assignment", wantOpen, sending, nil, isFirst, (*pass).endPrevious},
		{"open", wantOpen, sending, nil, nil, (*pass).open},
		{"move the kept messages", wantOpen, open, nil, isFirst, (*pass).takeOverKept},
		{"close the previous assignment", wantOpen, open, nil, isFirst, (*pass).finishPrevious},
		{"let the group's agent take it", wantOpen, open, nil, hasNobodyInGroup, (*pass).takeByItsGroup},
		{"set the member's flag", wantOpen, open, nil, nil, (*pass).letIn},
		{"send the kept messages", wantOpen, taken, nil, hasNothingBefore, (*pass).sendKept},

		{"open the conversation", wantConversation, taken, nil, nil, (*pass).openConversation},
		{"watch idle time", wantConversation, taken, nil, nil, (*pass).watch},
		{"set the member's flag", wantConversation, taken, nil, nil, (*pass).letIn},
		{"send the summary", wantConversation, taken, nil, hasNoSummaryLeft, (*pass).sendSummary},
		{"send the kept messages", wantConversation, taken, nil, hasNothingBefore, (*pass).sendKept},
		{"show the agent on the tickets", wantConversation, taken, nil, nil, (*pass).showTaken},

		{"clear the member's flag", wantClosed, ended, nil, nil, (*pass).letOut},
		{"clear the member's group", wantClosed, ended, nil, hasNoGroup, (*pass).clearGroup},
		{"deactivate the groups", wantClosed, ended, nil, nil, (*pass).endGroups},
		{"tell the other side", wantClosed, ended, nil, nil, (*pass).sayLastWords},
		{"close the previous assignment", wantClosed, ended, nil, isFirst, (*pass).finishPrevious},
		{"recall the tickets", wantClosed, ended, (*pass).wantsRecall, nil, (*pass).recall},
		{"show the end on the tickets", wantClosed, ended, (*pass).isUntakenEnd, nil, (*pass).showOver},
		{"withdraw the next assignment", wantClosed, ended, nil, wasHandedOn, (*pass).withdrawNext},
		{"close", wantClosed, ended, (*pass).canClose, nil, (*pass).close},
	}
}

// pass carries out the steps of one call for one assignment.
type pass struct {
	*Service

	// r is the assignment after the last step. sender is the id of the call if it sends the request, otherwise "".
	r      *livechat.AssignmentRecord
	sender string
	// asking is the member who made the request. Placeholders in messages are filled from this member. It is
	// nil if the call sends no messages.
	asking *member.Member
	// isOut is the value that the call requests for OutOfLiveChat, or nil to keep the stored one.
	isOut *bool
	// heardUntil is HeardUntil of the previous assignment, if the call hands it on.
	heardUntil document.Timestamp
	// takenFrom is the broadcast group whose ticket was taken, or "" if that is unknown.
	takenFrom string
	// isRecalled is true if the call requests the recall of the tickets.
	isRecalled bool
	// isTold is true once a side got the text about the end.
	isTold bool

	// outlet and group are the channel and the group of the agent's conversation, once it is open. member is
	// the member after the last change by a step, or nil if no step changed the member.
	outlet *channel.Channel
	group  *livechat.Group
	member *member.Member
	// unfinished and errs are failures that do not prevent the following steps.
	unfinished unfinished
	errs       []error
}

// then returns the remedy for an error about unfinished tasks.
func (w want) then() string {
	if w == wantConversation {
		return "and the agent has the request; repeat the call to complete it"
	}
	return "repeat the call to complete it"
}

func (s *Service) finish(ctx context.Context, ended *livechat.AssignmentRecord) error {
	return (&pass{Service: s, r: ended}).reconcile(ctx, wantClosed)
}

// reconcile carries out the steps that are due for the call's aim and not done. If a step returns an error,
// the later steps are skipped. Failures that a step adds to unfinished or errs do not prevent later steps.
func (p *pass) reconcile(ctx context.Context, to want) error {
	defer p.releaseSender(ctx) // Released even if a connector panics, so that no other call waits.
	var failed error
	for _, s := range steps() {
		isDue := s.want == to && slices.Contains(s.in, p.r.State()) && p.r.ClosedAt.IsZero() && (s.due == nil || s.due(p))
		if failed == nil && isDue && (s.done == nil || !s.done(p.r)) {
			failed = s.do(p, ctx)
		}
	}
	return joined(append(p.errs, failed, p.unfinished.err(ctx, to.then()))...)
}

// isSender reports whether the call is the sender of the request.
func (p *pass) isSender() bool {
	return p.sender != "" && p.r.Sender != nil && p.r.Sender.ID == p.sender
}

// releaseSender lets other calls send the request. If it fails, other calls may send once the lease has
// expired.
func (p *pass) releaseSender(ctx context.Context) {
	if p.isSender() {
		_, _ = p.assignments().Update(context.WithoutCancel(ctx), record.Patch{
			Filter:       document.O(record.FieldID, p.r.ID, fieldSender+".id", p.sender),
			Patch:        document.Unset(fieldSender),
			WithModifier: true,
		})
	}
}

// memberNow returns the current member.
func (p *pass) memberNow(ctx context.Context) (*member.Member, error) {
	if p.member != nil {
		return p.member, nil
	}
	return members.Get(ctx, p.ports.Members, p.r.Member)
}
