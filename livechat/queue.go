package livechat

import (
	"context"

	"github.com/botctx/go-sdk/document"
)

// Position is where a request stands among those that wait for an agent.
type Position struct {
	// Place is 1 for the request that waits longest. It is 0 for one that does not wait: it is still
	// being sent, was taken or has ended.
	Place int64
	// Waiting is how many requests wait, this one included.
	Waiting int64
}

// Waiting returns how many requests of the app wait for an agent: for a label, or all of them for "".
// It is for hosts. It looks at the requests that wait and at no others. The errors are those of the
// store.
func (s *Service) Waiting(ctx context.Context, label string) (_ int64, err error) {
	defer s.guard(ctx, &err)
	return s.assignments().Count(ctx, waitingFor(label))
}

// Position returns where a request stands among those of the app with the same label. It is for
// hosts, and looks at as many records as Waiting does. NotFound: the app has no such assignment.
func (s *Service) Position(ctx context.Context, assignmentID string) (_ Position, err error) {
	defer s.guard(ctx, &err)
	r, err := s.namedAssignment(ctx, assignmentByID(assignmentID))
	if err != nil {
		return Position{}, err
	}
	return s.positionOf(ctx, r)
}

// PositionOfMember is Position for the open request of a member. It is zero if the member has none.
func (s *Service) PositionOfMember(ctx context.Context, memberID string) (_ Position, err error) {
	defer s.guard(ctx, &err)
	r, err := s.openAssignment(ctx, memberID)
	if err != nil || r == nil {
		return Position{}, err
	}
	return s.positionOf(ctx, r)
}

// positionOf returns where an assignment stands.
func (s *core) positionOf(ctx context.Context, r *AssignmentRecord) (Position, error) {
	waiting, err := s.assignments().Count(ctx, waitingFor(r.Label))
	if err != nil || r.State() != Pending {
		return Position{Waiting: waiting}, err
	}
	before, err := s.assignments().Count(ctx, waitingFor(r.Label).
		With(fieldSentAt, document.O("$gt", 0, "$lt", r.SentAt)))
	if err != nil {
		return Position{}, err
	}
	same, err := s.assignments().Count(ctx, waitingFor(r.Label).
		With(fieldSentAt, r.SentAt).With("_id", document.O("$lt", r.ID)))
	return Position{Place: before + same + 1, Waiting: max(waiting, before+same+1)}, err
}

// waitingFor matches the requests that wait for an agent, so that an index serves.
func waitingFor(label string) document.Object {
	waiting := document.O(fieldEndedAt, nil, fieldAssignedAt, nil, fieldSentAt, document.O("$gt", 0), fieldAssignee, nil)
	if label != "" {
		waiting = waiting.With(fieldLabel, label)
	}
	return waiting
}
