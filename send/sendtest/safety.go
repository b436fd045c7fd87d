package sendtest

import (
	"context"
	"errors"
	"fmt"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/conformance"
	"github.com/botctx/go-sdk/send"
)

// The sends of concurrentSendsArrive.
const (
	senders       = 8
	eachSenderHas = 6
)

var safetyRules = []Rule{
	{
		Name:  "ConcurrentSendsArriveOnce",
		Text:  "a connector is safe for concurrent use: each of many messages at once arrives once, at its recipient, in its channel",
		check: concurrentSendsArrive,
	},
	{
		Name: "NothingGivenIsChanged",
		Text: "a connector does not change the channel, the member or the response that it is given",
		check: func(t *trial) {
			for _, sample := range samples() {
				message := t.message(sample.response)
				before := t.picture(message)
				_, _ = t.send(t.Context(), message)
				require.Equal(t, before, t.picture(message), sample.name)
			}
		},
	},
	{
		Name: "AbsentFieldsAreErrors",
		Text: "a message without a channel, a recipient or a response never panics, and is an error where it is not sent",
		check: func(t *trial) {
			for name, message := range map[string]func(m *send.Message){
				"nothing":      func(m *send.Message) { *m = send.Message{} },
				"no channel":   func(m *send.Message) { m.Channel = nil },
				"no recipient": func(m *send.Message) { m.To, m.Member = "", nil },
				"no response":  func(m *send.Message) { m.Response = send.Response{} },
				"empty fields": func(m *send.Message) {
					m.Response = send.Raw(document.O("type", nil, "buttons", 7, "text", document.A()))
				},
			} {
				m := t.message(send.Text("Hello"))
				message(&m)
				before := len(t.Arrived())
				if _, err := t.send(t.Context(), m); err == nil {
					require.Greater(t, len(t.Arrived()), before, "%s: no error, and nothing arrived", name)
				}
			}
			for _, ask := range asks(t.Harness) {
				require.Error(t, t.try(ask.name, func() error { return ask.do(t, t.Context(), nil) }), "%s without a channel", ask.name)
			}
		},
	},
	{
		Name:    "ChannelWithoutCredentialsIsFailedPrecondition",
		Text:    "a channel without credentials, or with those of another platform, is FailedPrecondition, and the platform is not asked",
		applies: func(h *Harness) bool { return h.has(BadCredentials) },
		check: func(t *trial) {
			for name, info := range map[string]channel.Info{
				"no info": nil, "empty info": channel.OtherInfo{}, "another platform's info": channel.DeltaInfo{TbID: "7"},
			} {
				for _, ask := range asks(t.Harness) {
					err := t.try(ask.name, func() error { return ask.do(t, t.Context(), t.in(info)) })
					t.requireCode(boterr.FailedPrecondition, err, ask.name+" with "+name)
				}
			}
			require.Empty(t, t.Arrived())
		},
	},
}

// picture returns a message in one text, credentials included.
func (t *trial) picture(m send.Message) string {
	t.Helper()
	in, err := document.Encode(m.Channel)
	require.NoError(t, err)
	to, err := document.Encode(m.Member)
	require.NoError(t, err)
	return fmt.Sprintf("%s %s %s", in, to, m.Response)
}

func concurrentSendsArrive(t *trial) {
	channels := []*channel.Channel{t.Channel, t.Other}
	var messages []send.Message
	for i := range senders * eachSenderHas {
		message := t.messageTo(t.Members[i%2], send.Text(fmt.Sprintf("message number %d", i)))
		message.Channel = channels[i/2%2]
		messages = append(messages, message)
	}
	errs := conformance.AtOnce(senders, func(sender int) error {
		var errs []error
		for i := range eachSenderHas {
			_, err := t.send(t.Context(), messages[sender*eachSenderHas+i])
			errs = append(errs, err)
		}
		return errors.Join(errs...)
	})
	require.NoError(t, errors.Join(errs...))
	expected, got := map[string]string{}, map[string]string{}
	for _, m := range messages {
		expected[m.Response.Text()] = m.Channel.ID + " " + m.To
	}
	arrived := t.Arrived()
	for _, arrival := range arrived {
		got[arrival.Text] = arrival.Channel + " " + arrival.To
	}
	require.Equal(t, expected, got)
	require.Len(t, arrived, len(messages), "messages that arrived")
}

// canceledContext returns a context that has ended.
func canceledContext(ctx context.Context) context.Context {
	ended, cancel := context.WithCancel(ctx)
	cancel()
	return ended
}
