package send_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/send"
)

// archives is a connector that archives conversations and puts labels on recipients.
type archives struct {
	send.Connector
	send.Labeler

	archived []string
}

func (a *archives) ArchiveConversation(_ context.Context, _ *channel.Channel, conversationID string) error {
	a.archived = append(a.archived, conversationID)
	return nil
}

// around stands around a connector and its archive.
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
