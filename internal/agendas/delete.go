package agendas

import (
	"context"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/internal/members"
)

// DeleteMemberAgenda implements Operations.
func (s *Service) DeleteMemberAgenda(
	ctx context.Context, p agenda.DeleteMemberAgendaParams,
) (agenda.DeleteMemberAgendaResult, error) {
	if _, err := members.ByRequiredID(p.MemberID).Resolve(); err != nil {
		return agenda.DeleteMemberAgendaResult{}, err
	}
	if _, err := s.ofMember(p.MemberID, p.Tag).Delete(ctx, openFilter(p.Tag)); err != nil {
		return agenda.DeleteMemberAgendaResult{}, err
	}
	return agenda.DeleteMemberAgendaResult{ClientMutationID: s.env.NewID()}, nil
}
