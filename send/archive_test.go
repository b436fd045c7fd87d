package send_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/send"
)

var archive = (*send.Service).CharlieArchiveConversation

func TestCharlieArchiveConversation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	archived, err := w.of("charlie", "", w.able).CharlieArchiveConversation(t.Context(), send.CharlieArchiveConversationParams{
		MessageEvent: &send.MessageEvent{From: "U1", To: "C7"},
	})
	require.NoError(t, err)
	require.JSONEq(t, `{"ok":true}`, marshal(t, archived))
	require.Equal(t, []string{"charlie archives C7"}, w.able.log)
}

func TestCharlieArchiveConversation_Refuses(t *testing.T) {
	t.Parallel()
	event := &send.MessageEvent{To: "C7"}
	requireRefusals(t, channel.Charlie, []refusal{
		{asked(archive, send.CharlieArchiveConversationParams{}), boterr.InvalidArgument, "messageEvent"},
		{
			asked(archive, send.CharlieArchiveConversationParams{MessageEvent: &send.MessageEvent{From: "U1"}}),
			boterr.InvalidArgument, "messageEvent.to",
		},
		{
			asked(archive, send.CharlieArchiveConversationParams{MessageEvent: event, Channel: elsewhere()}),
			boterr.NotFound, "channel._id",
		},
	})
}

func TestCharlieArchiveConversation_OnCharlieAlone(t *testing.T) {
	t.Parallel()
	made := asked(archive, send.CharlieArchiveConversationParams{MessageEvent: &send.MessageEvent{To: "C7"}})
	requireForItsPlatform(t, channel.Charlie, "channel", made)
	requirePortNeeded(t, channel.Charlie, "channel", made)
	requirePlatformErrors(t, channel.Charlie, made)
}
