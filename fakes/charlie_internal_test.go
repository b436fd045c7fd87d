package fakes

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

func TestCharlieMessageIDs_Rise(t *testing.T) {
	t.Parallel()
	s := shopOn(t, channel.Charlie)
	ids := []string{s.mustSend(t, s.ada, "1").MessageID, s.mustSend(t, s.lise, "2").MessageID, s.mustSend(t, s.ada, "3").MessageID}
	s.Advance(1500 * time.Millisecond)
	ids = append(ids, s.mustSend(t, s.ada, "4").MessageID)
	require.Equal(t, []string{"1767225600.000100", "1767225600.000200", "1767225600.000300", "1767225601.500100"}, ids)
}

func TestCharlieUser_OneConversation(t *testing.T) {
	t.Parallel()
	s := shopOn(t, channel.Charlie)
	chats := []string{s.mustSend(t, s.ada, "1").ChatID, s.mustSend(t, s.lise, "2").ChatID, s.mustSend(t, s.ada, "3").ChatID}
	require.Equal(t, []string{"D000001", "D000002", "D000001"}, chats)
}

func TestCharlieMessage_AnswerFindsIt(t *testing.T) {
	t.Parallel()
	s := shopOn(t, channel.Charlie)
	sent := s.mustSend(t, s.ada, "kettle?")
	conversation, _ := sent.Reply.Field("channel")
	ts, _ := sent.Reply.Field("ts")
	reply, err := portOf[send.MessageUpdater](t, s).UpdateMessage(t.Context(), s.in, send.MessageUpdate{
		ConversationID: conversation.(string), MessageID: ts.(string), Text: "Kettle!",
	})
	require.NoError(t, err)
	require.Equal(t, document.O("ok", true, "channel", conversation, "ts", ts, "text", "Kettle!"), reply)
	require.Equal(t, "Kettle!", s.Sent()[0].Shown.Text())
	require.Equal(t, "kettle?", s.Sent()[0].Response.Text(), "what was sent stays what it was")
}

func TestUpdateMessage_OnDelta(t *testing.T) {
	t.Parallel()
	s := shopOn(t, channel.Delta)
	sent := s.mustSend(t, s.ada, "kettle?")
	_, err := portOf[send.MessageUpdater](t, s).UpdateMessage(t.Context(), s.in,
		send.MessageUpdate{ConversationID: sent.ChatID, MessageID: sent.MessageID, Text: "Kettle!"})
	require.NoError(t, err)
	require.Equal(t, "Kettle!", s.Sent()[0].Shown.Text())
}

func TestUpdateMessage_LeavesText(t *testing.T) {
	t.Parallel()
	s := shopOn(t, channel.Charlie)
	sent := s.mustSend(t, s.ada, "kettle?")
	attachments := []document.Object{document.O("text", "It is on the stove.")}
	reply, err := portOf[send.MessageUpdater](t, s).UpdateMessage(t.Context(), s.in,
		send.MessageUpdate{ConversationID: sent.ChatID, MessageID: sent.MessageID, Attachments: attachments})
	require.NoError(t, err)
	require.Equal(t, "kettle?", document.Get(reply, "text", ""))
	require.Equal(t, send.Text("kettle?").With("attachments", attachments), s.Sent()[0].Shown)
}

func TestUpdateMessage_NotThere(t *testing.T) {
	t.Parallel()
	s := shopOn(t, channel.Charlie)
	sent := s.mustSend(t, s.ada, "kettle?")
	other := s.mustSend(t, s.lise, "pot?")
	for _, unknown := range []send.MessageUpdate{
		{ConversationID: sent.ChatID, MessageID: "1767225600.000900", Text: "x"},
		{ConversationID: other.ChatID, MessageID: sent.MessageID, Text: "x"},
		{ConversationID: sent.ChatID, Text: "x"},
	} {
		_, err := portOf[send.MessageUpdater](t, s).UpdateMessage(t.Context(), s.in, unknown)
		requireCode(t, boterr.NotFound, err)
	}
	require.NoError(t, portOf[livechat.TicketRecaller](t, s).RecallTicket(t.Context(), s.in, livechat.Ticket{MessageID: sent.MessageID}))
	_, err := portOf[send.MessageUpdater](t, s).UpdateMessage(t.Context(), s.in,
		send.MessageUpdate{ConversationID: sent.ChatID, MessageID: sent.MessageID, Text: "x"})
	requireCode(t, boterr.NotFound, err)
	require.True(t, s.Sent()[0].Shown.IsZero(), "it was taken back")
}

func TestArchive_TakesNoMessages(t *testing.T) {
	t.Parallel()
	s := shopOn(t, channel.Charlie)
	chat := s.mustSend(t, s.ada, "hi").ChatID
	require.False(t, s.IsArchived("shop", chat))
	archiver := portOf[send.ConversationArchiver](t, s)
	require.NoError(t, archiver.ArchiveConversation(t.Context(), s.in, chat))
	require.True(t, s.IsArchived("shop", chat))
	_, err := s.send(t, s.ada, send.Text("still there?"))
	requireCode(t, boterr.FailedPrecondition, err)
	s.mustSend(t, s.lise, "hi")
	require.NoError(t, archiver.ArchiveConversation(t.Context(), s.in, chat), "it is archived already")
}

func TestArchive_ChannelOfCharlie(t *testing.T) {
	t.Parallel()
	s := shopOn(t, channel.Charlie)
	made, err := portOf[livechat.GroupCreator](t, s).CreateGroup(t.Context(), s.in, livechat.NewGroup{Name: "kettles"})
	require.NoError(t, err)
	require.Equal(t, "C000001", made.ExternalID)
	require.NoError(t, portOf[send.ConversationArchiver](t, s).ArchiveConversation(t.Context(), s.in, made.ExternalID))
	_, err = s.connector.Send(t.Context(), send.Message{Channel: s.in, To: made.ExternalID, Response: send.Text("hi")})
	requireCode(t, boterr.FailedPrecondition, err)
	require.Empty(t, s.Sent())
}

func TestArchive_NotThere(t *testing.T) {
	t.Parallel()
	s := shopOn(t, channel.Charlie)
	s.mustSend(t, s.ada, "hi")
	for _, unknown := range []string{"C999999", "", s.lise.ExternalID()} {
		requireCode(t, boterr.NotFound, portOf[send.ConversationArchiver](t, s).ArchiveConversation(t.Context(), s.in, unknown))
	}
}
