package send_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/display"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// call is one call of an operation.
type call func(context.Context, *send.Service) error

// asked returns the call of an operation with parameters.
func asked[P, R any](operation func(*send.Service, context.Context, P) (R, error), p P) call {
	return func(ctx context.Context, s *send.Service) error {
		_, err := operation(s, ctx, p)
		return err
	}
}

// world is a platform with a channel of every type, named for it. Each has the member "m-"
// and the type's name, and "bare-" and the type's name, which has no id on the platform.
// The app "other" has the Alpha channel "theirs" with the member "eve".
type world struct {
	*platform

	able *able
	// bare is a connector without further ports.
	bare *outbox
	// parallel is Ports.ParallelSends.
	parallel int
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{platform: newPlatform(t), able: &able{fileID: "file-1"}, bare: &outbox{}}
	w.able.stored = []send.StoredMessage{{
		Response: document.O("message_creative_id", 5), AccessToken: channel.NewSecret("s3cret"),
	}}
	for _, of := range platforms {
		w.addChannel(string(of), of)
		w.addMember(member.Member{
			ID: "m-" + string(of), Channel: string(of), ExternalID: "x-" + string(of), FirstName: "Mia", BotID: "bot",
		})
		w.addBare(string(of))
	}
	foreign := channels.New(w.env, record.Scope{App: "other"})
	_, err := foreign.Save(t.Context(), &channel.Channel{ID: "theirs", Type: channel.Alpha})
	require.NoError(t, err)
	_, err = members.New(w.env, record.Scope{App: "other"}, foreign).Insert(t.Context(), member.Member{
		ID: "eve", Channel: "theirs", ExternalID: "x-eve",
	})
	require.NoError(t, err)
	return w
}

// addBare adds a member without an id on the platform, which a host's own members may have.
func (w *world) addBare(of string) {
	w.t.Helper()
	w.addMember(member.Member{ID: "bare-" + of, Channel: of})
}

// GetMember gives the members, the bare ones without their externalId.
func (w *world) GetMember(ctx context.Context, p member.GetMemberParams) (*member.Member, error) {
	m, err := w.members.GetMember(ctx, p)
	if err == nil && len(p.MemberID) > 5 && p.MemberID[:5] == "bare-" {
		m.ExternalID = ""
	}
	return m, err
}

// of returns the sends of a scope of the app, with a connector for every type of the
// specification.
func (w *world) of(channelID, memberID string, connector send.Connector) *send.Service {
	connectors := map[channel.Type]send.Connector{}
	for _, platform := range platforms {
		connectors[platform] = connector
	}
	return w.with(channelID, memberID, connectors)
}

func (w *world) with(channelID, memberID string, connectors map[channel.Type]send.Connector) *send.Service {
	return send.New(w.env, record.Scope{App: "acme", Channel: channelID, Member: memberID}, send.Ports{
		Channels: deaf{w}, Members: deaf{w}, Connectors: connectors, ParallelSends: w.parallel,
	})
}

// deaf are the records of a world, as a host's own ports may give them: whether ctx has ended
// or not.
type deaf struct{ of *world }

func (d deaf) GetMember(ctx context.Context, p member.GetMemberParams) (*member.Member, error) {
	return d.of.GetMember(context.WithoutCancel(ctx), p)
}

func (d deaf) Load(ctx context.Context, id string) (*channel.Channel, error) {
	return d.of.channels.Load(context.WithoutCancel(ctx), id)
}

// own returns the sends of the member of a platform.
func (w *world) own(of channel.Type) *send.Service {
	return w.of(string(of), "m-"+string(of), w.able)
}

// requireUntouched asks that no platform was asked anything.
func (w *world) requireUntouched() {
	w.t.Helper()
	require.Empty(w.t, w.able.sent)
	require.Empty(w.t, w.able.batched)
	require.Empty(w.t, w.able.log)
	require.Empty(w.t, w.bare.sent)
}

// refusal is a call that is refused at a field, before a platform is asked.
type refusal struct {
	call  call
	code  boterr.Code
	field string
}

// requireRefusals makes calls for the member of a platform, all of which are refused.
func requireRefusals(t *testing.T, of channel.Type, refusals []refusal) {
	t.Helper()
	w := newWorld(t)
	for _, r := range refusals {
		requireField(t, r.call(t.Context(), w.own(of)), r.code, r.field)
		w.requireUntouched()
	}
}

// requireForItsPlatform asks that a call without addresses is Unsupported at a field in
// channels of other types, which the error lists, and where the connector lacks what the
// call needs.
func requireForItsPlatform(t *testing.T, of channel.Type, field string, made call) {
	t.Helper()
	w := newWorld(t)
	for _, other := range platforms {
		if other == of {
			continue
		}
		err := made(t.Context(), w.own(other))
		requireField(t, err, boterr.Unsupported, field)
		require.ErrorContains(t, err, `of type "`+string(other)+`"`)
		require.ErrorContains(t, err, "for channels of type "+string(of)+" alone")
	}
	err := made(t.Context(), w.with(string(of), "m-"+string(of), nil))
	requireField(t, err, boterr.Unsupported, field)
	w.requireUntouched()
}

// requirePortNeeded asks that a call is Unsupported where the connector has no further ports.
func requirePortNeeded(t *testing.T, of channel.Type, field string, made call) {
	t.Helper()
	w := newWorld(t)
	requireField(t, made(t.Context(), w.of(string(of), "m-"+string(of), w.bare)), boterr.Unsupported, field)
	w.requireUntouched()
}

var errPlain = errors.New("no code, token=s3cret")

// requirePlatformErrors asks that errors of a port come with their code, and that a context
// that ended asks nothing.
func requirePlatformErrors(t *testing.T, of channel.Type, made call) {
	t.Helper()
	for _, c := range []struct {
		err  error
		want boterr.Code
	}{
		{errPlain, boterr.Unavailable},
		{context.DeadlineExceeded, boterr.Unavailable},
		{boterr.New(boterr.NotFound, "", "there is none: %w", errPlain), boterr.NotFound},
		{boterr.ResourceExhausted, boterr.ResourceExhausted},
	} {
		w := newWorld(t)
		w.able.err = c.err
		err := made(t.Context(), w.own(of))
		require.Equal(t, c.want, boterr.CodeOf(err), "%v", err)
		require.ErrorContains(t, err, display.Redact(c.err.Error()), "what the platform said is told")
		require.NotContains(t, err.Error(), "s3cret")
	}
	w := newWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.Equal(t, boterr.Canceled, boterr.CodeOf(made(ctx, w.own(of))))
	w.requireUntouched()
}

// elsewhere is a channel of another app, and strangers a member of it.
func elsewhere() *channel.Channel { return &channel.Channel{ID: "theirs", App: "acme"} }

func stranger() *member.Member { return &member.Member{ID: "eve", App: "acme", Channel: "alpha"} }
