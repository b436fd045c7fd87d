package agenda

import (
	"context"

	"github.com/botctx/go-sdk/document"
)

// DeleteMemberAgenda implements Operations.
func (s *Service) DeleteMemberAgenda(
	ctx context.Context, p DeleteMemberAgendaParams,
) (DeleteMemberAgendaResult, error) {
	if p.MemberID == "" {
		return DeleteMemberAgendaResult{}, missingMember()
	}
	if _, err := s.ofMember(p.MemberID, p.Tag).Delete(ctx, document.O(fieldCompleted, false)); err != nil {
		return DeleteMemberAgendaResult{}, err
	}
	return DeleteMemberAgendaResult{ClientMutationID: s.env.NewID()}, nil
}
