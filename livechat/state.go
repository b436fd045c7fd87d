package livechat

import (
	"context"

	"github.com/botctx/go-sdk/document"
)

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

// transition is a change of the state of an assignment. It is one write, which applies in the
// states that it starts from alone: of several calls that come at once, one makes it. What
// follows from it are the steps of the new state.
type transition struct {
	name string
	from []State
	to   State
}

// The transitions.
var (
	requesting     = transition{"request", nil, Sending}
	opening        = transition{"open", []State{Sending}, Pending}
	openingInGroup = transition{"open in a group", []State{Sending}, Taken} // A live-chat API made it.
	taking         = transition{"take", []State{Pending, Taken}, Taken}     // A taken one that has no agent yet.
	givingBack     = transition{"give back", []State{Taken}, Pending}       // The agent has no conversation for it.
	endingInOutlet = transition{"end in the outlet", []State{Sending, Pending, Taken}, Ended}
	endingInInlet  = transition{"end in the inlet", []State{Sending, Pending, Taken}, Ended}
	expiring       = transition{"expire", []State{Pending, Taken}, Ended}
	handingOn      = transition{"hand on", []State{Sending, Pending, Taken}, Ended}
	withdrawing    = transition{"withdraw", []State{Sending, Pending}, Ended}
	losing         = transition{"lose a side", []State{Pending, Taken}, Ended} // It is gone from its platform.
)

// transitions returns all of them, in the order in which they are documented.
func transitions() []transition {
	return []transition{
		requesting, opening, openingInGroup, taking, givingBack,
		endingInOutlet, endingInInlet, expiring, handingOn, withdrawing, losing,
	}
}

// ending returns the transition by which somebody ends an assignment.
func ending(by EndedBy) transition {
	switch by {
	case EndedByInlet:
		return endingInInlet
	case EndedByIdle:
		return expiring
	case EndedByReassign:
		return handingOn
	case EndedByRemoval:
		return withdrawing
	case EndedByMemberGone, EndedByAgentGone:
		return losing
	default:
		return endingInOutlet
	}
}

// move makes a transition of an assignment that meets a condition, with an update. It returns
// the assignment as it is then, nil where it does not meet it or is in another state.
func (s *machine) move(
	ctx context.Context, r *AssignmentRecord, t transition, condition, update document.Object,
) (*AssignmentRecord, error) {
	states := make([]any, len(t.from))
	for i, state := range t.from {
		states[i] = state.filter()
	}
	return s.modify(ctx, r.ID, condition.With("$or", document.A(states...)), update)
}

// markEnded ends an assignment that is open and meets a condition, and sets further fields. It
// returns the assignment as it is then, nil if it does not meet the condition.
func (s *machine) markEnded(
	ctx context.Context, r *AssignmentRecord, by EndedBy, condition document.Object, further ...any,
) (*AssignmentRecord, error) {
	fields := append([]any{fieldEndedAt, document.TimestampOf(s.env.Now()), fieldEndedBy, string(by), fieldSlot, endedSlot(r.ID)}, further...)
	return s.move(ctx, r, ending(by), condition, document.O(
		"$set", document.O(fields...),
		"$unset", document.O(fieldExpiry, ""),
	))
}
