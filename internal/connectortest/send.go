package connectortest

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// Unsendable is a response that a connector must refuse, with the code and the field of the error. It is an alias, so that
// tables need no names of fields.
type Unsendable = struct {
	Response send.Response
	Code     boterr.Code
	Field    string
}

// RequireUnsendable requires that try, which sends a response, refuses each one.
func RequireUnsendable(t *testing.T, responses map[string]Unsendable, try func(t *testing.T, response send.Response) error) {
	t.Helper()
	for name, want := range responses {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := try(t, want.Response)
			refused, ok := boterr.AsError(err)
			require.True(t, ok, "%v", err)
			require.Equal(t, want.Code, refused.Code)
			require.Equal(t, want.Field, refused.Field)
		})
	}
}

// Fake returns the connector of package fakes for a channel, and the channel as the fakes store it. The channel has a
// member with the given ExternalID.
func Fake(t *testing.T, in *channel.Channel, externalID string) (send.Connector, *channel.Channel) {
	t.Helper()
	var connector send.Connector
	p := fakes.New(fakes.For(t), fakes.Config(func(c *botctx.Config) {
		connector = cmp.Or(c.Connectors[in.Type], c.Connectors[channel.Webchat]) // A type that the fakes do not know is a webchat.
		c.Connectors[in.Type] = connector
	}))
	stored := p.AddChannel(*in)
	p.AddMember(member.Member{Channel: in.ID, ExternalID: externalID})
	return connector, stored
}

// RequireFile requires that a file that was opened without an error has this content. It closes the file.
func RequireFile(t *testing.T, file io.ReadCloser, err error, content string) {
	t.Helper()
	require.NoError(t, err)
	read, err := io.ReadAll(file)
	require.NoError(t, err)
	require.NoError(t, file.Close())
	require.Equal(t, content, string(read))
}

// RequireWait requires that a platform limits the rate, with this wait.
func RequireWait(t *testing.T, err error, want send.RetryAfterError) {
	t.Helper()
	require.ErrorIs(t, err, boterr.ResourceExhausted)
	hint, ok := errors.AsType[*send.RetryAfterError](err)
	require.True(t, ok)
	require.Equal(t, want, *hint)
}

// RequirePublic requires that a connector with its default client makes no request to a private address. message returns a
// message in a channel whose info has an address.
func RequirePublic(t *testing.T, connector send.Connector, message func(address string) send.Message) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the request was made") }))
	t.Cleanup(server.Close)
	_, err := connector.Send(t.Context(), message(server.URL))
	require.ErrorIs(t, err, boterr.FailedPrecondition)
	require.ErrorContains(t, err, "the platform's address cannot be used: the host 127.0.0.1 is a loopback address")
}

// RequireSomeParts requires the error of a message whose first parts arrived. It must have no wait: if send.Limited sent
// the message again, these parts would appear twice.
func RequireSomeParts(t *testing.T, err error, parts string) {
	t.Helper()
	require.ErrorIs(t, err, boterr.ResourceExhausted)
	require.ErrorContains(t, err, "accepted "+parts+" parts")
	_, hasWait := errors.AsType[*send.RetryAfterError](err)
	require.False(t, hasWait)
}

// RequireRate requires that a limited connector takes this time for a number of messages. It needs a bubble of package
// synctest.
func RequireRate(t *testing.T, limited send.Connector, message send.Message, messages int, want time.Duration) {
	t.Helper()
	began := time.Now() //nolint:forbidigo // The clock of the bubble.
	for range messages {
		_, err := limited.Send(t.Context(), message)
		require.NoError(t, err)
	}
	require.InDelta(t, want, time.Since(began), float64(want/100)) //nolint:forbidigo // The clock of the bubble.
}

// RequireTooLong requires that a file that was opened without an error cannot be read beyond a limit.
func RequireTooLong(t *testing.T, file io.ReadCloser, err error, limit int) {
	t.Helper()
	require.NoError(t, err)
	read, err := io.ReadAll(file)
	require.ErrorContains(t, err, fmt.Sprintf("longer than the limit of %d bytes", limit))
	require.Len(t, read, limit)
	require.NoError(t, file.Close())
}

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
