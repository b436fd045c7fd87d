package livechat

import (
	"slices"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
)

// Progress is how far an assignment has come, as its record notes it. The State is derived from it,
// and from Assignee and AssignedAt, which operations show. So are the steps that are done; those of
// single tickets are derived from the tickets.
type Progress struct {
	// Slot is different for each assignment of an app: it is that of the member while the assignment
	// is open, and its own afterwards. So a member has at most one that is open.
	Slot string `json:"slot,omitzero"`
	// Sender is the call that sends the request now, nil where none does.
	Sender *Sender `json:"sender,omitzero"`
	// SentAt is when all of it was sent. The request is open from then on.
	SentAt document.Timestamp `json:"sentAt,omitzero"`
	// SummarySentAt is when the summary was sent to who took it.
	SummarySentAt document.Timestamp `json:"summarySentAt,omitzero"`
	// KeptSender is the call that sends the kept messages now, nil if none does.
	KeptSender *Sender `json:"keptSender,omitzero"`
	// WaitingToldAt is when the member was told that nobody has taken the request yet.
	WaitingToldAt document.Timestamp `json:"waitingToldAt,omitzero"`
	// OverTold are the ids of the groups in which an agent wrote after the end and was told so.
	OverTold []string `json:"overTold,omitzero"`
	// EndedAt is when it ended, EndedBy who ended it. ClosedAt is when all that ends with it had
	// ended, too: an end without it was interrupted, and the same call again completes it.
	EndedAt  document.Timestamp `json:"endedAt,omitzero"`
	EndedBy  EndedBy            `json:"endedBy,omitzero"`
	ClosedAt document.Timestamp `json:"closedAt,omitzero"`
	// EndReason is the platform's error if EndedBy is EndedByMemberGone or EndedByAgentGone.
	EndReason string `json:"endReason,omitzero"`
}

// Sender is a call that sends a request. While it does, no other call sends it.
type Sender struct {
	// ID is the call's own.
	ID string `json:"id"`
	// Until is when others may send what is missing, by the store's clock: a call that
	// goes on says so in time, one that has crashed does not.
	Until document.Timestamp `json:"until"`
}

// EndedBy is who ended an assignment.
type EndedBy string

// Who ends assignments.
const (
	// EndedByOutlet is the agent, or bot logic of the outlet channel.
	EndedByOutlet EndedBy = "outlet"
	// EndedByInlet is the member, or bot logic of the inlet channel.
	EndedByInlet EndedBy = "inlet"
	// EndedByIdle is nobody: there was no message for the idle time-out.
	EndedByIdle EndedBy = "idle"
	// EndedByReassign is who handed it on to others.
	EndedByReassign EndedBy = "reassign"
	// EndedByRemoval is who withdrew it while nobody had taken it. The record is removed
	// soon after.
	EndedByRemoval EndedBy = "removed"
	// EndedByMemberGone is nobody: the member cannot be written to any more, such as one who
	// blocked the bot. The agent is told.
	EndedByMemberGone EndedBy = "member gone"
	// EndedByAgentGone is nobody: the agent's conversation is gone, such as one that was archived.
	// The member is told.
	EndedByAgentGone EndedBy = "agent gone"
)

// openSlots is what the slots of open assignments begin with.
const openSlots = "member/"

// openSlot is the slot of a member's open assignment.
func openSlot(memberID string) string { return openSlots + memberID }

// isOpenSlot is a condition that the slots of open assignments meet, for which the index of
// slots serves: 0 comes next to /.
func isOpenSlot() document.Object { return document.O("$gte", openSlots, "$lt", "member0") }

// endedSlot is the slot of an assignment that has ended.
func endedSlot(assignmentID string) string { return "ended/" + assignmentID }

// handoverSlots is what the slots of assignments begin with while they take the place of
// another one, which is open still.
const handoverSlots = "handover/"

// handoverSlot is the slot of the assignment that takes the place of another one.
func handoverSlot(previousID string) string { return handoverSlots + previousID }

// isHandoverSlot is a condition that such slots meet: 0 comes next to /.
func isHandoverSlot() document.Object {
	return document.O("$gte", handoverSlots, "$lt", "handover0")
}

// isSent reports whether all of a request was sent.
func (r *AssignmentRecord) isSent() bool {
	for _, ticket := range r.Tickets {
		if ticket.SentAt.IsZero() {
			return false
		}
	}
	return true
}

// hasGroupOfAPI reports whether there is no group of a live-chat API left to be stored.
func (r *AssignmentRecord) hasGroupOfAPI() bool {
	return r.Group != "" || !r.asksForGroup()
}

// asksForGroup reports whether the request asks a custom outlet for a group. Other outlets ignore that it does.
func (r *AssignmentRecord) asksForGroup() bool {
	return r.CreateGroup != nil && len(r.Tickets) > 0 && r.Tickets[0].Type.Has(channel.LiveChatAPI)
}

// hasNobodyInGroup reports whether no agent can have the request by its group.
func (r *AssignmentRecord) hasNobodyInGroup() bool { return r.Group == "" || r.Assignee != "" }

// isFirst reports whether the assignment takes the place of no other one.
func (r *AssignmentRecord) isFirst() bool { return r.ParentAssignment == "" }

// wasSentNowhere reports whether no outlet has taken anything of the request.
func (r *AssignmentRecord) wasSentNowhere() bool {
	for _, ticket := range r.Tickets {
		if !ticket.SentAt.IsZero() {
			return false
		}
	}
	return true
}

// hasNoSummaryLeft reports whether no summary is left to be sent. A custom outlet that was
// asked for the group got it then.
func (r *AssignmentRecord) hasNoSummaryLeft() bool {
	return r.Summary == "" || !r.SummarySentAt.IsZero() || r.asksForGroup()
}

// shownTaken returns the tickets that are still to show who has the assignment: not that of
// the broadcast group in the outlet where it was taken.
func (r *AssignmentRecord) shownTaken(from string) []Ticket {
	if r.Direct != "" {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(r.Tickets), func(ticket Ticket) bool {
		isDone := ticket.SentAt.IsZero() || !ticket.TakenAt.IsZero() || !ticket.RecalledAt.IsZero()
		return isDone || from != "" && ticket.Channel == r.Outlet && ticket.Group.ID == from
	})
}

// hasNoGroup reports whether there was no conversation.
func (r *AssignmentRecord) hasNoGroup() bool { return r.Group == "" }

// wasHandedOn reports whether the assignment ended because another one takes its place.
func (r *AssignmentRecord) wasHandedOn() bool { return r.EndedBy == EndedByReassign }

// isInterrupted reports whether ending the assignment, in this way, was interrupted.
func (r *AssignmentRecord) isInterrupted(by EndedBy) bool {
	return r.State() == Ended && r.EndedBy == by && r.ClosedAt.IsZero()
}

// recallable returns the tickets that were sent and not recalled.
func (r *AssignmentRecord) recallable() []Ticket {
	var tickets []Ticket
	for _, ticket := range r.Tickets {
		if !ticket.SentAt.IsZero() && ticket.RecalledAt.IsZero() {
			tickets = append(tickets, ticket)
		}
	}
	return tickets
}
