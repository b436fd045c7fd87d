package sendtest

import (
	"errors"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/send"
)

var broadcastRules = []Rule{
	{
		Name:    "BroadcastsReachThoseWithTheLabel",
		Text:    "CreateBroadcast stores a message and sends nothing; SendBroadcast sends it to those with the label, and to nobody else",
		applies: func(h *Harness) bool { return offers[send.Broadcaster](h) && offers[send.Labeler](h) },
		check: func(t *trial) {
			id, to := t.storedMessage(), t.Members[1].ExternalID
			require.Empty(t, t.Arrived(), "what arrived when a message was stored")
			t.do("SaveLabel", func() error {
				_, err := port[send.Labeler](t).SaveLabel(t.Context(), t.Channel, to, labelID)
				return err
			})
			t.do("SendBroadcast", func() error { return t.broadcast(id, labelID) })
			arrival := t.only()
			require.Equal(t, to, arrival.To)
			require.Contains(t, arrival.Body, "SpringText")
		},
	},
	{
		Name:    "BroadcastOfNothingIsNotFound",
		Text:    "SendBroadcast of a message, or to a label, that the platform does not have is NotFound",
		applies: offers[send.Broadcaster],
		check: func(t *trial) {
			id := t.storedMessage()
			for name, err := range map[string]error{
				"a message that is not stored": t.try("SendBroadcast", func() error { return t.broadcast(t.UnknownID, labelID) }),
				"a label that nobody has":      t.try("SendBroadcast", func() error { return t.broadcast(id, t.UnknownID) }),
			} {
				t.requireCode(boterr.NotFound, err, "SendBroadcast with "+name)
			}
		},
	},
}

// storedMessage stores a message and returns its id.
func (t *trial) storedMessage() string {
	t.Helper()
	var stored []send.StoredMessage
	t.do("CreateBroadcast", func() (err error) {
		stored, err = port[send.Broadcaster](t).CreateBroadcast(t.Context(), t.Channel, send.Text("SpringText"))
		return err
	})
	require.NotEmpty(t, stored, "messages that were stored")
	id := stored[0].ID()
	require.NotEmpty(t, id, "the id of the stored message, from %s", stored[0].Response)
	return string(id)
}

// broadcast sends a stored message to those with a label.
func (t *trial) broadcast(id, label string) error {
	number, err := port[send.Broadcaster](t).SendBroadcast(t.Context(), t.Channel, send.Broadcast{
		MessageID: id, LabelID: label, NotificationType: "REGULAR",
	})
	if err == nil && number == 0 {
		return errors.New("the platform's number of the broadcast is 0")
	}
	return err
}

// isUnsupportedOrInvalid reports whether an error says that the platform cannot do it.
func isUnsupportedOrInvalid(err error) bool {
	return errors.Is(err, boterr.Unsupported) || errors.Is(err, boterr.InvalidArgument)
}
