package livechat

import (
	"context"
	"errors"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/send"
)

// TakeByTap gives a request to the agent who tapped on its ticket, as Take does. Such a tap
// is an event of type PAYLOAD of which the payload is TakePayload, or the value is the id of
// an assignment that was offered in the channel: a ticket of the bot's own has that value in
// all that can be tapped and has no other one. It reports whether the agent has the request
// now. Other events are none of its business: then it does nothing, and there is no error. It
// is for hosts, which call it for the events in outlet channels that no node of the bot
// answers.
//
// Errors are those of Take, with the same fields.
func (s *Service) TakeByTap(ctx context.Context, channelID string, event send.MessageEvent) (_ bool, err error) {
	defer s.guard(ctx, &err)
	assignmentID, isTap, err := s.tapped(ctx, channelID, event)
	if err != nil || !isTap {
		return false, err
	}
	_, err = s.Take(ctx, TakeParams{
		AssignmentID: assignmentID, ChannelID: channelID, AdminExternalID: event.From, BroadcastGroupID: event.To,
	})
	return err == nil, err
}

// tapped returns the id of the assignment on whose ticket an event is a tap, and whether it
// is one.
func (s *Service) tapped(ctx context.Context, channelID string, event send.MessageEvent) (string, bool, error) {
	if event.Type != send.TypePayload {
		return "", false, nil
	}
	id, _ := event.Value().(string)
	if event.Payload() == TakePayload {
		return id, true, nil
	}
	if id == "" {
		return "", false, nil
	}
	r, err := s.loadAssignment(ctx, id)
	if errors.Is(err, boterr.NotFound) {
		return "", false, nil
	}
	return id, err == nil && r.isOfferedIn(channelID), err
}
