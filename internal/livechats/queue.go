package livechats

import (
	"context"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
)

// Waiting returns how many requests of the app wait for an agent: for a label, or all of them for "".
// It is for hosts. It looks at the requests that wait and at no others. The errors are those of the
// store.
func (s *Service) Waiting(ctx context.Context, label string) (int64, error) {
	return s.assignments().Count(ctx, waitingFor(label))
}

// Position returns where a request stands among those of the app with the same label. It is for
// hosts, and looks at as many records as Waiting does. NotFound: the app has no such assignment.
func (s *Service) Position(ctx context.Context, assignmentID string) (livechat.Position, error) {
	r, err := s.namedAssignment(ctx, assignmentByID(assignmentID))
	if err != nil {
		return livechat.Position{}, err
	}
	return s.positionOf(ctx, r)
}

// PositionOfMember is Position for the open request of a member. It is zero if the member has none.
func (s *Service) PositionOfMember(ctx context.Context, memberID string) (livechat.Position, error) {
	r, err := s.openAssignment(ctx, memberID)
	if err != nil || r == nil {
		return livechat.Position{}, err
	}
	return s.positionOf(ctx, r)
}

// positionOf returns where an assignment stands.
func (s *core) positionOf(ctx context.Context, r *livechat.AssignmentRecord) (livechat.Position, error) {
	waiting, err := s.assignments().Count(ctx, waitingFor(r.Label))
	if err != nil || r.State() != livechat.Pending {
		return livechat.Position{Waiting: waiting}, err
	}
	before, err := s.assignments().Count(ctx, waitingFor(r.Label).
		With(fieldSentAt, document.O("$gt", 0, "$lt", r.SentAt)))
	if err != nil {
		return livechat.Position{}, err
	}
	same, err := s.assignments().Count(ctx, waitingFor(r.Label).
		With(fieldSentAt, r.SentAt).With("_id", document.O("$lt", r.ID)))
	return livechat.Position{Place: before + same + 1, Waiting: max(waiting, before+same+1)}, err
}

// waitingFor matches the requests that wait for an agent, so that an index serves.
func waitingFor(label string) document.Object {
	waiting := document.O(fieldEndedAt, nil, fieldAssignedAt, nil, fieldSentAt, document.O("$gt", 0), fieldAssignee, nil)
	if label != "" {
		waiting = waiting.With(fieldLabel, label)
	}
	return waiting
}
