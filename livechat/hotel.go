package livechat

import (
	"context"
)

// CreateHotelChannel implements Operations.
func (s *Service) CreateHotelChannel(context.Context, CreateHotelChannelParams) (CreateHotelChannelResult, error) {
	return CreateHotelChannelResult{}, notThereYet()
}
