package livechat

import (
	"context"

	"github.com/botctx/go-sdk/document"
)

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
	requesting      = transition{"request", nil, Sending}
	standing        = transition{"stand", []State{Sending}, Pending}
	standingInGroup = transition{"stand in a group", []State{Sending}, Taken} // A live-chat API made it.
	taking          = transition{"take", []State{Pending, Taken}, Taken}      // A taken one that has no agent yet.
	givingBack      = transition{"give back", []State{Taken}, Pending}        // The agent has no conversation for it.
	endingInOutlet  = transition{"end in the outlet", []State{Sending, Pending, Taken}, Ended}
	endingInInlet   = transition{"end in the inlet", []State{Sending, Pending, Taken}, Ended}
	expiring        = transition{"expire", []State{Pending, Taken}, Ended}
	handingOn       = transition{"hand on", []State{Sending, Pending, Taken}, Ended}
	withdrawing     = transition{"withdraw", []State{Sending, Pending}, Ended}
)

// transitions returns all of them, in the order in which they are documented.
func transitions() []transition {
	return []transition{
		requesting, standing, standingInGroup, taking, givingBack,
		endingInOutlet, endingInInlet, expiring, handingOn, withdrawing,
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

// markEnded ends an assignment that is open and meets a condition. It returns the assignment
// as it is then, nil where it is not so.
func (s *machine) markEnded(
	ctx context.Context, r *AssignmentRecord, by EndedBy, condition document.Object,
) (*AssignmentRecord, error) {
	return s.move(ctx, r, ending(by), condition, document.O(
		"$set", document.O(fieldEndedAt, document.At(s.env.Now()), fieldEndedBy, string(by), fieldSlot, endedSlot(r.ID)),
		"$unset", document.O(fieldExpiry, ""),
	))
}
