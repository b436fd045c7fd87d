package livechat

import (
	"context"
)

// EndLiveChat implements Operations.
func (s *Service) EndLiveChat(context.Context, EndLiveChatParams) (EndLiveChatResult, error) {
	return EndLiveChatResult{}, notThereYet()
}

// InletEndLiveChat implements Operations.
func (s *Service) InletEndLiveChat(context.Context, InletEndLiveChatParams) (EndLiveChatResult, error) {
	return EndLiveChatResult{}, notThereYet()
}
