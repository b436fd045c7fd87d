package livechat

import (
	"context"

	"github.com/botctx/go-sdk/send"
)

// SendMessageToInlet implements Operations.
func (s *Service) SendMessageToInlet(context.Context, SendMessageToInletParams) (send.Result, error) {
	return send.Result{}, notThereYet()
}

// SendMessageToInletGroup implements Operations.
func (s *Service) SendMessageToInletGroup(context.Context, SendMessageToInletGroupParams) (send.Result, error) {
	return send.Result{}, notThereYet()
}
