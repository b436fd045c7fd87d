package livechats

import (
	"context"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
)

// stateFilter matches the records in a state, as State tells it.
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

// isAbsent is a condition on a field that is not there, isPresent on one that is.
func isAbsent() document.Object { return document.O("$exists", false) }

func isPresent() document.Object { return document.O("$exists", true) }

// transition is a change of the state of an assignment. It is one write, which applies in the
// states that it starts from alone: of several calls that come at once, one makes it. What
// follows from it are the steps of the new state.
type transition struct {
	name string
	from []livechat.State
	to   livechat.State
}

// The transitions.
var (
	requesting     = transition{"request", nil, livechat.Sending}
	opening        = transition{"open", []livechat.State{livechat.Sending}, livechat.Pending}
	openingInGroup = transition{"open in a group", []livechat.State{livechat.Sending}, livechat.Taken} // A live-chat API made it.
	// A taken one that has no agent yet is taken, too.
	taking = transition{"take", []livechat.State{livechat.Pending, livechat.Taken}, livechat.Taken}
	// The agent has no conversation for it.
	givingBack     = transition{"give back", []livechat.State{livechat.Taken}, livechat.Pending}
	endingInOutlet = transition{"end in the outlet", []livechat.State{livechat.Sending, livechat.Pending, livechat.Taken}, livechat.Ended}
	endingInInlet  = transition{"end in the inlet", []livechat.State{livechat.Sending, livechat.Pending, livechat.Taken}, livechat.Ended}
	expiring       = transition{"expire", []livechat.State{livechat.Pending, livechat.Taken}, livechat.Ended}
	handingOn      = transition{"hand on", []livechat.State{livechat.Sending, livechat.Pending, livechat.Taken}, livechat.Ended}
	withdrawing    = transition{"withdraw", []livechat.State{livechat.Sending, livechat.Pending}, livechat.Ended}
	// A side is gone from its platform.
	losing = transition{"lose a side", []livechat.State{livechat.Pending, livechat.Taken}, livechat.Ended}
)

// transitions returns all of them, in the order in which they are documented.
func transitions() []transition {
	return []transition{
		requesting, opening, openingInGroup, taking, givingBack,
		endingInOutlet, endingInInlet, expiring, handingOn, withdrawing, losing,
	}
}

// ending returns the transition by which somebody ends an assignment.
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

// move makes a transition of an assignment that meets a condition, with an update. It returns
// the assignment as it is then, nil where it does not meet it or is in another state.
func (s *machine) move(
	ctx context.Context, r *livechat.AssignmentRecord, t transition, condition, update document.Object,
) (*livechat.AssignmentRecord, error) {
	states := make([]any, len(t.from))
	for i, state := range t.from {
		states[i] = stateFilter(state)
	}
	return s.modify(ctx, r.ID, condition.With("$or", document.A(states...)), update)
}

// markEnded ends an assignment that is open and meets a condition, and sets further fields. It
// returns the assignment as it is then, nil if it does not meet the condition.
func (s *machine) markEnded(
	ctx context.Context, r *livechat.AssignmentRecord, by livechat.EndedBy, condition document.Object, further ...any,
) (*livechat.AssignmentRecord, error) {
	fields := append([]any{fieldEndedAt, document.TimestampOf(s.env.Now()), fieldEndedBy, string(by), fieldSlot, endedSlot(r.ID)}, further...)
	return s.move(ctx, r, ending(by), condition, document.O(
		"$set", document.O(fields...),
		"$unset", document.O(fieldExpiry, ""),
	))
}
