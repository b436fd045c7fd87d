package sendtest

import (
	"slices"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/send"
)

var deliveryRules = []Rule{
	{
		Name: "DeliveryTellsWhatThePlatformKnows",
		Text: "a Delivery has a reply that JSON can hold, an id that no other message has, and the time in milliseconds; " +
			"each may be absent",
		check: func(t *trial) {
			first, second := t.mustSend(t.message(send.Text("One"))), t.mustSend(t.message(send.Text("Two")))
			for _, delivery := range []send.Delivery{first, second} {
				requireReply(t, delivery.Reply)
				requireMilliseconds(t, delivery.Timestamp)
			}
			require.True(t, first.MessageID == "" || first.MessageID != second.MessageID, "two messages have the id %q", first.MessageID)
		},
	},
	{
		Name: "ResultHasThePlatformsShape",
		Text: "the result of a send has the keys and the text of its platform (channel.Platform.Result), and can be read again",
		check: func(t *trial) {
			result, err := send.Deliver(t.Context(), record.Env{}, t.Connector, t.message(send.Text("Hello")))
			require.NoError(t, err)
			text, err := result.MarshalJSON()
			require.NoError(t, err)
			var object document.Object
			require.NoError(t, object.UnmarshalJSON(text))
			shape := channel.PlatformOf(t.Channel.Type).Result
			require.Subset(t, object.Keys(), shape.Keys)
			require.Subset(t, slices.Concat(shape.Keys, shape.Optional), object.Keys())
			require.Equal(t, "Hello", document.Get(object, shape.Text, ""), "the text at %s of %s", shape.Text, text)
			requireOwnWords(t, object)
			var read send.Result
			require.NoError(t, read.UnmarshalJSON(text))
			if t.Channel.Type != channel.Echo { // Its words hold no id.
				require.Equal(t, result.MessageEvent.MessageID, read.For(t.Channel.Type).MessageEvent.MessageID, "the id, read again")
			}
		},
	},
	{
		Name:    "MessageIDIsHandedOn",
		Text:    "the platform is given the ID of each message, the same again for the same message, so that it can tell a repetition",
		applies: func(h *Harness) bool { return !h.HasNoKeys },
		check: func(t *trial) {
			first, second := t.message(send.Text("One")), t.message(send.Text("Two"))
			for _, message := range []send.Message{first, second, first} {
				t.mustSend(message)
			}
			arrived := t.Arrived()
			require.GreaterOrEqual(t, len(arrived), 2)
			keys := []string{first.ID, second.ID, first.ID}
			for i, arrival := range arrived {
				require.Equal(t, keys[i], arrival.Key, "the key of message %d", i)
			}
		},
	},
	{
		Name: "EachChannelUsesItsOwnCredentials",
		Text: "one connector serves every channel of its type, each with its own credentials",
		check: func(t *trial) {
			for i, in := range []*channel.Channel{t.Channel, t.Other, t.Channel} {
				message := t.message(send.Text("Hello"))
				message.Channel = in
				t.mustSend(message)
				arrived := t.Arrived()
				require.Len(t, arrived, i+1, "messages that arrived")
				require.Equal(t, in.ID, arrived[i].Channel)
			}
		},
	},
}

// requireReply checks that a platform's reply can be written as JSON.
func requireReply(t *trial, reply document.Object) {
	t.Helper()
	require.NoError(t, reply.Err(), "the reply is no value")
	_, err := document.AppendJSON(nil, reply)
	require.NoError(t, err, "the reply cannot be written as JSON")
}

// requireMilliseconds checks that a time is absent, or of the years from 2001 on. As a number
// of milliseconds, one of seconds is of 1970.
func requireMilliseconds(t *trial, at document.Timestamp) {
	t.Helper()
	if at.IsZero() {
		return
	}
	year := time.UnixMilli(int64(at)).UTC().Year()
	require.True(t, year >= 2001 && year < 3000, "the time %d is in the year %d: give Unix milliseconds", int64(at), year)
}

// requireOwnWords checks what a result in a platform's own words says.
func requireOwnWords(t *trial, result document.Object) {
	t.Helper()
	if t.Channel.Type != channel.Charlie {
		return
	}
	require.True(t, document.Get(result, "ok", false), "ok of %s", result)
	require.NotEmpty(t, document.Get(result, "channel", ""), "channel of %s", result)
	ts, _ := result.Field("ts")
	var read send.MessageTS
	require.NoError(t, read.DecodeValue(ts), "ts of %s", result)
}
