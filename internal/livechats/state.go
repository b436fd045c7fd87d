package livechats

import (
	"context"
	"slices"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
)

// stateFilter returns the filter for records in a state.
func stateFilter(s livechat.State) document.Object {
	open := document.O(fieldEndedAt, isAbsent())
	untaken := open.With(fieldAssignee, isAbsent()).With(fieldAssignedAt, isAbsent())
	switch s {
	case livechat.Sending:
		return untaken.With(fieldSentAt, isAbsent())
	case livechat.Pending:
		return untaken.With(fieldSentAt, isPresent())
	case livechat.Taken:
		return open.With("$or", document.A(document.O(fieldAssignee, isPresent()), document.O(fieldAssignedAt, isPresent())))
	default:
		return document.O(fieldEndedAt, isPresent())
	}
}

// isAbsent and isPresent return conditions that a field is missing or present.
func isAbsent() document.Object { return document.O("$exists", false) }

func isPresent() document.Object { return document.O("$exists", true) }

// transition is a change of an assignment's state in a single write, which only succeeds in certain states: of
// several concurrent calls, one makes it. The steps of the new state follow from it.
type transition struct {
	name string
	from []livechat.State
	to   livechat.State
}

// The transitions of assignments.
var (
	requesting     = transition{"request", nil, livechat.Sending}
	opening        = transition{"open", []livechat.State{livechat.Sending}, livechat.Pending}
	openingInGroup = transition{"open in a group", []livechat.State{livechat.Sending}, livechat.Taken} // A live-chat API created it.
	// A taken assignment may lack an agent.
	taking = transition{"take", []livechat.State{livechat.Pending, livechat.Taken}, livechat.Taken}
	// The agent could not get a conversation.
	givingBack     = transition{"give back", []livechat.State{livechat.Taken}, livechat.Pending}
	endingInOutlet = transition{"end in the outlet", []livechat.State{livechat.Sending, livechat.Pending, livechat.Taken}, livechat.Ended}
	endingInInlet  = transition{"end in the inlet", []livechat.State{livechat.Sending, livechat.Pending, livechat.Taken}, livechat.Ended}
	expiring       = transition{"expire", []livechat.State{livechat.Pending, livechat.Taken}, livechat.Ended}
	handingOn      = transition{"hand on", []livechat.State{livechat.Sending, livechat.Pending, livechat.Taken}, livechat.Ended}
	withdrawing    = transition{"withdraw", []livechat.State{livechat.Sending, livechat.Pending}, livechat.Ended}
	// One side is gone from its platform.
	losing = transition{"lose a side", []livechat.State{livechat.Pending, livechat.Taken}, livechat.Ended}
)

// transitions returns all transitions in the order of the package comment.
func transitions() []transition {
	return []transition{
		requesting, opening, openingInGroup, taking, givingBack,
		endingInOutlet, endingInInlet, expiring, handingOn, withdrawing, losing,
	}
}

// ending returns the transition with which a side ends an assignment.
func ending(by livechat.EndedBy) transition {
	switch by {
	case livechat.EndedByInlet:
		return endingInInlet
	case livechat.EndedByIdle:
		return expiring
	case livechat.EndedByReassign:
		return handingOn
	case livechat.EndedByRemoval:
		return withdrawing
	case livechat.EndedByMemberGone, livechat.EndedByAgentGone:
		return losing
	default:
		return endingInOutlet
	}
}

// move makes a transition of an assignment that meets a condition, with an update. It returns the changed assignment,
// or nil if the condition is not met or the assignment is in another state.
func (s *Service) move(
	ctx context.Context, r *livechat.AssignmentRecord, t transition, condition, update document.Object,
) (*livechat.AssignmentRecord, error) {
	states := make([]any, len(t.from))
	for i, state := range t.from {
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
	return s.move(ctx, r, ending(by), condition, document.O(
		"$set", document.O(fields...),
		"$unset", document.O(fieldExpiry, ""),
	))
}

// openSlots is the prefix of slots of open assignments.
const openSlots = "member/"

// openSlot returns the slot of a member's open assignment.
func openSlot(memberID string) string { return openSlots + memberID }

// isOpenSlot matches slots of open assignments. 0 follows / in ASCII, so the condition can use the index of slots.
func isOpenSlot() document.Object { return document.O("$gte", openSlots, "$lt", "member0") }

func endedSlot(assignmentID string) string { return "ended/" + assignmentID }

// handoverSlots is the prefix of slots of assignments that will replace an open one.
const handoverSlots = "handover/"

// handoverSlot returns the slot of the assignment that will replace another one.
func handoverSlot(previousID string) string { return handoverSlots + previousID }

// isHandoverSlot matches slots of hand-overs. 0 follows / in ASCII.
func isHandoverSlot() document.Object {
	return document.O("$gte", handoverSlots, "$lt", "handover0")
}

func isSent(r *livechat.AssignmentRecord) bool {
	for _, ticket := range r.Tickets {
		if ticket.SentAt.IsZero() {
			return false
		}
	}
	return true
}

// hasGroupOfAPI reports whether the group of a live-chat API is stored, or there is none.
func hasGroupOfAPI(r *livechat.AssignmentRecord) bool {
	return r.Group != "" || !asksForGroup(r)
}

// asksForGroup reports whether the request asks a custom outlet for a group. Other outlets ignore this.
func asksForGroup(r *livechat.AssignmentRecord) bool {
	return r.CreateGroup != nil && len(r.Tickets) > 0 && r.Tickets[0].Type.Has(channel.LiveChatAPI)
}

// hasNobodyInGroup reports whether the request cannot go to an agent in its group, because it has no group or already
// has an agent.
func hasNobodyInGroup(r *livechat.AssignmentRecord) bool { return r.Group == "" || r.Assignee != "" }

// isFirst reports whether the assignment does not replace another one.
func isFirst(r *livechat.AssignmentRecord) bool { return r.ParentAssignment == "" }

// wasSentNowhere reports whether no outlet has accepted any part of the request.
func wasSentNowhere(r *livechat.AssignmentRecord) bool {
	for _, ticket := range r.Tickets {
		if !ticket.SentAt.IsZero() {
			return false
		}
	}
	return true
}

// hasNoSummaryLeft reports whether no summary is left to send. A custom outlet that was asked for a group got the
// summary with that request.
func hasNoSummaryLeft(r *livechat.AssignmentRecord) bool {
	return r.Summary == "" || !r.SummarySentAt.IsZero() || asksForGroup(r)
}

// shownTaken returns the tickets that do not show yet who has the assignment, except the ticket in the broadcast
// group from.
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
	return r.State() == livechat.Ended && r.EndedBy == by && r.ClosedAt.IsZero()
}

// recallable returns the tickets that were sent but not recalled.
func recallable(r *livechat.AssignmentRecord) []livechat.Ticket {
	var tickets []livechat.Ticket
	for _, ticket := range r.Tickets {
		if !ticket.SentAt.IsZero() && ticket.RecalledAt.IsZero() {
			tickets = append(tickets, ticket)
		}
	}
	return tickets
}

// An operation sets the state of an assignment with a transition and then reconciles it with the steps for its aim. A
// call after a crash does the same, so it continues where the crash happened.

// A want is a call's aim for an assignment.
type want string

// The possible aims.
const (
	// wantOpen means that everything is sent, and the member's flag has the record's value.
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
	// in are the states in which the step is due if due returns true. A nil due always returns true.
	in  []livechat.State
	due func(*pass) bool
	// done reports whether the record shows that the step was made. If it is nil, the record does not show this, and
	// repeating the step has no effect.
	done func(*livechat.AssignmentRecord) bool
	// do makes the step.
	do func(*pass, context.Context) error
}

// steps returns all steps in order.
func steps() []step {
	sending, open := []livechat.State{livechat.Sending}, []livechat.State{livechat.Pending, livechat.Taken}
	taken, ended := []livechat.State{livechat.Taken}, []livechat.State{livechat.Ended}
	return []step{
		{"send the tickets", wantOpen, []livechat.State{livechat.Sending, livechat.Pending}, (*pass).isSender, isSent, (*pass).send},
		{"store the group of the API", wantOpen, sending, nil, hasGroupOfAPI, (*pass).storeGroupOfAPI},
		{"end the previous one", wantOpen, sending, nil, isFirst, (*pass).endPrevious},
		{"open", wantOpen, sending, nil, nil, (*pass).open},
		{"take over what was written", wantOpen, open, nil, isFirst, (*pass).takeOverKept},
		{"close the previous one", wantOpen, open, nil, isFirst, (*pass).finishPrevious},
		{"give it to its group's agent", wantOpen, open, nil, hasNobodyInGroup, (*pass).takeByItsGroup},
		{"let the member in", wantOpen, open, nil, nil, (*pass).letIn},
		{"send what was written before", wantOpen, taken, nil, hasNothingBefore, (*pass).sendKept},

		{"open the conversation", wantConversation, taken, nil, nil, (*pass).openConversation},
		{"watch idle time", wantConversation, taken, nil, nil, (*pass).watch},
		{"let the member in", wantConversation, taken, nil, nil, (*pass).letIn},
		{"send the summary", wantConversation, taken, nil, hasNoSummaryLeft, (*pass).sendSummary},
		{"send what was written before", wantConversation, taken, nil, hasNothingBefore, (*pass).sendKept},
		{"show it on the tickets", wantConversation, taken, nil, nil, (*pass).showTaken},

		{"let the member out", wantClosed, ended, nil, nil, (*pass).letOut},
		{"clear the member's group", wantClosed, ended, nil, hasNoGroup, (*pass).clearGroup},
		{"put the groups out of use", wantClosed, ended, nil, nil, (*pass).endGroups},
		{"tell the other side", wantClosed, ended, (*pass).hasLastWords, nil, (*pass).sayLastWords},
		{"close the previous one", wantClosed, ended, nil, isFirst, (*pass).finishPrevious},
		{"recall the tickets", wantClosed, ended, (*pass).wantsRecall, nil, (*pass).recall},
		{"show that it is over", wantClosed, ended, (*pass).isUntakenEnd, nil, (*pass).showOver},
		{"withdraw the next one", wantClosed, ended, nil, wasHandedOn, (*pass).withdrawNext},
		{"close", wantClosed, ended, (*pass).canClose, nil, (*pass).close},
	}
}

// pass makes the steps for one assignment and one call.
type pass struct {
	*Service

	// r is the assignment after the last step. sender is the id of the call if it sends the request, otherwise "".
	r      *livechat.AssignmentRecord
	sender string
	// asking is the member who made the request. Messages are filled from it. It is nil if no messages are sent.
	asking *member.Member
	// isOut is set if the call takes the member out of live chat, or keeps the member in it.
	isOut *bool
	// takenFrom is the broadcast group whose ticket was taken, or "" if that is unknown.
	takenFrom string
	// isRecalled is true if the call must recall the tickets.
	isRecalled bool
	// isTold is true once a side got the text about the end.
	isTold bool

	// outlet and group are the agent's open conversation. member is the member after the last change by a step, or
	// nil.
	outlet *channel.Channel
	group  *livechat.Group
	member *member.Member
	// unfinished and errs are failures that do not prevent the following steps.
	unfinished unfinished
	errs       []error
}

// then returns the remedy for an aim that was not reached.
func (w want) then() string {
	if w == wantConversation {
		return "the agent has it, and the same call again does the rest"
	}
	return "the same call again recalls the rest"
}

func (s *Service) finish(ctx context.Context, ended *livechat.AssignmentRecord) error {
	return (&pass{Service: s, r: ended}).reconcile(ctx, wantClosed)
}

// reconcile makes the due steps for the call's aim that are not done. If a step fails, the following ones are not
// made, unless the step only records the failure as unfinished.
func (p *pass) reconcile(ctx context.Context, to want) error {
	defer p.releaseSender(ctx) // Released even if a connector panics, so that no other call waits.
	var failed error
	for _, step := range steps() {
		if failed == nil && p.isDue(step, to) {
			failed = step.do(p, ctx)
		}
	}
	return joined(append(p.errs, failed, p.unfinished.err(ctx, to.then()))...)
}

// isDue reports whether a step is due and not done.
func (p *pass) isDue(s step, to want) bool {
	return s.want == to && slices.Contains(s.in, p.r.State()) && p.r.ClosedAt.IsZero() &&
		(s.due == nil || s.due(p)) && (s.done == nil || !s.done(p.r))
}

// isSender reports whether the call is the sender of the request.
func (p *pass) isSender() bool {
	return p.sender != "" && p.r.Sender != nil && p.r.Sender.ID == p.sender
}

// releaseSender lets other calls send the request. If it fails, they can do so when the lease has expired.
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
	return p.memberOf(ctx, p.r)
}
