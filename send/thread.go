package send

import (
	"context"
	"fmt"

	"github.com/botctx/go-sdk/channel"
)

// AlphaPassThreadControl implements Operations.
func (s *Service) AlphaPassThreadControl(
	ctx context.Context, p AlphaPassThreadControlParams,
) (AlphaPassThreadControlResult, error) {
	requires := requirement{platform: channel.Alpha, what: "hand on conversations"}
	with, err := contactWith[ThreadPasser](ctx, s, p.Channel, p.Member, requires)
	if err == nil {
		err = canceled(ctx)
	}
	if err != nil {
		return AlphaPassThreadControlResult{}, err
	}
	handover := ThreadHandover{TargetAppID: p.TargetAppID, Metadata: p.Metadata}
	of := fmt.Sprintf("thread %q %q", with.in.ID, with.to)
	return Once(ctx, s.env, of, func(ctx context.Context) (AlphaPassThreadControlResult, error) {
		err := with.port.PassThreadControl(ctx, with.in, with.to, handover)
		return AlphaPassThreadControlResult{Success: true}, PlatformError(ctx, with.in.Type, err)
	})
}
