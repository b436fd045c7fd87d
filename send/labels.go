package send

import (
	"context"
	"fmt"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/member"
)

// AlphaSaveCustomLabel implements Operations.
func (s *Service) AlphaSaveCustomLabel(ctx context.Context, p AlphaSaveCustomLabelParams) (AlphaSaveCustomLabelResult, error) {
	with, err := s.labeled(ctx, p.Channel, p.Member, p.LabelID)
	if err != nil {
		return AlphaSaveCustomLabelResult{}, err
	}
	of := fmt.Sprintf("label %q %q %q", with.in.ID, with.to, p.LabelID)
	return Once(ctx, s.env, of, func(ctx context.Context) (AlphaSaveCustomLabelResult, error) {
		id, err := with.port.SaveLabel(ctx, with.in, with.to, p.LabelID)
		return AlphaSaveCustomLabelResult{ID: id}, PlatformError(ctx, with.in.Type, err)
	})
}

// AlphaRemoveCustomLabel implements Operations.
func (s *Service) AlphaRemoveCustomLabel(
	ctx context.Context, p AlphaRemoveCustomLabelParams,
) (AlphaRemoveCustomLabelResult, error) {
	with, err := s.labeled(ctx, p.Channel, p.Member, p.LabelID)
	if err != nil {
		return AlphaRemoveCustomLabelResult{}, err
	}
	of := fmt.Sprintf("label off %q %q %q", with.in.ID, with.to, p.LabelID)
	return Once(ctx, s.env, of, func(ctx context.Context) (AlphaRemoveCustomLabelResult, error) {
		err := with.port.RemoveLabel(ctx, with.in, with.to, p.LabelID)
		return AlphaRemoveCustomLabelResult{Success: true}, PlatformError(ctx, with.in.Type, err)
	})
}

// labeled returns the member whose label is to change.
func (s *Service) labeled(
	ctx context.Context, given *channel.Channel, who *member.Member, labelID string,
) (contact[Labeler], error) {
	if labelID == "" {
		return contact[Labeler]{}, boterr.Missing("labelId", "the id of a label")
	}
	with, err := contactWith[Labeler](ctx, s, given, who, requirement{platform: channel.Alpha, what: "put labels on members"})
	if err == nil {
		err = canceled(ctx)
	}
	return with, err
}
