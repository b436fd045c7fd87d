package livechats_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/livechats"
	"github.com/botctx/go-sdk/internal/timelimit"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// platform is a connector for all types of channels, with all ports. It records the calls. Tests can make it fail for
// a target.
type platform struct {
	mutex    sync.Mutex
	log      []string
	messages []send.Message
	failing  map[string]error
	ids      int
}

var (
	_ send.Connector           = (*platform)(nil)
	_ livechat.GroupCreator    = (*platform)(nil)
	_ livechat.InviteLinker    = (*platform)(nil)
	_ livechat.GroupIconSetter = (*platform)(nil)
	_ livechat.TicketUpdater   = (*platform)(nil)
	_ livechat.TicketRecaller  = (*platform)(nil)
	_ livechat.ChannelCreator  = (*platform)(nil)
)

// errDown is the platform's default failure.
var errDown = errors.New("connection reset")

func newPlatform() *platform { return &platform{failing: map[string]error{}} }

func (p *platform) connectors() map[channel.Type]send.Connector {
	connectors := map[channel.Type]send.Connector{}
	for _, platform := range []channel.Type{
		channel.Alpha, channel.Bravo, channel.Charlie, channel.Delta, channel.Echo, channel.Foxtrot,
		channel.Hotel, channel.Custom, channel.Webchat,
	} {
		connectors[platform] = p
	}
	return connectors
}

// fail makes all calls for a target fail. A target is a recipient, the broadcast group of a ticket, a group, or the
// name of a new group.
func (p *platform) fail(target string, err error) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.failing[target] = err
}

// work undoes fail.
func (p *platform) work(target string) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	delete(p.failing, target)
}

// did returns the recorded calls as lines such as `desk: send to C1: hello`.
func (p *platform) did() []string {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return slices.Clone(p.log)
}

// forget clears the records.
func (p *platform) forget() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.log, p.messages = nil, nil
}

// sent returns the sent messages in order.
func (p *platform) sent() []send.Message {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return slices.Clone(p.messages)
}

// note records a call for a target, unless the call must fail. It returns a number that is unique to the call.
func (p *platform) note(in *channel.Channel, target, format string, args ...any) (string, error) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if err := p.failing[target]; err != nil {
		return "", err
	}
	p.log = append(p.log, in.ID+": "+fmt.Sprintf(format, args...))
	p.ids++
	return strconv.Itoa(p.ids), nil
}

func (p *platform) Send(ctx context.Context, message send.Message) (send.Delivery, error) {
	if err := ctx.Err(); err != nil {
		return send.Delivery{}, err
	}
	n, err := p.note(message.Channel, message.To, "send to %s: %s", message.To, message.Response.Text())
	if err != nil {
		return send.Delivery{}, err
	}
	p.mutex.Lock()
	p.messages = append(p.messages, message)
	p.mutex.Unlock()
	delivery := send.Delivery{
		Reply:     document.O("n", n),
		MessageID: "message" + n,
		ChatID:    "chat-" + message.To,
		From:      "bot",
		Timestamp: noon,
	}
	if message.Channel.Type == channel.Charlie {
		delivery.Reply = document.O("ok", true, "channel", delivery.ChatID, "ts", noon, "message", message.Response.Object())
	}
	return delivery, nil
}

func (p *platform) CreateGroup(_ context.Context, in *channel.Channel, group livechat.NewGroup) (livechat.CreatedGroup, error) {
	n, err := p.note(in, group.Name, "create group %q for %q", group.Name, group.AdminExternalID)
	if err != nil {
		return livechat.CreatedGroup{}, err
	}
	created := livechat.CreatedGroup{ExternalID: "group" + n}
	if group.NeedsInvitationLink {
		created.InvitationLink = "https://invite.example/" + n
	}
	return created, nil
}

func (p *platform) RenewInviteLink(_ context.Context, in *channel.Channel, groupExternalID string) (string, error) {
	n, err := p.note(in, groupExternalID, "renew link of %s", groupExternalID)
	return "https://invite.example/" + n, err
}

func (p *platform) DisableInviteLink(_ context.Context, in *channel.Channel, groupExternalID string) error {
	_, err := p.note(in, groupExternalID, "disable link of %s", groupExternalID)
	return err
}

func (p *platform) SetGroupIcon(_ context.Context, in *channel.Channel, groupExternalID string, icon livechat.Picture) error {
	_, err := p.note(in, groupExternalID, "icon of %s: %s %s", groupExternalID, icon.ContentType, icon.Bytes)
	return err
}

func (p *platform) ShowTaken(_ context.Context, in *channel.Channel, ticket livechat.Ticket, text string) error {
	return p.onTicket(in, ticket, "show on the ticket of "+ticket.Group.ID+": "+text)
}

func (p *platform) RecallTicket(_ context.Context, in *channel.Channel, ticket livechat.Ticket) error {
	return p.onTicket(in, ticket, "recall the ticket of "+ticket.Group.ID)
}

// onTicket records a call for a ticket. It fails if the ticket was not sent.
func (p *platform) onTicket(in *channel.Channel, ticket livechat.Ticket, what string) error {
	if ticket.MessageID == "" {
		return boterr.New(boterr.NotFound, "", "the ticket of %s was never sent", ticket.Group.ID)
	}
	_, err := p.note(in, ticket.Group.ID, "%s", what)
	return err
}

func (p *platform) CreateChannel(_ context.Context, in *channel.Channel, groupID, displayName string) (document.Object, error) {
	n, err := p.note(in, groupID, "create channel %q in %s", displayName, groupID)
	return document.O("channelId", "channel"+n), err
}

// ask makes a request of ada with parameters in JSON.
func (s *fixture) ask(t *testing.T, params string) (livechat.CreateAssignmentResult, error) {
	t.Helper()
	return s.mine.CreateAssignment(t.Context(), paramsOf[livechat.CreateAssignmentParams](t, params))
}

// paramsOf decodes the parameters of an operation.
func paramsOf[P any](t *testing.T, text string) P {
	t.Helper()
	var p P
	require.NoError(t, document.DecodeJSON([]byte(text), &p), text)
	return p
}

// mustAsk makes a request of ada and returns the stored assignment.
func (s *fixture) mustAsk(t *testing.T, params string) *livechat.AssignmentRecord {
	t.Helper()
	result, err := s.ask(t, params)
	require.NoError(t, err)
	require.True(t, result.Member.BotMeta.LiveChat())
	return s.record(t, result.AssignmentID)
}

// sentTo returns the recipients of all messages, such as "desk C1".
func (s *fixture) sentTo() []string {
	to := []string{}
	for _, message := range s.platform.sent() {
		to = append(to, message.Channel.ID+" "+message.To)
	}
	return to
}

func (s *fixture) lastSent(t *testing.T) send.Response {
	t.Helper()
	sent := s.platform.sent()
	require.NotEmpty(t, sent)
	return sent[len(sent)-1].Response
}

// adas returns the assignments of the member ada.
func (s *fixture) adas(t *testing.T) []*livechat.AssignmentRecord {
	t.Helper()
	return s.assignmentsThat(t, document.O("member", "ada"))
}

// assignmentsThat returns the matching assignments.
func (s *fixture) assignmentsThat(t *testing.T, filter document.Object) []*livechat.AssignmentRecord {
	t.Helper()
	return recordsThat[livechat.AssignmentRecord](t, s.store, "assignments", filter)
}

// recordsThat returns the matching records of a collection.
func recordsThat[R any](t *testing.T, from store.Store, collection string, filter document.Object) []*R {
	t.Helper()
	which, err := query.CompileFilter(filter)
	require.NoError(t, err)
	found, err := from.Collection(collection).Find(t.Context(), which, store.FindOptions{})
	require.NoError(t, err)
	records := make([]*R, len(found))
	for i, o := range found {
		require.NoError(t, document.Decode(o, &records[i]))
	}
	return records
}

// unsentOf returns the *livechat.UnsentError of an error.
func unsentOf(t *testing.T, err error) *livechat.UnsentError {
	t.Helper()
	e, ok := boterr.AsError(err)
	require.True(t, ok)
	unsent, ok := e.Err.(*livechat.UnsentError) //nolint:errorlint // The promise is about the cause.
	require.True(t, ok, "%v", err)
	return unsent
}

// clockStore is a store with another clock.
type clockStore struct {
	store.Store

	now func() time.Time
}

func (c clockStore) Now(context.Context) (time.Time, error) { return c.now(), nil }

// afterCrash returns the app's live chats at a time when the lease of a crashed call has expired.
func (s *fixture) afterCrash() *livechats.Service {
	return s.on(clockStore{s.store, func() time.Time { return timelimit.Now().Add(time.Minute) }})
}

// hooked is a connector that calls a function before each send.
type hooked struct {
	*platform

	before func(send.Message)
}

func (h hooked) Send(ctx context.Context, message send.Message) (send.Delivery, error) {
	h.before(message)
	return h.platform.Send(ctx, message)
}

// before makes all connectors call a function before each send.
func before(do func(*fixture, send.Message)) func(*testing.T) *fixture {
	return func(t *testing.T) *fixture {
		t.Helper()
		var s *fixture
		s = newFixture(t, func(p *livechats.Ports) {
			for kind, connector := range p.Connectors {
				all, ok := connector.(*platform)
				require.True(t, ok)
				p.Connectors[kind] = hooked{platform: all, before: func(m send.Message) { do(s, m) }}
			}
		})
		return s
	}
}

// strict turns on strict mode.
func strict(p *livechats.Ports) { p.IsStrict = true }

// historyAt sets HistoryURL.
func historyAt(p *livechats.Ports) {
	p.HistoryURL = func(a *livechat.Assignment) (string, error) { return "https://history.example/" + a.Member, nil }
}

func desk() *channel.Channel { return &channel.Channel{ID: "desk"} }

// pairingWith returns a pairing with an additional first outlet.
func pairingWith(
	pairing func(context.Context, string) ([]string, error), outlet string,
) func(context.Context, string) ([]string, error) {
	return func(ctx context.Context, inlet string) ([]string, error) {
		paired, err := pairing(ctx, inlet)
		return append([]string{outlet}, paired...), err
	}
}
