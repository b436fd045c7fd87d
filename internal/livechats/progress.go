package livechats

import (
	"slices"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
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
func isSent(r *livechat.AssignmentRecord) bool {
	for _, ticket := range r.Tickets {
		if ticket.SentAt.IsZero() {
			return false
		}
	}
	return true
}

// hasGroupOfAPI reports whether there is no group of a live-chat API left to be stored.
func hasGroupOfAPI(r *livechat.AssignmentRecord) bool {
	return r.Group != "" || !asksForGroup(r)
}

// asksForGroup reports whether the request asks a custom outlet for a group. Other outlets ignore that it does.
func asksForGroup(r *livechat.AssignmentRecord) bool {
	return r.CreateGroup != nil && len(r.Tickets) > 0 && r.Tickets[0].Type.Has(channel.LiveChatAPI)
}

// hasNobodyInGroup reports whether no agent can have the request by its group.
func hasNobodyInGroup(r *livechat.AssignmentRecord) bool { return r.Group == "" || r.Assignee != "" }

// isFirst reports whether the assignment takes the place of no other one.
func isFirst(r *livechat.AssignmentRecord) bool { return r.ParentAssignment == "" }

// wasSentNowhere reports whether no outlet has taken anything of the request.
func wasSentNowhere(r *livechat.AssignmentRecord) bool {
	for _, ticket := range r.Tickets {
		if !ticket.SentAt.IsZero() {
			return false
		}
	}
	return true
}

// hasNoSummaryLeft reports whether no summary is left to be sent. A custom outlet that was
// asked for the group got it then.
func hasNoSummaryLeft(r *livechat.AssignmentRecord) bool {
	return r.Summary == "" || !r.SummarySentAt.IsZero() || asksForGroup(r)
}

// shownTaken returns the tickets that are still to show who has the assignment: not that of
// the broadcast group in the outlet where it was taken.
func shownTaken(r *livechat.AssignmentRecord, from string) []livechat.Ticket {
	if r.Direct != "" {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(r.Tickets), func(ticket livechat.Ticket) bool {
		isDone := ticket.SentAt.IsZero() || !ticket.TakenAt.IsZero() || !ticket.RecalledAt.IsZero()
		return isDone || from != "" && ticket.Channel == r.Outlet && ticket.Group.ID == from
	})
}

// hasNoGroup reports whether there was no conversation.
func hasNoGroup(r *livechat.AssignmentRecord) bool { return r.Group == "" }

// wasHandedOn reports whether the assignment ended because another one takes its place.
func wasHandedOn(r *livechat.AssignmentRecord) bool { return r.EndedBy == livechat.EndedByReassign }

// isInterrupted reports whether ending the assignment, in this way, was interrupted.
func isInterrupted(r *livechat.AssignmentRecord, by livechat.EndedBy) bool {
	return r.State() == livechat.Ended && r.EndedBy == by && r.ClosedAt.IsZero()
}

// recallable returns the tickets that were sent and not recalled.
func recallable(r *livechat.AssignmentRecord) []livechat.Ticket {
	var tickets []livechat.Ticket
	for _, ticket := range r.Tickets {
		if !ticket.SentAt.IsZero() && ticket.RecalledAt.IsZero() {
			tickets = append(tickets, ticket)
		}
	}
	return tickets
}
