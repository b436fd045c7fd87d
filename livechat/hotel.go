package livechat

import (
	"context"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send"
)

// CreateHotelChannel implements Operations.
func (s *Service) CreateHotelChannel(ctx context.Context, p CreateHotelChannelParams) (_ CreateHotelChannelResult, err error) {
	defer s.guard(ctx, &err)
	switch {
	case p.HotelGroupID == "":
		return CreateHotelChannelResult{}, missing("hotelGroupId", "the group on Hotel")
	case p.DisplayName == "":
		return CreateHotelChannelResult{}, boterr.Invalid("displayName", "is missing: give the name of the new channel")
	}
	in, err := s.channelParameter(ctx, p.Channel, "")
	if err != nil {
		return CreateHotelChannelResult{}, err
	}
	if err := in.RequireType(channel.Hotel); err != nil {
		return CreateHotelChannelResult{}, at(fieldChannel, err)
	}
	creator, err := portOf[ChannelCreator](s.core, in, "make channels")
	if err != nil {
		return CreateHotelChannelResult{}, at(fieldChannel, err)
	}
	reply, err := creator.CreateChannel(ctx, in, p.HotelGroupID, p.DisplayName)
	if err != nil {
		return CreateHotelChannelResult{}, send.PlatformError(ctx, in.Type, err)
	}
	if reply.IsZero() {
		reply = document.O()
	}
	return CreateHotelChannelResult{OK: 1, Result: reply}, nil
}
