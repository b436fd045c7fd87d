package botctx

import (
	"context"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/record"
	"github.com/botctx/go-sdk/send"
)

// Inbound is what arrived on a channel.
type Inbound struct {
	// App and Channel are the ids of where it arrived. Required.
	App     string
	Channel string
	// Event is the message event. Its From is the id of the member on the platform.
	// Required.
	Event send.MessageEvent
	// Profile is what the platform says of a member who was not known yet: names,
	// locale and so on. Its ExternalID is the event's From.
	Profile member.Member
}

// Receive runs the logic for a message event that arrived, and returns when it has
// run. A member who was not known is made.
//
// InvalidArgument: the app, the channel or the event's sender is missing. NotFound:
// the app has no such channel. FailedPrecondition: no logic was set. Otherwise the
// error is that of the logic; a panic in it is Internal.
func (r *Runtime) Receive(ctx context.Context, inbound Inbound) (err error) {
	defer func() { err = orPanic(err, recover()) }()
	action := r.action.Load()
	if action == nil {
		return boterr.New(boterr.FailedPrecondition, "", "the Runtime has no logic: call HandleFunc before Receive")
	}
	bot, err := r.arrive(ctx, inbound)
	if err != nil {
		return err
	}
	return (*action)(ctx, bot)
}

// arrive makes the context for what arrived.
func (r *Runtime) arrive(ctx context.Context, inbound Inbound) (*Context, error) {
	switch {
	case inbound.App == "":
		return nil, boterr.Invalid("App", "is missing: name the app that the channel belongs to")
	case inbound.Channel == "":
		return nil, boterr.Invalid("Channel", "is missing: name the channel on which the event arrived")
	case inbound.Event.From == "":
		return nil, boterr.Invalid("Event.From", "is missing: give the sender's id on the platform")
	}
	scope := record.Scope{App: inbound.App, Channel: inbound.Channel}
	loaded, err := r.loader(scope).Load(ctx, inbound.Channel)
	if err != nil {
		return nil, boterr.In("Channel", err)
	}
	sender, err := r.sender(ctx, inbound)
	if err != nil {
		return nil, boterr.In("Profile", err)
	}
	scope.Member = sender.ID
	bot := r.Operations(scope)
	bot.Channel, bot.Member, bot.MessageEvent = loaded, sender, &inbound.Event
	return bot, nil
}

// sender returns the member who sent what arrived, by the host's function or the
// SDK's own.
func (r *Runtime) sender(ctx context.Context, inbound Inbound) (*member.Member, error) {
	if r.config.Arrive != nil {
		arrived, err := r.config.Arrive(ctx, inbound)
		if err == nil && arrived == nil {
			err = boterr.New(boterr.Internal, "", "the host's Arrive gave neither a member nor an error")
		}
		return arrived, err
	}
	scope := record.Scope{App: inbound.App, Channel: inbound.Channel}
	profile := inbound.Profile
	profile.App, profile.Channel, profile.ExternalID = inbound.App, inbound.Channel, inbound.Event.From
	arrival, err := member.New(r.env, scope, r.parts(scope).Channels).Arrive(ctx, profile)
	if err != nil {
		return nil, err
	}
	return arrival.Member, nil
}
