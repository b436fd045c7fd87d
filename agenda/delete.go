package agenda

import (
	"context"

	"github.com/botctx/go-sdk/internal/members"
)

// DeleteMemberAgenda implements Operations.
func (s *Service) DeleteMemberAgenda(
	ctx context.Context, p DeleteMemberAgendaParams,
) (DeleteMemberAgendaResult, error) {
	if _, err := members.ByRequiredID(p.MemberID).Resolve(); err != nil {
		return DeleteMemberAgendaResult{}, err
	}
	if _, err := s.ofMember(p.MemberID, p.Tag).Delete(ctx, openFilter(p.Tag)); err != nil {
		return DeleteMemberAgendaResult{}, err
	}
	return DeleteMemberAgendaResult{ClientMutationID: s.env.NewID()}, nil
}
