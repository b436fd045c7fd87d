package sends_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/sends"
	"github.com/botctx/go-sdk/send"
)

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

var updateMessage = (*sends.Service).UpdateMessage

func TestUpdateMessage_EachPlatformThatCan(t *testing.T) {
	t.Parallel()
	for _, of := range platforms {
		w := newWorld(t)
		updated, err := w.in(string(of), "").UpdateMessage(t.Context(), send.UpdateMessageParams{
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

func TestUpdateMessage_RefusesOneAttachment(t *testing.T) {
	t.Parallel()
	type params = send.UpdateMessageParams
	broken := []document.Object{document.O("a", 1), document.O("x", func() {})}
	requireRefusals(t, channel.Charlie, []refusal{
		{
			asked(updateMessage, params{ExternalChannelID: "C7", MessageTS: "1.5", Attachments: broken}),
			boterr.InvalidArgument, "attachments[1].x",
		},
		{
			asked(updateMessage, params{ExternalChannelID: "C7", MessageTS: "1.5", Attachments: make([]document.Object, 1)}),
			boterr.InvalidArgument, "attachments[0]",
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

// Operations for a single type of channels are Unsupported on others, and if the connector lacks the port.
// The platform's errors keep their codes.
func TestCalls_OfOnePlatform(t *testing.T) {
	t.Parallel()
	to := &send.MessageEvent{To: "C7"}
	for name, c := range map[string]struct {
		of    channel.Type
		field string
		made  call
		// isSend is true for a call that every connector can make.
		isSend bool
	}{
		"sendAlphaResponse": {channel.Alpha, "channelId", asked(sendAlpha, send.SendAlphaResponseParams{Response: hi}), true},
		"sendAlphaResponseToMemberIds": {channel.Alpha, "channelId", asked(sendAlphaToMany, send.SendAlphaResponseToMemberIDsParams{
			MemberID: document.One("m-alpha"), Response: hi,
		}), true},
		"sendHotelResponse": {channel.Hotel, "channel", asked(sendHotel, send.SendHotelResponseParams{RecipientID: "u1", Response: hi}), true},
		"sendDeltaResponse": {channel.Delta, "channelId", asked(sendDelta, send.SendDeltaResponseParams{Response: hi}), false},
		"alphaSaveCustomLabel": {
			channel.Alpha, "channel", asked((*sends.Service).AlphaSaveCustomLabel, send.AlphaSaveCustomLabelParams{LabelID: "vip"}), false,
		},
		"alphaRemoveCustomLabel": {
			channel.Alpha, "channel", asked((*sends.Service).AlphaRemoveCustomLabel, send.AlphaRemoveCustomLabelParams{LabelID: "vip"}), false,
		},
		"alphaPassThreadControl": {
			channel.Alpha, "channel", asked((*sends.Service).AlphaPassThreadControl, send.AlphaPassThreadControlParams{}), false,
		},
		"alphaGetAttachmentId": {
			channel.Alpha, "channel", asked(getAttachment, send.AlphaGetAttachmentIDParams{Type: "file", URL: "https://shop.example/a"}), false,
		},
		"alphaCreateBroadcast": {channel.Alpha, "channel", asked(createBroadcast, send.AlphaCreateBroadcastParams{Response: hi}), false},
		"alphaSendBroadcast":   {channel.Alpha, "channel", asked(sendBroadcast, toVIPs), false},
		"charlieArchiveConversation": {
			channel.Charlie, "channel", asked((*sends.Service).CharlieArchiveConversation, send.CharlieArchiveConversationParams{MessageEvent: to}), false,
		},
		"EchoSaveMemberTag": {channel.Echo, "channel", asked(saveTag, tagged(7)), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requireForItsPlatform(t, c.of, c.field, c.made)
			if !c.isSend {
				requirePortNeeded(t, c.of, c.field, c.made)
				requirePlatformErrors(t, c.of, c.made)
			}
		})
	}
}
