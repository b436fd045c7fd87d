package livechats_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

// tapOf is a tap of an agent on what carries a payload, in a conversation.
func tapOf(from, to string, payload any) send.MessageEvent {
	return send.MessageEvent{From: from, To: to, Type: send.TypePayload, Data: document.O("payload", payload)}
}

func TestTakeByTap(t *testing.T) {
	t.Parallel()
	for name, payload := range map[string]any{
		"of the default ticket":         document.O("payload", livechat.TakePayload, "value", "a1"),
		"of a ticket that the bot made": document.O("payload", "ACCEPT", "value", "a1"),
	} {
		s := newFixture(t)
		s.pending(t, "a1", "ada", onlyIn("desk"))
		isTaken, err := s.mine.TakeByTap(t.Context(), "desk", tapOf("eve", "U1", payload))
		require.NoError(t, err, name)
		require.True(t, isTaken, name)
		require.Equal(t, "eve", s.record(t, "a1").Assignee, name)
		require.Contains(t, s.platform.did(), "desk: show on the ticket of C1: Taken by eve.", name)
		require.NotContains(t, s.platform.did(), "desk: show on the ticket of U1: Taken by eve.", name)

		isTaken, err = s.mine.TakeByTap(t.Context(), "desk", tapOf("mallory", "C1", payload))
		require.ErrorIs(t, err, boterr.FailedPrecondition, name)
		require.ErrorContains(t, err, "eve", name)
		require.False(t, isTaken, name)
	}
}

func TestTakeByTap_OtherEvents(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.pending(t, "a1", "ada", onlyIn("desk"))
	before := s.stored(t)
	accept := document.O("payload", "ACCEPT", "value", "a1")
	for name, test := range map[string]struct {
		channel string
		event   send.MessageEvent
	}{
		"a text":                       {"desk", *event("eve", "C1", "a1")},
		"a payload alone":              {"desk", tapOf("eve", "C1", document.O("payload", "ACCEPT"))},
		"the value of something else":  {"desk", tapOf("eve", "C1", document.O("payload", "ACCEPT", "value", "order-7"))},
		"a value that is no text":      {"desk", tapOf("eve", "C1", document.O("payload", "ACCEPT", "value", document.O("id", "a1")))},
		"a channel that got no ticket": {"team", tapOf("eve", "D1", accept)},
		"the tap's payload in a text":  {"desk", send.MessageEvent{From: "eve", Type: send.TypeText, Data: document.O("payload", accept)}},
		"an assignment of another app": {"foreign", tapOf("eve", "C1", accept)},
		"a channel that is not there":  {"nowhere", tapOf("eve", "C1", accept)},
		"a tap on nothing":             {"desk", tapOf("eve", "C1", nil)},
	} {
		live := s.mine
		if test.channel == "foreign" {
			live = s.theirs
		}
		isTaken, err := live.TakeByTap(t.Context(), test.channel, test.event)
		require.NoError(t, err, name)
		require.False(t, isTaken, name)
	}
	require.Equal(t, before, s.stored(t))
}

func TestTakeByTap_Refuses(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.pending(t, "a1", "ada", onlyIn("team"))
	for name, test := range map[string]struct {
		event send.MessageEvent
		code  boterr.Code
		field string
	}{
		"no assignment":    {tapOf("eve", "D1", livechat.TakePayload), boterr.InvalidArgument, "assignmentId"},
		"an unknown one":   {tapOf("eve", "D1", document.O("payload", livechat.TakePayload, "value", "a9")), boterr.NotFound, "assignmentId"},
		"nobody who takes": {tapOf("", "D1", document.O("payload", "ACCEPT", "value", "a1")), boterr.InvalidArgument, "adminExternalId"},
	} {
		isTaken, err := s.mine.TakeByTap(t.Context(), "team", test.event)
		require.ErrorIs(t, err, test.code, name)
		require.Equal(t, test.field, fieldOf(t, err), name)
		require.False(t, isTaken, name)
	}
}
