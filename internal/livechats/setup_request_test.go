package livechats_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/livechats"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// ask asks for a person for ada, from JSON.
func (s *fixture) ask(t *testing.T, params string) (livechat.CreateAssignmentResult, error) {
	t.Helper()
	return s.mine.CreateAssignment(t.Context(), paramsOf[livechat.CreateAssignmentParams](t, params))
}

// paramsOf reads the parameters of an operation from JSON.
func paramsOf[P any](t *testing.T, text string) P {
	t.Helper()
	var p P
	require.NoError(t, document.DecodeJSON([]byte(text), &p), text)
	return p
}

// mustAsk asks for a person for ada, and returns the assignment as it is stored then.
func (s *fixture) mustAsk(t *testing.T, params string) *livechat.AssignmentRecord {
	t.Helper()
	result, err := s.ask(t, params)
	require.NoError(t, err)
	require.True(t, result.Member.BotMeta.LiveChat())
	return s.record(t, result.AssignmentID)
}

// sentTo returns to whom messages went, each as "desk C1".
func (s *fixture) sentTo() []string {
	to := []string{}
	for _, message := range s.platform.sent() {
		to = append(to, message.Channel.ID+" "+message.To)
	}
	return to
}

// lastSent returns the last message.
func (s *fixture) lastSent(t *testing.T) send.Response {
	t.Helper()
	sent := s.platform.sent()
	require.NotEmpty(t, sent)
	return sent[len(sent)-1].Response
}

// assignments returns all assignments of a member as they are stored.
func (s *fixture) assignments(t *testing.T, memberID string) []*livechat.AssignmentRecord {
	t.Helper()
	return s.assignmentsThat(t, document.O("member", memberID))
}

// assignmentsThat returns the assignments that match, as they are stored.
func (s *fixture) assignmentsThat(t *testing.T, filter document.Object) []*livechat.AssignmentRecord {
	t.Helper()
	which, err := query.CompileFilter(filter)
	require.NoError(t, err)
	found, err := s.store.Collection("assignments").Find(t.Context(), which, store.FindOptions{})
	require.NoError(t, err)
	records := make([]*livechat.AssignmentRecord, len(found))
	for i, o := range found {
		require.NoError(t, document.Decode(o, &records[i]))
	}
	return records
}

// unsentOf returns the targets that an error says got nothing.
func unsentOf(t *testing.T, err error) *livechat.UnsentError {
	t.Helper()
	e, ok := boterr.AsError(err)
	require.True(t, ok)
	unsent, ok := e.Err.(*livechat.UnsentError) //nolint:errorlint // What stands behind the error is what is promised.
	require.True(t, ok, "%v", err)
	return unsent
}

// laterStore is a store whose clock is ahead.
type laterStore struct {
	store.Store

	by time.Duration
}

// Now implements store.Store.
func (l laterStore) Now(ctx context.Context) (time.Time, error) {
	now, err := l.Store.Now(ctx)
	return now.Add(l.by), err
}

// afterCrash returns the live chats of the app when a call that crashed has lost its place.
func (s *fixture) afterCrash() *livechats.Service {
	env := s.mine.env
	env.Store = laterStore{Store: s.store, by: time.Minute}
	return livechats.New(env, s.mine.scope, s.mine.ports)
}

// hooked is a connector that does something before it sends.
type hooked struct {
	*platform

	before func(send.Message)
}

// Send implements send.Connector.
func (h hooked) Send(ctx context.Context, message send.Message) (send.Delivery, error) {
	h.before(message)
	return h.platform.Send(ctx, message)
}

// before makes all platforms do something before they send.
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

// strict makes live chats refuse what a platform does not know.
func strict(p *livechats.Ports) { p.IsStrict = true }

// historyAt gives histories an address.
func historyAt(p *livechats.Ports) {
	p.HistoryURL = func(a *livechat.Assignment) (string, error) { return "https://history.example/" + a.Member, nil }
}

// desk is the address of the channel desk.
func desk() *channel.Channel { return &channel.Channel{ID: "desk"} }

// pairingWith returns a pairing with another outlet in front.
func pairingWith(
	pairing func(context.Context, string) ([]string, error), outlet string,
) func(context.Context, string) ([]string, error) {
	return func(ctx context.Context, inlet string) ([]string, error) {
		paired, err := pairing(ctx, inlet)
		return append([]string{outlet}, paired...), err
	}
}
