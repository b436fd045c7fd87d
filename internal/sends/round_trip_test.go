package sends_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send"
)

// FuzzResponse sends any JSON as a response. It must be refused with a path, or sent and encoded again unchanged.
func FuzzResponse(f *testing.F) {
	for _, text := range []string{
		`null`, `7`, `{}`, `{"type":"TEXT","text":"Hi {{firstName}}"}`, `{"text":"\u2028\ud83d","type":"X","n":[1e3,-0,1.50]}`,
		`{"type":"BUTTON","text":"?","buttons":[{"type":"postback","title":"Yes","payload":{"payload":"y","value":[1]}}]}`,
		`{"type":"CAROUSEL","carousel":[{"title":"A"}]}`, `{"type":"X","n":1e999}`, `{"type":"X","":{"":""},"type":"Y"}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if !json.Valid(text) {
			return
		}
		var params send.SendResponseParams
		if err := document.DecodeJSON([]byte(`{"response":`+string(text)+`}`), &params); err != nil {
			requireResponsePath(t, err)
			return
		}
		p := newPlatform(t)
		params.Response = send.Raw(params.Response.Object())
		if _, err := p.in("web", "ada").SendResponse(t.Context(), params); err != nil {
			requireResponsePath(t, err)
			require.Empty(t, p.outbox.sent)
			return
		}
		want, err := document.ParseJSON(text)
		require.NoError(t, err)
		require.Equal(t, document.O("r", want).String(), document.O("r", p.outbox.sent[0].Response.Object()).String())
	})
}

func requireResponsePath(t *testing.T, err error) {
	t.Helper()
	require.ErrorIs(t, err, boterr.InvalidArgument)
	e, _ := boterr.AsError(err)
	require.True(t, strings.HasPrefix(e.Field, "response"), "%v", err)
}

// archives is a connector that can archive conversations and label recipients.
type archives struct {
	send.Connector
	send.Labeler

	archived []string
}

func (a *archives) ArchiveConversation(_ context.Context, _ *channel.Channel, conversationID string) error {
	a.archived = append(a.archived, conversationID)
	return nil
}

// around wraps a connector and its archive.
type around struct {
	send.Connector

	name string
}

func (a around) Unwrap() send.Connector { return a.Connector }

func (a around) WrapPort(wanted, inner any) any {
	if _, ok := wanted.(*send.ConversationArchiver); ok {
		return aroundArchive{inner: inner.(send.ConversationArchiver), name: a.name}
	}
	return nil
}

type aroundArchive struct {
	inner send.ConversationArchiver
	name  string
}

func (a aroundArchive) ArchiveConversation(ctx context.Context, in *channel.Channel, id string) error {
	return a.inner.ArchiveConversation(ctx, in, a.name+" "+id)
}

func TestPorts_OfWrappedConnector(t *testing.T) {
	t.Parallel()
	inner := &archives{}
	var outer send.Connector = around{Connector: send.Limited(around{Connector: inner, name: "inner"}, send.Rate{}), name: "outer"}
	archiver, ok := send.PortOf[send.ConversationArchiver](outer)
	require.True(t, ok)
	require.NoError(t, archiver.ArchiveConversation(t.Context(), nil, "c1"))
	require.Equal(t, []string{"inner outer c1"}, inner.archived)

	labeler, ok := send.PortOf[send.Labeler](outer)
	require.True(t, ok, "a port that no wrapper stands around")
	require.Same(t, inner, labeler)
	_, ok = send.PortOf[send.Tagger](outer)
	require.False(t, ok, "a port that the connector does not have")
	_, ok = send.PortOf[send.Labeler](nil)
	require.False(t, ok, "no connector")
}
