package livechat

import (
	"context"
)

// GetGroup implements Operations.
func (s *Service) GetGroup(context.Context, GetGroupParams) (*Group, error) {
	return nil, notThereYet()
}

// GetGroupByExternalID implements Operations.
func (s *Service) GetGroupByExternalID(context.Context, GetGroupByExternalIDParams) (*Group, error) {
	return nil, notThereYet()
}

// GetGroupByGroupExternalID implements Operations.
func (s *Service) GetGroupByGroupExternalID(context.Context, GetGroupByGroupExternalIDParams) (*Group, error) {
	return nil, notThereYet()
}

// GetGroupByInletGroup implements Operations.
func (s *Service) GetGroupByInletGroup(context.Context, GetGroupByInletGroupParams) (*Group, error) {
	return nil, notThereYet()
}

// GetGroupByMemberID implements Operations.
func (s *Service) GetGroupByMemberID(context.Context, GetGroupByMemberIDParams) (*Group, error) {
	return nil, notThereYet()
}
