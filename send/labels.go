package send

import (
	"context"

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
	id, err := with.port.SaveLabel(ctx, with.in, with.to, p.LabelID)
	if err != nil {
		return AlphaSaveCustomLabelResult{}, PlatformError(ctx, with.in.Type, err)
	}
	return AlphaSaveCustomLabelResult{ID: id}, nil
}

// AlphaRemoveCustomLabel implements Operations.
func (s *Service) AlphaRemoveCustomLabel(
	ctx context.Context, p AlphaRemoveCustomLabelParams,
) (AlphaRemoveCustomLabelResult, error) {
	with, err := s.labeled(ctx, p.Channel, p.Member, p.LabelID)
	if err != nil {
		return AlphaRemoveCustomLabelResult{}, err
	}
	if err := with.port.RemoveLabel(ctx, with.in, with.to, p.LabelID); err != nil {
		return AlphaRemoveCustomLabelResult{}, PlatformError(ctx, with.in.Type, err)
	}
	return AlphaRemoveCustomLabelResult{Success: true}, nil
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
