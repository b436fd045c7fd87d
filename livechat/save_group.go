package livechat

import (
	"context"
)

// SaveGroupIDToMember implements Operations.
func (s *Service) SaveGroupIDToMember(context.Context, SaveGroupIDToMemberParams) (SaveGroupIDToMemberResult, error) {
	return SaveGroupIDToMemberResult{}, notThereYet()
}
