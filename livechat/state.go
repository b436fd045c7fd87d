package livechat

// State is how far an assignment is. It is derived from its record, not stored.
type State string

// The states, in the order in which an assignment passes through them.
const (
	// Sending is the state of a request that has not reached all of its targets: the call that makes
	// it has not finished, or has failed in part and is to be repeated.
	Sending State = "sending"
	// Pending is the state of a request that is open, and that nobody has taken.
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
