package fakes

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/send"
)

func TestRestore_EachPlatform(t *testing.T) {
	t.Parallel()
	for platform, change := range map[channel.Type]func(t *testing.T, s *shop){
		channel.Alpha: func(t *testing.T, s *shop) {
			t.Helper()
			s.label(t, s.ada, "buyers")
			id := s.store(t, send.Text("Tea!"))
			_, err := portOf[send.Broadcaster](t, s).SendBroadcast(t.Context(), s.in, send.Broadcast{MessageID: id, LabelID: "buyers"})
			require.NoError(t, err)
			s.label(t, s.lise, "buyers")
			_, err = portOf[send.AttachmentUploader](t, s).UploadAttachment(t.Context(), s.in, send.TypeImage, "https://x.example/")
			require.NoError(t, err)
			require.NoError(t, portOf[send.ThreadPasser](t, s).PassThreadControl(t.Context(), s.in, s.lise.ExternalID(), send.ThreadHandover{}))
		},
		channel.Charlie: func(t *testing.T, s *shop) {
			t.Helper()
			sent := s.mustSend(t, s.ada, "hi")
			_, err := portOf[send.MessageUpdater](t, s).UpdateMessage(t.Context(), s.in,
				send.MessageUpdate{ConversationID: sent.ChatID, MessageID: sent.MessageID, Text: "Hello"})
			require.NoError(t, err)
			require.NoError(t, portOf[send.ConversationArchiver](t, s).ArchiveConversation(t.Context(), s.in, sent.ChatID))
		},
		channel.Echo: func(t *testing.T, s *shop) {
			t.Helper()
			s.tag(t, s.ada, 7)
			s.tag(t, s.lise, 8)
		},
		channel.Webchat: func(t *testing.T, s *shop) {
			t.Helper()
			s.LimitSends("shop", 2, time.Minute)
			s.mustSend(t, s.ada, "hi")
			s.RefuseSends(boterr.NotFound, s.lise)
			s.Disconnect("shop")
		},
	} {
		s := shopOn(t, platform)
		before, empty := s.Snapshot(), s.outbox.state()
		fork := s.on(s.Fork())
		change(t, s)
		changed, lines := s.outbox.state(), s.Transcript()
		require.Equal(t, empty, fork.outbox.state(), "the fork on %s does not see it", platform)
		change(t, fork)
		require.Equal(t, changed, fork.outbox.state(), "it happens the same way again on %s", platform)
		require.Equal(t, lines, fork.Transcript())
		require.Equal(t, changed, s.outbox.state(), "the fork changes nothing on %s", platform)
		after := s.Snapshot()
		s.Restore(before)
		require.Equal(t, empty, s.outbox.state(), string(platform))
		s.Restore(after)
		require.Equal(t, changed, s.outbox.state(), string(platform))
	}
}
