package sendtest

import (
	"context"
	"fmt"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// patience is how long a call may take that is to end by itself.
const patience = 20 * time.Second

// trial is one check of one rule.
type trial struct {
	T
	*Harness

	rule Rule
	// patience is how long a call may take that is to end by itself.
	patience time.Duration
	// sent counts the messages that were made.
	sent int
}

func newTrial(t T, rule Rule, h *Harness) *trial {
	withDefaults := *h
	if h.UnknownID == "" {
		withDefaults.UnknownID = "900000000001"
	}
	checked := &trial{T: t, Harness: &withDefaults, rule: rule, patience: patience}
	if h.patience > 0 {
		checked.patience = h.patience
	}
	return checked
}

// Errorf reports what was seen under the rule that it breaks.
func (t *trial) Errorf(format string, args ...any) {
	t.Helper()
	t.T.Errorf("rule broken: %s\n%s", t.rule.Text, fmt.Sprintf(format, args...))
}

// requireComplete checks that the harness has what its connector needs.
func (t *trial) requireComplete() {
	t.Helper()
	require.NotNil(t, t.Connector, "give Harness.Connector")
	require.True(t, t.Channel != nil && t.Other != nil, "give Harness.Channel and Harness.Other")
	require.GreaterOrEqual(t, len(t.Members), 2, "give two Harness.Members")
	require.True(t, t.Arrived != nil && t.Fail != nil, "give Harness.Arrived and Harness.Fail")
	for _, needed := range []struct {
		field              string
		isNeeded, isLacked bool
	}{
		{"Labels", offers[send.Labeler](t.Harness), t.Labels == nil},
		{"Tags", offers[send.Tagger](t.Harness), t.Tags == nil},
		{"Thread", offers[send.ThreadPasser](t.Harness), t.Thread == nil},
		{"Archived", offers[send.ConversationArchiver](t.Harness), t.Archived == nil},
		{"Group", needsGroup(t.Harness), t.Group == ""},
	} {
		require.False(t, needed.isNeeded && needed.isLacked, "give Harness.%s, since the connector has a port that needs it", needed.field)
	}
}

// needsGroup reports whether the connector has a port whose rules need Harness.Group.
func needsGroup(h *Harness) bool {
	return offers[send.ConversationArchiver](h) || offers[livechat.TicketUpdater](h) || offers[livechat.TicketRecaller](h) ||
		offers[livechat.InviteLinker](h) || offers[livechat.GroupNamer](h) || offers[livechat.GroupIconSetter](h) ||
		offers[livechat.ChannelCreator](h)
}

// message returns a new message to a member in the channel.
func (t *trial) message(response send.Response) send.Message {
	return t.messageTo(t.Members[0], response)
}

func (t *trial) messageTo(to *member.Member, response send.Response) send.Message {
	t.sent++
	return send.Message{
		ID: fmt.Sprintf("send-%d", t.sent), Channel: t.Channel, To: to.ExternalID, Member: to, Response: response,
	}
}

// messageToGroup returns a new message to a group, or to whomever else an id means.
func (t *trial) messageToGroup(id string, response send.Response) send.Message {
	message := t.message(response)
	message.To, message.Member = id, nil
	return message
}

// guarded calls a connector. A panic is reported, and returned as an error.
func guarded[Result any](t *trial, name string, call func() (Result, error)) (result Result, err error) {
	t.Helper()
	defer func() {
		if thrown := recover(); thrown != nil {
			t.Errorf("%s panicked: %v", name, thrown)
			err = fmt.Errorf("%s panicked: %v", name, thrown)
		}
	}()
	return call()
}

// send sends a message.
func (t *trial) send(ctx context.Context, message send.Message) (send.Delivery, error) {
	t.Helper()
	return guarded(t, "Send", func() (send.Delivery, error) { return t.Connector.Send(ctx, message) })
}

// mustSend is send where the platform takes the message.
func (t *trial) mustSend(message send.Message) send.Delivery {
	t.Helper()
	delivery, err := t.send(t.Context(), message)
	require.NoError(t, err, "Send of %s", message.Response)
	return delivery
}

// do calls a further port without an error.
func (t *trial) do(name string, call func() error) {
	t.Helper()
	require.NoError(t, t.try(name, call), name)
}

// try calls a further port.
func (t *trial) try(name string, call func() error) error {
	t.Helper()
	_, err := guarded(t, name, func() (struct{}, error) { return struct{}{}, call() })
	return err
}

// within is try for what is to end by itself.
func (t *trial) within(name string, call func() error) error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- t.try(name, call) }()
	timer := time.NewTimer(t.patience)
	defer timer.Stop()
	select {
	case err := <-done:
		return err
	case <-timer.C:
		t.Errorf("%s has not returned", name)
		t.FailNow()
		return nil
	}
}

// port returns a further port that the connector offers.
func port[Port any](t *trial) Port {
	t.Helper()
	found, has := send.PortOf[Port](t.Connector)
	require.True(t, has)
	return found
}

// only returns the message that has arrived, which is the only one.
func (t *trial) only() Arrival {
	t.Helper()
	arrived := t.Arrived()
	require.Len(t, arrived, 1, "messages that arrived")
	return arrived[0]
}

// requireCode checks the code that callers see of an error of the connector.
func (t *trial) requireCode(code boterr.Code, err error, name string) {
	t.Helper()
	require.Error(t, err, name)
	require.Equal(t, string(code), string(t.codeOf(t.Context(), err)), "%s returned: %v", name, err)
}

// codeOf returns the code that callers see of an error of the connector.
func (t *trial) codeOf(ctx context.Context, err error) boterr.Code {
	return boterr.CodeOf(send.PlatformError(ctx, t.Channel.Type, err))
}

// in returns a copy of the channel with another info.
func (t *trial) in(info channel.Info) *channel.Channel {
	changed := *t.Channel
	changed.Info = info
	return &changed
}
