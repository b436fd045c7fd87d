package livechat

import (
	"context"
)

// HandleAdminJoinedGroup implements Operations.
func (s *Service) HandleAdminJoinedGroup(context.Context, HandleAdminJoinedGroupParams) (string, error) {
	return "", notThereYet()
}

// CreateBravoGroup implements Operations.
func (s *Service) CreateBravoGroup(context.Context, CreateBravoGroupParams) (CreateBravoGroupResult, error) {
	return CreateBravoGroupResult{}, notThereYet()
}

// DisableBravoGroupInviteLink implements Operations.
func (s *Service) DisableBravoGroupInviteLink(
	context.Context, DisableBravoGroupInviteLinkParams,
) (DisableBravoGroupInviteLinkResult, error) {
	return DisableBravoGroupInviteLinkResult{}, notThereYet()
}

// SetBravoGroupIcon implements Operations.
func (s *Service) SetBravoGroupIcon(context.Context, SetBravoGroupIconParams) (SetBravoGroupIconResult, error) {
	return SetBravoGroupIconResult{}, notThereYet()
}
