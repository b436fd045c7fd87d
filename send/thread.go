package send

import (
	"context"

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
	if err := with.port.PassThreadControl(ctx, with.in, with.to, handover); err != nil {
		return AlphaPassThreadControlResult{}, PlatformError(ctx, with.in.Type, err)
	}
	return AlphaPassThreadControlResult{Success: true}, nil
}
