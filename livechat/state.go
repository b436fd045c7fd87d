package livechat

import "github.com/botctx/go-sdk/document"

// State is how far an assignment is. It is derived from its record, not stored.
type State string

// The states, in the order in which an assignment passes through them.
const (
	// Sending is the state of a request of which something is still to be sent: the call
	// that makes it has not finished, or has failed in part and is to be repeated.
	Sending State = "sending"
	// Pending is the state of a request that stands, and that nobody has taken.
	Pending State = "pending"
	// Taken is the state of an assignment that an agent has, or that has a group of a
	// custom outlet: there the conversation goes on from the start, and an agent who takes
	// it joins.
	Taken State = "taken"
	// Ended is the state of an assignment that is over.
	Ended State = "ended"
)

// State returns how far the assignment is.
func (r *AssignmentRecord) State() State {
	switch {
	case !r.EndedAt.IsZero():
		return Ended
	case r.Assignee != "" || !r.AssignedAt.IsZero():
		return Taken
	case !r.SentAt.IsZero():
		return Pending
	default:
		return Sending
	}
}

// filter matches the records in a state, as State tells it.
func (s State) filter() document.Object {
	open := document.O(fieldEndedAt, isAbsent())
	untaken := open.With(fieldAssignee, isAbsent()).With(fieldAssignedAt, isAbsent())
	switch s {
	case Sending:
		return untaken.With(fieldSentAt, isAbsent())
	case Pending:
		return untaken.With(fieldSentAt, isPresent())
	case Taken:
		return open.With("$or", document.A(document.O(fieldAssignee, isPresent()), document.O(fieldAssignedAt, isPresent())))
	default:
		return document.O(fieldEndedAt, isPresent())
	}
}

// isAbsent is a condition on a field that is not there, isPresent on one that is.
func isAbsent() document.Object { return document.O("$exists", false) }

func isPresent() document.Object { return document.O("$exists", true) }
