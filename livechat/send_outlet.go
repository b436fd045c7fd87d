package livechat

import (
	"context"

	"github.com/botctx/go-sdk/send"
)

// SendMessageToOutletGroup implements Operations.
func (s *Service) SendMessageToOutletGroup(context.Context, SendMessageToOutletGroupParams) (send.Result, error) {
	return send.Result{}, notThereYet()
}
