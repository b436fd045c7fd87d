package sends_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/sends"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

var archive = (*sends.Service).CharlieArchiveConversation

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

var saveTag = (*sends.Service).EchoSaveMemberTag

func tagged(id int64) send.EchoSaveMemberTagParams { return send.EchoSaveMemberTagParams{TagID: &id} }

func TestEchoSaveMemberTag(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.able.tag = send.TagReply{Message: "ok"}
	saved, err := w.own(channel.Echo).EchoSaveMemberTag(t.Context(), tagged(0))
	require.NoError(t, err)
	require.JSONEq(t, `{"errcode":0,"errmsg":"ok"}`, marshal(t, saved))
	require.Equal(t, []string{"echo/x-echo # 0"}, w.able.log)
}

func TestEchoSaveMemberTag_RefusalInResult(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.able.tag = send.TagReply{Code: 45059, Message: "has too many tags"}
	saved, err := w.own(channel.Echo).EchoSaveMemberTag(t.Context(), tagged(7))
	require.NoError(t, err)
	require.Equal(t, send.EchoSaveMemberTagResult{ErrCode: 45059, ErrMsg: "has too many tags"}, saved)
}

func TestEchoSaveMemberTag_Refuses(t *testing.T) {
	t.Parallel()
	id := int64(7)
	refusals := contactRefusals(func(c *channel.Channel, m *member.Member) call {
		if m != nil && m.ID == "bare-alpha" {
			m = &member.Member{ID: "bare-echo"}
		}
		return asked(saveTag, send.EchoSaveMemberTagParams{Channel: c, Member: m, TagID: &id})
	})
	requireRefusals(t, channel.Echo, append(refusals,
		refusal{asked(saveTag, send.EchoSaveMemberTagParams{}), boterr.InvalidArgument, "tagId"},
		refusal{asked(saveTag, tagged(-1)), boterr.InvalidArgument, "tagId"},
	))
}

func TestEchoSaveMemberTag_OnEchoAlone(t *testing.T) {
	t.Parallel()
	made := asked(saveTag, tagged(7))
	requireForItsPlatform(t, channel.Echo, "channel", made)
	requirePortNeeded(t, channel.Echo, "channel", made)
	requirePlatformErrors(t, channel.Echo, made)
}

var updateMessage = (*sends.Service).UpdateMessage

func TestUpdateMessage_EachPlatformThatCan(t *testing.T) {
	t.Parallel()
	for _, of := range platforms {
		w := newWorld(t)
		updated, err := w.of(string(of), "", w.able).UpdateMessage(t.Context(), send.UpdateMessageParams{
			ExternalChannelID: "C7", MessageTS: "1.000100", Text: "Bye {{firstName}}",
		})
		require.NoError(t, err)
		require.JSONEq(t, `{"ok":true,"channel":"C7","ts":"1.000100","text":"Bye {{firstName}}"}`, marshal(t, updated))
		require.Equal(t, []string{string(of) + " changes C7/1.000100"}, w.able.log)
	}
}

func TestUpdateMessage_Reply(t *testing.T) {
	t.Parallel()
	for reply, want := range map[string]string{
		`{"ok":true,"channel":"C8","ts":"2.5","text":"Bye!"}`:      `{"ok":true,"channel":"C8","ts":"2.5","text":"Bye!"}`,
		`{"ok":false,"ts":2.5,"more":1}`:                           `{"ok":false,"channel":"C7","ts":"2.500000","text":"Bye"}`,
		`{"ok":"yes","channel":null,"ts":{"a":1},"text":["Bye!"]}`: `{"ok":true,"channel":"C7","ts":"1.5","text":"Bye"}`,
	} {
		w := newWorld(t)
		w.able.updated = decoded[document.Object](t, reply)
		updated, err := w.own(channel.Charlie).UpdateMessage(t.Context(), send.UpdateMessageParams{
			ExternalChannelID: "C7", MessageTS: "1.5", Text: "Bye",
		})
		require.NoError(t, err)
		require.JSONEq(t, want, marshal(t, updated))
	}
}

func TestUpdateMessage_ByTimestampOrEvent(t *testing.T) {
	t.Parallel()
	event := &send.MessageEvent{MessageID: "1.5"}
	for _, p := range []send.UpdateMessageParams{
		{MessageTS: "1.5"},
		{MessageEvent: event},
		{MessageTS: "1.5", MessageEvent: event},
		{MessageTS: "1.5", MessageEvent: &send.MessageEvent{}},
	} {
		w := newWorld(t)
		p.ExternalChannelID, p.Attachments = "C7", []document.Object{document.O("text", "a")}
		_, err := w.own(channel.Charlie).UpdateMessage(t.Context(), p)
		require.NoError(t, err)
		require.Equal(t, send.MessageUpdate{ConversationID: "C7", MessageID: "1.5", Attachments: p.Attachments}, w.able.update)
	}
}

func TestUpdateMessage_TakesAttachmentsAway(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, err := w.own(channel.Charlie).UpdateMessage(t.Context(), send.UpdateMessageParams{
		ExternalChannelID: "C7", MessageTS: "1.5", Attachments: []document.Object{},
	})
	require.NoError(t, err)
	require.NotNil(t, w.able.update.Attachments)
	require.Empty(t, w.able.update.Attachments)
}

func TestUpdateMessage_Refuses(t *testing.T) {
	t.Parallel()
	type params = send.UpdateMessageParams
	event := func(id string) *send.MessageEvent { return &send.MessageEvent{MessageID: id} }
	broken := []document.Object{document.O("a", 1), document.O("x", func() {})}
	requireRefusals(t, channel.Charlie, []refusal{
		{asked(updateMessage, params{MessageTS: "1.5", Text: "a"}), boterr.InvalidArgument, "externalChannelId"},
		{asked(updateMessage, params{ExternalChannelID: "C7", MessageTS: "1.5"}), boterr.InvalidArgument, "text"},
		{asked(updateMessage, params{ExternalChannelID: "C7", MessageTS: "1.5", Text: long(send.MaxText + 1)}), boterr.InvalidArgument, "text"},
		{asked(updateMessage, params{ExternalChannelID: "C7", Text: "a"}), boterr.InvalidArgument, "messageTs"},
		{asked(updateMessage, params{ExternalChannelID: "C7", Text: "a", MessageEvent: event("")}), boterr.InvalidArgument, "messageEvent.messageId"},
		{
			asked(updateMessage, params{ExternalChannelID: "C7", Text: "a", MessageTS: "1.5", MessageEvent: event("1.6")}),
			boterr.InvalidArgument, "messageTs",
		},
		{
			asked(updateMessage, params{ExternalChannelID: "C7", MessageTS: "1.5", Attachments: broken}),
			boterr.InvalidArgument, "attachments[1].x",
		},
		{
			asked(updateMessage, params{ExternalChannelID: "C7", MessageTS: "1.5", Attachments: make([]document.Object, 1)}),
			boterr.InvalidArgument, "attachments[0]",
		},
		{
			asked(updateMessage, params{ExternalChannelID: "C7", MessageTS: "1.5", Text: "a", Channel: elsewhere()}),
			boterr.NotFound, "channel._id",
		},
	})
}

func TestUpdateMessage_ConnectorCannot(t *testing.T) {
	t.Parallel()
	made := asked(updateMessage, send.UpdateMessageParams{ExternalChannelID: "C7", MessageTS: "1.5", Text: "a"})
	requirePortNeeded(t, channel.Charlie, "channel", made)
	requirePlatformErrors(t, channel.Charlie, made)
	w := newWorld(t)
	requireField(t, made(t.Context(), w.with("charlie", "", nil)), boterr.Unsupported, "channel")
}
