package livechat

import (
	"context"
)

// GetAssignment implements Operations.
func (s *Service) GetAssignment(context.Context, GetAssignmentParams) (*Assignment, error) {
	return nil, notThereYet()
}

// GetAssignmentByOutlet implements Operations.
func (s *Service) GetAssignmentByOutlet(context.Context, GetAssignmentByOutletParams) (*Assignment, error) {
	return nil, notThereYet()
}

// GetAssignmentByBravoGroupID implements Operations.
func (s *Service) GetAssignmentByBravoGroupID(context.Context, GetAssignmentByBravoGroupIDParams) (*Assignment, error) {
	return nil, notThereYet()
}

// GetAssignmentsByMemberID implements Operations.
func (s *Service) GetAssignmentsByMemberID(context.Context, GetAssignmentsByMemberIDParams) ([]*Assignment, error) {
	return nil, notThereYet()
}

// GetAssignmentsByMeta implements Operations.
func (s *Service) GetAssignmentsByMeta(context.Context, GetAssignmentsByMetaParams) ([]*Assignment, error) {
	return nil, notThereYet()
}

// GetAssignmentsByParentAssignmentID implements Operations.
func (s *Service) GetAssignmentsByParentAssignmentID(context.Context, GetAssignmentsByParentAssignmentIDParams) ([]*Assignment, error) {
	return nil, notThereYet()
}
