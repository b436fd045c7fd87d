package send_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/send"
)

var getAttachment = (*send.Service).AlphaGetAttachmentID

func TestAlphaGetAttachmentID(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, kind := range []send.AttachmentType{"image", "IMAGE", "Image"} {
		got, err := w.of("alpha", "", w.able).AlphaGetAttachmentID(t.Context(), send.AlphaGetAttachmentIDParams{
			Type: kind, URL: "http://10.0.0.1/kettle.png?size=2",
		})
		require.NoError(t, err)
		require.JSONEq(t, `{"attachment_id":"file-1"}`, marshal(t, got))
	}
	require.Equal(t, "alpha takes IMAGE http://10.0.0.1/kettle.png?size=2", w.able.log[2])
}

func TestAlphaGetAttachmentID_Refuses(t *testing.T) {
	t.Parallel()
	type params = send.AlphaGetAttachmentIDParams
	refusals := []refusal{
		{asked(getAttachment, params{URL: "https://shop.example/a"}), boterr.InvalidArgument, "type"},
		{asked(getAttachment, params{Type: "TEXT", URL: "https://shop.example/a"}), boterr.InvalidArgument, "type"},
		{asked(getAttachment, params{Type: "file", URL: "https://shop.example/a", Channel: elsewhere()}), boterr.NotFound, "channel._id"},
	}
	for _, url := range []string{"", "kettle.png", "ftp://shop.example/a", "https://", "https:///a", "https:shop", "https://a b", "file:///etc/passwd"} {
		refusals = append(refusals, refusal{asked(getAttachment, params{Type: "file", URL: url}), boterr.InvalidArgument, "url"})
	}
	requireRefusals(t, channel.Alpha, refusals)
}

func TestAlphaGetAttachmentID_OnAlphaAlone(t *testing.T) {
	t.Parallel()
	made := asked(getAttachment, send.AlphaGetAttachmentIDParams{Type: "file", URL: "https://shop.example/a"})
	requireForItsPlatform(t, channel.Alpha, "channel", made)
	requirePortNeeded(t, channel.Alpha, "channel", made)
	requirePlatformErrors(t, channel.Alpha, made)
}

func TestAlphaGetAttachmentID_UploaderTellsNoID(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.able.fileID = ""
	made := asked(getAttachment, send.AlphaGetAttachmentIDParams{Type: "file", URL: "https://shop.example/a"})
	require.Equal(t, boterr.Internal, boterr.CodeOf(made(t.Context(), w.own(channel.Alpha))))
}
