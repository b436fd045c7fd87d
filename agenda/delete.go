package agenda

import (
	"context"
)

// DeleteMemberAgenda implements Operations.
func (s *Service) DeleteMemberAgenda(
	ctx context.Context, p DeleteMemberAgendaParams,
) (DeleteMemberAgendaResult, error) {
	if p.MemberID == "" {
		return DeleteMemberAgendaResult{}, missingMember()
	}
	if _, err := s.ofMember(p.MemberID, p.Tag).Delete(ctx, openFilter(p.Tag)); err != nil {
		return DeleteMemberAgendaResult{}, err
	}
	return DeleteMemberAgendaResult{ClientMutationID: s.env.NewID()}, nil
}
