package send

import (
	"context"
	"errors"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/member"
)

// channelWith returns the channel that a call names and a port of its platform.
func channelWith[Port any](
	ctx context.Context, s *Service, given *channel.Channel, what string, allowed ...channel.Type,
) (*channel.Channel, Port, error) {
	var none Port
	named := channels.ByRecord(s.scope, given)
	in, err := channels.Load(ctx, s.ports.Channels, named, allowed...)
	if err != nil {
		return nil, none, err
	}
	port, err := RequirePort[Port](s.ports.Connectors, in, what)
	if err != nil {
		return nil, none, boterr.WithField(named.Field(), err)
	}
	return in, port, nil
}

// contact is a member on a platform, with a port of that platform.
type contact[Port any] struct {
	in   *channel.Channel
	port Port
	// to is the member's id on the platform.
	to string
}

// contactWith returns the member that a call names, or the scope's own, on the platform of
// the channel that it names.
func contactWith[Port any](
	ctx context.Context, s *Service, given *channel.Channel, who *member.Member, requires requirement,
) (contact[Port], error) {
	named := members.ByRecord(s.scope, who)
	if _, err := named.Resolve(); err != nil {
		return contact[Port]{}, err
	}
	in, port, err := channelWith[Port](ctx, s, given, requires.what, requires.platform)
	if err != nil {
		return contact[Port]{}, err
	}
	m, err := s.loadMember(ctx, in, named)
	if err != nil {
		return contact[Port]{}, err
	}
	to, err := m.RequireExternalID()
	if err != nil {
		return contact[Port]{}, boterr.WithField(named.Field(), err)
	}
	return contact[Port]{in: in, port: port, to: to}, nil
}

// requirement is what an operation asks of a channel: its platform, and what the connector
// must do, such as "put labels on members".
type requirement struct {
	platform channel.Type
	what     string
}

// PlatformError gives the error of a connector, or of a further port of one, its code: its
// own, Canceled where the caller's context ended, and else Unavailable, a time-out of the
// connector's own included. It is for packages that use ports of their own.
func PlatformError(ctx context.Context, platform channel.Type, err error) error {
	if err == nil {
		return nil
	}
	known, isError := errors.AsType[*boterr.Error](err)
	_, isCode := errors.AsType[boterr.Code](err)
	switch {
	case isError && known == nil:
		return boterr.New(boterr.Internal, "",
			"whether the platform did it is not known: the connector for channels of type %s returned a nil *boterr.Error as its error: "+
				"have it return nil itself where all is well", platform)
	case isError || isCode:
		return boterr.PrefixField("", err)
	case ctx.Err() != nil:
		return boterr.New(boterr.Canceled, "", "whether the platform did it is not known: %w", err)
	default:
		return boterr.New(boterr.Unavailable, "", "the platform of type %s gave no answer: %w", platform, err)
	}
}

// atResponse puts the field of an error for what a platform cannot show, or does not have, behind
// "response".
func atResponse(err error) error {
	switch boterr.CodeOf(err) {
	case boterr.InvalidArgument, boterr.Unsupported:
		return boterr.PrefixField("response", err)
	default:
		return err
	}
}

// canceled is the error where ctx ended before a platform was asked, nil where it did not.
func canceled(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return boterr.New(boterr.Canceled, "", "the platform was not asked: %w", err)
	}
	return nil
}
