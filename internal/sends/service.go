// Package sends implements the operations of package send.
package sends

import (
	"context"
	"errors"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// Ports are the dependencies of a Service.
type Ports struct {
	// Channels loads the channels of the scope's app. Required.
	Channels channels.Loader
	// Members loads the members of the scope's app. Required.
	Members members.Getter
	// Run is the run of bot logic that calls the Service. Required.
	Run Run
	// Connectors must not be modified later.
	Connectors send.Connectors
	// ParallelSends is the number of messages of a call that are sent concurrently. The default is 1.
	ParallelSends int
	// IsStrict refuses parameters that the platform does not support instead of ignoring them.
	IsStrict bool
}

// Run is a run of bot logic.
type Run interface {
	// InFlight returns a member with the changes of the run that are not stored yet. {{path}} is filled from the result.
	InFlight(m *member.Member) *member.Member
	// IsLeftOut reports whether a member gets no messages.
	IsLeftOut(m *member.Member) bool
	// Thread returns the thread in which a call answers the scope's own member, or the zero Thread.
	Thread(ctx context.Context) Thread
}

// Service sends messages for one scope. It is safe for concurrent use.
type Service struct {
	env   record.Env
	scope record.Scope
	ports Ports
}

var _ send.Operations = (*Service)(nil)

// New returns the Service of a scope. SavePostCommentAnalytics stores comments in the store of env. Other operations
// use only its clock and ids.
func New(env record.Env, scope record.Scope, ports Ports) *Service {
	return &Service{env: env.WithDefaults(), scope: scope, ports: ports}
}

// filled returns a response to or about a member, filled and validated.
func (s *Service) filled(response send.Response, m *member.Member) (send.Response, error) {
	if response.IsTemplate() { // InFlight reads fields that the run may change concurrently.
		m = s.ports.Run.InFlight(m)
	}
	filled, err := send.Filled(response, m)
	return filled, boterr.PrefixField("response", err)
}

// channelWith returns the channel in a call and an optional port of its connector. It returns Canceled if ctx has ended.
func channelWith[Port any](
	ctx context.Context, s *Service, given *channel.Channel, what string, allowed ...channel.Type,
) (*channel.Channel, Port, error) {
	var none Port
	named := channels.ByRecord(s.scope, given)
	in, err := channels.Load(ctx, s.ports.Channels, named, allowed...)
	if err != nil {
		return nil, none, err
	}
	port, err := send.RequirePort[Port](s.ports.Connectors, in, what)
	if err != nil {
		return nil, none, boterr.WithField(named.Field(), err)
	}
	return in, port, canceled(ctx)
}

// contact is a member on a platform, with an optional port of its connector.
type contact[Port any] struct {
	in   *channel.Channel
	port Port
	// to is the member's id on the platform.
	to string
}

// contactWith returns the member in a call, or the scope's own member, in the call's channel.
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

// requirement holds the platform and the feature of the connector that an operation requires. The feature is a
// phrase such as "put labels on members".
type requirement struct {
	platform channel.Type
	what     string
}

// PlatformError adds a code to an error of a connector or its ports: the error's own code, Canceled if ctx ended, and
// otherwise Unavailable, even for a timeout of the connector. Packages with other ports use it, too.
func PlatformError(ctx context.Context, platform channel.Type, err error) error {
	if err == nil {
		return nil
	}
	known, isError := errors.AsType[*boterr.Error](err)
	_, isCode := errors.AsType[boterr.Code](err)
	switch {
	case isError && known == nil:
		return boterr.New(boterr.Internal, "",
			"it is not known whether the platform did it: the connector for channels of type %s returned a nil *boterr.Error as its error; "+
				"it should return a plain nil if it succeeded", platform)
	case isError || isCode:
		return boterr.PrefixField("", err)
	case ctx.Err() != nil:
		return boterr.New(boterr.Canceled, "", "it is not known whether the platform did it: %w", err)
	default:
		return boterr.New(boterr.Unavailable, "", "the platform of type %s did not answer: %w", platform, err)
	}
}

// atResponse prefixes the field with "response" in errors about the response.
func atResponse(err error) error {
	switch boterr.CodeOf(err) {
	case boterr.InvalidArgument, boterr.Unsupported:
		return boterr.PrefixField("response", err)
	default:
		return err
	}
}

func canceled(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return boterr.New(boterr.Canceled, "", "the platform was not asked: %w", err)
	}
	return nil
}

// recipients returns the members in a call in order and without duplicates, or the scope's own member. There is at
// least one. A single member is appended to room.
func (s *Service) recipients(
	given *member.Member, ids document.OneOrMany[string], room []record.Ref,
) ([]record.Ref, error) {
	if ids == nil {
		only := members.ByRecordOrID(s.scope, given, "")
		_, err := only.Resolve()
		return append(room, only), err
	}
	if len(ids) == 0 {
		return nil, boterr.Invalid("memberId", "is an empty list; give at least one id, or leave it out for the context's own member")
	}
	seen := make(map[string]bool, len(ids))
	recipients := make([]record.Ref, 0, len(ids))
	for i, id := range ids {
		named := members.ByRecordOrID(s.scope, given, id)
		if len(ids) > 1 {
			named.IDParameter += boterr.Index(i)
		}
		if id == "" {
			return nil, boterr.Invalid(named.IDParameter, "is empty; give a member's id")
		}
		if _, err := named.Resolve(); err != nil {
			return nil, err
		}
		if !seen[id] {
			seen[id] = true
			recipients = append(recipients, named)
		}
	}
	return recipients, nil
}

// loadMember returns the stored member. The member must be in the channel.
func (s *Service) loadMember(ctx context.Context, in *channel.Channel, named record.Ref) (*member.Member, error) {
	m, err := members.Load(ctx, s.ports.Members, named)
	if err != nil {
		return nil, err
	}
	if err := m.RequireChannel(in.ID); err != nil {
		return nil, boterr.WithField(named.Field(), err)
	}
	return m, nil
}

// Once calls an optional port of a connector with an idempotency key (see send.KeyOf), unless an earlier attempt of
// the same run completed the call (see record.Once). of identifies the request. Equal requests are distinguished by
// their order. Packages with other ports use it, too.
func Once[T any](ctx context.Context, env record.Env, of string, ask func(ctx context.Context) (T, error)) (T, error) {
	env = env.WithDefaults()
	return onceUnder(ctx, env, env.SendID(ctx, of), ask)
}

func onceUnder[T any](ctx context.Context, env record.Env, key string, ask func(ctx context.Context) (T, error)) (T, error) {
	return record.Once(send.WithKey(ctx, key), env, key, ask)
}
