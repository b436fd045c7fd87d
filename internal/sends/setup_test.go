package sends_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/display"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/internal/sends"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store/memstore"
)

type call func(context.Context, *sends.Service) error

func asked[P, R any](operation func(*sends.Service, context.Context, P) (R, error), p P) call {
	return func(ctx context.Context, s *sends.Service) error {
		_, err := operation(s, ctx, p)
		return err
	}
}

// world is a store with the channels and members of the app "acme", and connectors that keep what they are asked. Its
// channels are "web" of type webchat, with the member "ada", and one of every type, named after the type, with a member
// "m-" plus the type's name.
type world struct {
	t        *testing.T
	env      record.Env
	channels *channels.Service
	members  *members.Service
	able     *able
	// bare is a connector without optional ports.
	bare *outbox
	// parallel is Ports.ParallelSends, and strict Ports.IsStrict.
	parallel int
	strict   bool
	run      sends.Run
}

func newWorld(t *testing.T) *world {
	t.Helper()
	var ids atomic.Int64
	env := record.Env{
		Store: memstore.New(), Now: func() time.Time { return noon },
		NewID: func() string { return "id-" + strconv.FormatInt(ids.Add(1), 10) },
	}
	w := &world{t: t, env: env, able: &able{fileID: "file-1"}, bare: &outbox{}, run: noRun{}, channels: channels.New(env, record.Scope{App: "acme"})}
	w.members = members.New(env, record.Scope{App: "acme"}, w.channels)
	w.able.stored = []send.StoredMessage{{
		Response: document.O("message_creative_id", 5), AccessToken: channel.NewSecret("s3cret"),
	}}
	w.addChannel("web", channel.Webchat)
	w.addMember(member.Member{ID: "ada", Channel: "web", ExternalID: "ext-ada", FirstName: "Ada", BotID: "bot-1"})
	for _, of := range platforms {
		w.addChannel(string(of), of)
		w.addMember(member.Member{
			ID: "m-" + string(of), Channel: string(of), ExternalID: "x-" + string(of), FirstName: "Mia", BotID: "bot",
		})
	}
	return w
}

func (w *world) addChannel(id string, platform channel.Type) {
	w.t.Helper()
	_, err := w.channels.Save(w.t.Context(), &channel.Channel{ID: id, Type: platform})
	require.NoError(w.t, err)
}

func (w *world) addMember(m member.Member) {
	w.t.Helper()
	_, err := w.members.Insert(w.t.Context(), m)
	require.NoError(w.t, err)
}

// of returns the sends of a scope of the app, with a connector for every type of the specification.
func (w *world) of(channelID, memberID string, connector send.Connector) *sends.Service {
	connectors := map[channel.Type]send.Connector{}
	for _, platform := range platforms {
		connectors[platform] = connector
	}
	return w.with(channelID, memberID, connectors)
}

// in is of with the connector able.
func (w *world) in(channelID, memberID string) *sends.Service {
	return w.of(channelID, memberID, w.able)
}

func (w *world) with(channelID, memberID string, connectors map[channel.Type]send.Connector) *sends.Service {
	return sends.New(w.env, record.Scope{App: "acme", Channel: channelID, Member: memberID}, sends.Ports{
		Channels: deaf{w}, Members: deaf{w}, Run: w.run, Connectors: connectors, ParallelSends: w.parallel, IsStrict: w.strict,
	})
}

// noRun is the Run of calls outside of runs.
type noRun struct{}

func (noRun) InFlight(m *member.Member) *member.Member { return m }

func (noRun) IsLeftOut(*member.Member) bool { return false }

func (noRun) Thread(context.Context) sends.Thread { return sends.Thread{} }

// deaf returns the records of a world even after ctx has ended, as a host's ports may do.
type deaf struct{ of *world }

func (d deaf) GetMember(ctx context.Context, p member.GetParams) (*member.Member, error) {
	return d.of.members.GetMember(context.WithoutCancel(ctx), p)
}

func (d deaf) Load(ctx context.Context, id string) (*channel.Channel, error) {
	return d.of.channels.Load(context.WithoutCancel(ctx), id)
}

// own returns the sends of the member of a platform.
func (w *world) own(of channel.Type) *sends.Service {
	return w.in(string(of), "m-"+string(of))
}

// requireUntouched requires that no request was made to any platform.
func (w *world) requireUntouched() {
	w.t.Helper()
	require.Empty(w.t, w.able.sent)
	require.Empty(w.t, w.able.batched)
	require.Empty(w.t, w.able.log)
	require.Empty(w.t, w.bare.sent)
}

// refusal is a call that is refused because of a field, without a request to a platform.
type refusal struct {
	call  call
	code  boterr.Code
	field string
}

// requireRefusals makes calls for the member of a platform and requires each refusal.
func requireRefusals(t *testing.T, of channel.Type, refusals []refusal) {
	t.Helper()
	w := newWorld(t)
	for _, r := range refusals {
		requireField(t, r.call(t.Context(), w.own(of)), r.code, r.field)
		w.requireUntouched()
	}
}

// requireForItsPlatform requires that a call without addresses is Unsupported, with the given field: in channels of
// other types, with an error that names the supported type, and if the host has no connector.
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
		require.ErrorContains(t, err, "only channels of type "+string(of))
	}
	err := made(t.Context(), w.with(string(of), "m-"+string(of), nil))
	requireField(t, err, boterr.Unsupported, field)
	w.requireUntouched()
}

// requirePortNeeded requires that a call is Unsupported if the connector has no optional ports.
func requirePortNeeded(t *testing.T, of channel.Type, field string, made call) {
	t.Helper()
	w := newWorld(t)
	requireField(t, made(t.Context(), w.of(string(of), "m-"+string(of), w.bare)), boterr.Unsupported, field)
	w.requireUntouched()
}

var errPlain = errors.New("no code, token=s3cret")

// requirePlatformErrors requires that errors of a port keep their codes, and that no request is made once the
// context has ended.
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

// noon is the time of a platform's clock.
var noon = time.UnixMilli(1_700_000_000_000).UTC()

var platforms = []channel.Type{
	channel.Alpha, channel.Bravo, channel.Charlie, channel.Delta, channel.Echo,
	channel.Foxtrot, channel.Hotel, channel.Custom, channel.Webchat,
}

// outbox is a connector that stores the messages sent.
type outbox struct {
	mu   sync.Mutex
	sent []send.Message
	// delivery is the answer to messages that do not fail.
	delivery send.Delivery
	// fail are the errors by recipient.
	fail map[string]error
	// before is called for each message if it is not nil.
	before func()
}

func (o *outbox) Send(_ context.Context, message send.Message) (send.Delivery, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.before != nil {
		o.before()
	}
	if err := o.fail[message.To]; err != nil {
		return send.Delivery{}, err
	}
	o.sent = append(o.sent, message)
	return o.delivery, nil
}

func requireField(t *testing.T, err error, code boterr.Code, field string) {
	t.Helper()
	require.ErrorIs(t, err, code)
	e, _ := boterr.AsError(err)
	require.Equal(t, field, e.Field, "%v", err)
}

// marshal returns a value as JSON by its own MarshalJSON.
func marshal(t *testing.T, v any) string {
	t.Helper()
	text, err := document.EncodeJSON(v)
	require.NoError(t, err)
	return string(text)
}

// read reads JSON as a T by its own UnmarshalJSON.
func read[T any](t *testing.T, text string) T {
	t.Helper()
	var value T
	require.NoError(t, json.Unmarshal([]byte(text), &value))
	return value
}

// long returns a text of the given number of characters, each of several bytes.
func long(characters int) string { return strings.Repeat("ß", characters) }

// labeler records the labels that it adds and removes.
type labeler struct {
	log []string
	err error
}

func (l *labeler) SaveLabel(_ context.Context, in *channel.Channel, to, labelID string) (int64, error) {
	l.log = append(l.log, fmt.Sprintf("%s/%s + %s", in.ID, to, labelID))
	return 7, l.err
}

func (l *labeler) RemoveLabel(_ context.Context, in *channel.Channel, to, labelID string) error {
	l.log = append(l.log, fmt.Sprintf("%s/%s - %s", in.ID, to, labelID))
	return l.err
}

// able is a connector with all ports. It records the requests. It returns the set answers or err.
type able struct {
	outbox
	labeler

	batch   send.Batch
	batched []send.Message
	stored  []send.StoredMessage
	fileID  string
	tag     send.TagReply
	updated document.Object
	update  send.MessageUpdate
}

func (a *able) SendBatch(_ context.Context, messages []send.Message) (send.Batch, error) {
	a.batched = messages
	return a.batch, a.err
}

func (a *able) CreateBroadcast(_ context.Context, in *channel.Channel, response send.Response) ([]send.StoredMessage, error) {
	a.log = append(a.log, in.ID+" stores "+response.String())
	return a.stored, a.err
}

func (a *able) SendBroadcast(_ context.Context, in *channel.Channel, broadcast send.Broadcast) (int64, error) {
	a.log = append(a.log, fmt.Sprintf("%s sends %s to %s, %s", in.ID, broadcast.MessageID, broadcast.LabelID, broadcast.NotificationType))
	return 11, a.err
}

func (a *able) UploadAttachment(_ context.Context, in *channel.Channel, kind send.Type, url string) (string, error) {
	a.log = append(a.log, fmt.Sprintf("%s takes %s %s", in.ID, kind, url))
	return a.fileID, a.err
}

func (a *able) PassThreadControl(_ context.Context, in *channel.Channel, to string, handover send.ThreadHandover) error {
	a.log = append(a.log, fmt.Sprintf("%s/%s to %q with %q", in.ID, to, handover.TargetAppID, handover.Metadata))
	return a.err
}

func (a *able) SaveTag(_ context.Context, in *channel.Channel, to string, tagID int64) (send.TagReply, error) {
	a.log = append(a.log, fmt.Sprintf("%s/%s # %d", in.ID, to, tagID))
	return a.tag, a.err
}

func (a *able) ArchiveConversation(_ context.Context, in *channel.Channel, conversationID string) error {
	a.log = append(a.log, in.ID+" archives "+conversationID)
	return a.err
}

func (a *able) UpdateMessage(_ context.Context, in *channel.Channel, update send.MessageUpdate) (document.Object, error) {
	a.log = append(a.log, fmt.Sprintf("%s changes %s/%s", in.ID, update.ConversationID, update.MessageID))
	a.update = update
	return a.updated, a.err
}
