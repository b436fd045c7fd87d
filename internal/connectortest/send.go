package connectortest

import (
	"io"
	"testing"

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
	p := fakes.New(fakes.For(t), fakes.Config(func(c *botctx.Config) { connector = c.Connectors[in.Type] }))
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
