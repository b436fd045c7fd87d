package connectortest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/send"
)

// Compared is a response, with the outcomes of sending it with a connector and with the connector of package fakes. If
// there is no outcome, both must be the same. It is an alias, so that tables need no names of fields.
type Compared = struct {
	Response send.Response
	Outcome  string
	Fake     string
}

// Differences compares a connector with the connector of package fakes. docs/decisions/platforms.md explains why they differ.
type Differences struct {
	// Connector and Fake are the two connectors.
	Connector, Fake send.Connector
	// Message returns the message with a response. Its ID must be the name.
	Message func(name string, response send.Response) send.Message
	// Describe returns the outcome of a delivery that has a MessageID.
	Describe func(t *testing.T, message send.Message, delivery send.Delivery) string
}

// Run requires the outcomes of all responses. The outcome of a refused message is the error's code and field.
func (d Differences) Run(t *testing.T, responses map[string]Compared) {
	t.Helper()
	for name, want := range responses {
		message := d.Message(name, want.Response)
		outcome, fake := d.outcome(t, d.Connector, message), d.outcome(t, d.Fake, message)
		if want.Outcome == "" {
			require.Equal(t, fake, outcome, name)
			continue
		}
		require.Equal(t, []string{want.Outcome, want.Fake}, []string{outcome, fake}, name)
	}
}

func (d Differences) outcome(t *testing.T, connector send.Connector, message send.Message) string {
	t.Helper()
	delivery, err := connector.Send(t.Context(), message)
	if refused, ok := boterr.AsError(err); ok {
		return string(refused.Code) + " " + refused.Field
	}
	require.NoError(t, err)
	if delivery.MessageID == "" {
		return "no message"
	}
	return d.Describe(t, message, delivery)
}
