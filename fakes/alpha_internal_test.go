package fakes

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send"
)

func (s *shop) label(t *testing.T, who *Actor, labelID string) int64 {
	t.Helper()
	number, err := portOf[send.Labeler](t, s).SaveLabel(t.Context(), s.in, who.ExternalID(), labelID)
	require.NoError(t, err)
	return number
}

// store stores a message and returns its id.
func (s *shop) store(t *testing.T, response send.Response) string {
	t.Helper()
	stored, err := portOf[send.Broadcaster](t, s).CreateBroadcast(t.Context(), s.in, response)
	require.NoError(t, err)
	require.Len(t, stored, 1)
	id, _ := stored[0].Response.Field("message_creative_id")
	return fmt.Sprint(id)
}

func TestLabels_SavedTwice(t *testing.T) {
	t.Parallel()
	s := shopOn(t, channel.Alpha)
	first := s.label(t, s.ada, "buyers")
	require.Equal(t, first, s.label(t, s.ada, "buyers"))
	require.Equal(t, first, s.label(t, s.lise, "buyers"), "it is the same label on all members")
	require.NotEqual(t, first, s.label(t, s.ada, "tea"))
	require.Equal(t, []string{"buyers", "tea"}, s.ada.Labels())
	require.Equal(t, []string{"buyers"}, s.lise.Labels())
}

func TestLabels_NumericID(t *testing.T) {
	t.Parallel()
	s := shopOn(t, channel.Alpha)
	require.EqualValues(t, 1712444532121303, s.label(t, s.ada, "1712444532121303"))
}

func TestLabels_RemovedFromOne(t *testing.T) {
	t.Parallel()
	s := shopOn(t, channel.Alpha)
	s.label(t, s.ada, "buyers")
	s.label(t, s.lise, "buyers")
	labeler := portOf[send.Labeler](t, s)
	require.NoError(t, labeler.RemoveLabel(t.Context(), s.in, s.ada.ExternalID(), "buyers"))
	require.Empty(t, s.ada.Labels())
	require.Equal(t, []string{"buyers"}, s.lise.Labels())
	require.NoError(t, labeler.RemoveLabel(t.Context(), s.in, s.ada.ExternalID(), "buyers"), "it is off already")
}

func TestSendBroadcast_ToLabel(t *testing.T) {
	t.Parallel()
	s := shopOn(t, channel.Alpha)
	s.label(t, s.lise, "buyers")
	s.label(t, s.ada, "buyers")
	s.label(t, s.ada, "tea")
	id := s.store(t, send.Template("Hello {{firstName}}"))
	number, err := portOf[send.Broadcaster](t, s).SendBroadcast(t.Context(), s.in,
		send.Broadcast{MessageID: id, LabelID: "buyers", NotificationType: "REGULAR"})
	require.NoError(t, err)

	require.Equal(t, "Hello {{firstName}}", s.ada.Last(), "the platform fills in nothing")
	require.Len(t, s.lise.Messages(), 1)
	require.Equal(t, []Broadcast{{
		SentAt: s.Now(), Channel: "shop", ID: number, Message: s.StoredMessages("shop")[0], LabelID: "buyers",
		NotificationType: "REGULAR", Reached: []string{s.lise.ExternalID(), s.ada.ExternalID()},
	}}, s.Broadcasts("shop"))
}

func TestSendBroadcast_LeavesOutRefused(t *testing.T) {
	t.Parallel()
	s := shopOn(t, channel.Alpha)
	s.label(t, s.ada, "buyers")
	s.label(t, s.lise, "buyers")
	s.RefuseSends(boterr.FailedPrecondition, s.ada)
	id := s.store(t, send.Text("Tea!"))
	_, err := portOf[send.Broadcaster](t, s).SendBroadcast(t.Context(), s.in, send.Broadcast{MessageID: id, LabelID: "buyers"})
	require.NoError(t, err)
	require.Equal(t, []string{s.lise.ExternalID()}, s.Broadcasts("shop")[0].Reached)
	require.Empty(t, s.ada.Messages())
}

func TestSendBroadcast_CountsAsOne(t *testing.T) {
	t.Parallel()
	s := shopOn(t, channel.Alpha)
	s.label(t, s.ada, "buyers")
	s.label(t, s.lise, "buyers")
	s.LimitSends("shop", 1, time.Minute)
	tea := send.Broadcast{MessageID: s.store(t, send.Text("Tea!")), LabelID: "buyers"}
	_, err := portOf[send.Broadcaster](t, s).SendBroadcast(t.Context(), s.in, tea)
	require.NoError(t, err)
	require.Len(t, s.Sent(), 2)
	_, err = portOf[send.Broadcaster](t, s).SendBroadcast(t.Context(), s.in, tea)
	requireCode(t, boterr.ResourceExhausted, err)
	require.Len(t, s.Sent(), 2)
}

func TestSendBroadcast_LabelWithoutMembers(t *testing.T) {
	t.Parallel()
	s := shopOn(t, channel.Alpha)
	s.label(t, s.ada, "buyers")
	require.NoError(t, portOf[send.Labeler](t, s).RemoveLabel(t.Context(), s.in, s.ada.ExternalID(), "buyers"))
	id := s.store(t, send.Text("Tea!"))
	_, err := portOf[send.Broadcaster](t, s).SendBroadcast(t.Context(), s.in, send.Broadcast{MessageID: id, LabelID: "buyers"})
	require.NoError(t, err)
	require.Empty(t, s.Broadcasts("shop")[0].Reached)
	require.Empty(t, s.Sent())
}

func TestSendBroadcast_NotFound(t *testing.T) {
	t.Parallel()
	s := shopOn(t, channel.Alpha)
	s.label(t, s.ada, "buyers")
	id := s.store(t, send.Text("Tea!"))
	for _, unknown := range []send.Broadcast{{MessageID: "7", LabelID: "buyers"}, {MessageID: id, LabelID: "sellers"}, {}} {
		_, err := portOf[send.Broadcaster](t, s).SendBroadcast(t.Context(), s.in, unknown)
		requireCode(t, boterr.NotFound, err)
	}
	require.Empty(t, s.Broadcasts("shop"))
}

func TestStoredMessages_TokenOfChannel(t *testing.T) {
	t.Parallel()
	s := shopOn(t, channel.Alpha)
	broadcaster := portOf[send.Broadcaster](t, s)
	stored, err := broadcaster.CreateBroadcast(t.Context(), s.in, send.Text("Tea!"))
	require.NoError(t, err)
	require.Equal(t, "token-of-shop", stored[0].AccessToken.Reveal(), "a channel without one has one that is made up")
	own := s.AddChannel(channel.Channel{Type: channel.Alpha, Info: channel.AlphaInfo{AccessToken: channel.NewSecret("EAAB")}})
	stored, err = broadcaster.CreateBroadcast(t.Context(), own, send.Text("Tea!"))
	require.NoError(t, err)
	require.Equal(t, "EAAB", stored[0].AccessToken.Reveal())
	require.Len(t, s.StoredMessages("shop"), 1)
}

func TestUploadAttachment_SameFileSameID(t *testing.T) {
	t.Parallel()
	s := shopOn(t, channel.Alpha)
	upload := func(in *channel.Channel, kind send.Type, url string) string {
		id, err := portOf[send.AttachmentUploader](t, s).UploadAttachment(t.Context(), in, kind, url)
		require.NoError(t, err)
		return id
	}
	first := upload(s.in, send.TypeImage, "https://shop.example/kettle.png")
	require.Equal(t, first, upload(s.in, send.TypeImage, "https://shop.example/kettle.png"))
	require.NotEqual(t, first, upload(s.in, send.TypeFile, "https://shop.example/kettle.png"))
	require.NotEqual(t, first, upload(s.in, send.TypeImage, "https://shop.example/pot.png"))
	require.NotEqual(t, first, upload(s.AddChannel(channel.Channel{Type: channel.Alpha}), send.TypeImage, "https://shop.example/kettle.png"))
	require.Len(t, s.Attachments("shop"), 3)
	require.Equal(t, Attachment{Channel: "shop", ID: first, Type: send.TypeImage, URL: "https://shop.example/kettle.png"}, s.Attachments("shop")[0])
}

func TestAttachments_OnlyUploadedOnes(t *testing.T) {
	t.Parallel()
	s := shopOn(t, channel.Alpha)
	id, err := portOf[send.AttachmentUploader](t, s).UploadAttachment(t.Context(), s.in, send.TypeImage, "https://shop.example/kettle.png")
	require.NoError(t, err)
	s.AddAttachment(Attachment{Channel: "shop", ID: "7", Type: send.TypeVideo, URL: "https://shop.example/kettle.mp4"})
	image := send.Raw(document.O("type", "IMAGE"))
	_, err = s.send(t, s.ada, image.With("attachment_id", id))
	require.NoError(t, err)
	_, err = s.send(t, s.ada, send.Raw(document.O("type", "VIDEO", "attachment_id", "7")))
	require.NoError(t, err)
	for _, unknown := range []string{"8", "7"} { // 7 is a video.
		_, err = s.send(t, s.ada, image.With("attachment_id", unknown))
		requireCode(t, boterr.InvalidArgument, err)
		refused, _ := boterr.AsError(err)
		require.Equal(t, "attachment_id", refused.Field)
	}
	require.Len(t, s.Sent(), 2)
}

func TestCreateBroadcast_UnknownFile(t *testing.T) {
	t.Parallel()
	s := shopOn(t, channel.Alpha)
	_, err := portOf[send.Broadcaster](t, s).CreateBroadcast(t.Context(), s.in, send.Raw(document.O("type", "IMAGE", "attachment_id", "8")))
	requireCode(t, boterr.InvalidArgument, err)
	require.Empty(t, s.StoredMessages("shop"))
}

func TestThread_AnotherAppControls(t *testing.T) {
	t.Parallel()
	s := shopOn(t, channel.Alpha)
	require.True(t, s.ada.Thread().IsWithBot())
	err := portOf[send.ThreadPasser](t, s).PassThreadControl(t.Context(), s.in, s.ada.ExternalID(),
		send.ThreadHandover{TargetAppID: "263902037430900", Metadata: "wants a person"})
	require.NoError(t, err)
	require.Equal(t, Thread{AppID: "263902037430900", Metadata: "wants a person"}, s.ada.Thread())
	_, err = s.send(t, s.ada, send.Text("hi"))
	requireCode(t, boterr.FailedPrecondition, err)
	s.mustSend(t, s.lise, "hi")

	s.ada.ReturnThread()
	require.True(t, s.ada.Thread().IsWithBot())
	s.mustSend(t, s.ada, "hello again")
	require.Equal(t, "hello again", s.ada.Last())
}

func TestThread_HandedToNobody(t *testing.T) {
	t.Parallel()
	s := shopOn(t, channel.Alpha)
	passer := portOf[send.ThreadPasser](t, s)
	require.NoError(t, passer.PassThreadControl(t.Context(), s.in, s.ada.ExternalID(), send.ThreadHandover{}))
	require.Equal(t, Thread{AppID: PageInbox}, s.ada.Thread())
	requireCode(t, boterr.FailedPrecondition, passer.PassThreadControl(t.Context(), s.in, s.ada.ExternalID(), send.ThreadHandover{TargetAppID: "1"}))
	require.Equal(t, Thread{AppID: PageInbox}, s.ada.Thread())
}
