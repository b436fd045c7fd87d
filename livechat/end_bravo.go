package livechat

import (
	"context"
)

// EndBravoLiveChat implements Operations.
func (s *Service) EndBravoLiveChat(context.Context, EndBravoLiveChatParams) ([]EndBravoLiveChatResult, error) {
	return nil, notThereYet()
}
