package send

import (
	"context"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
)

// address is how a call names a channel.
type address struct {
	// record and id name it; both may be absent.
	record *channel.Channel
	id     string
	// own is the parameter that a channel of the scope's own is told at.
	own string
}

// byRecord is the address of a call whose only parameter for it is channel.
func byRecord(given *channel.Channel) address { return address{record: given, own: "channel"} }

// byRecordOrID is the address of a call with channel and channelId.
func byRecordOrID(given *channel.Channel, id string) address {
	return address{record: given, id: id, own: "channelId"}
}

// byID is the address of a call whose only parameter for it is channelId.
func byID(id string) address { return address{id: id, own: "channelId"} }

// field is the parameter that names the channel.
func (a address) field() string {
	if a.record != nil {
		return "channel"
	}
	return a.own
}

// channelID returns the id of the channel that a call names, or of the scope's own.
func (s *Service) channelID(a address) (string, error) {
	switch {
	case a.record == nil && a.id == "" && s.scope.Channel == "":
		return "", boterr.Invalid(a.own, "is missing: this context has no channel of its own")
	case a.record == nil && a.id == "":
		return s.scope.Channel, nil
	case a.record == nil:
		return a.id, nil
	case a.record.ID == "":
		return "", boterr.Invalid("channel._id", "is missing: it is what a channel is found by")
	case a.id != "" && a.id != a.record.ID:
		return "", boterr.Invalid("channelId", "is %q, and channel is %q: give one of both", a.id, a.record.ID)
	default:
		return a.record.ID, nil
	}
}

// loadChannel returns the channel that a call names, or the scope's own, as it is stored.
// It must be of one of the types allowed; none stands for any.
func (s *Service) loadChannel(ctx context.Context, a address, allowed ...channel.Type) (*channel.Channel, error) {
	id, err := s.channelID(a)
	if err != nil {
		return nil, err
	}
	loaded, err := s.ports.Channels.Load(ctx, id)
	if err == nil && loaded == nil {
		err = boterr.New(boterr.NotFound, "", "there is no channel %.40q in this app", id)
	}
	if err == nil && len(allowed) > 0 {
		err = loaded.RequireType(allowed...)
	}
	if err != nil {
		return nil, boterr.At(a.field(), err)
	}
	return loaded, nil
}
