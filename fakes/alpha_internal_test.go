package fakes

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// shop is an Alpha or Delta channel with two members, and its connector.
type shop struct {
	*Platform
	in        *channel.Channel
	connector send.Connector
	ada, lise *Actor
}

func (s *shop) label(t *testing.T, who *Actor, labelID string) int64 {
	t.Helper()
	number, err := portOf[send.Labeler](t, s).SaveLabel(t.Context(), s.in, who.ExternalID(), labelID)
	require.NoError(t, err)
	return number
}

// store stores a message for broadcasts and returns its id.
func (s *shop) store(t *testing.T, response send.Response) string {
	t.Helper()
	stored, err := portOf[send.Broadcaster](t, s).CreateBroadcast(t.Context(), s.in, response)
	require.NoError(t, err)
	require.Len(t, stored, 1)
	id, _ := stored[0].Response.Field("message_creative_id")
	return fmt.Sprint(id)
}

// broadcast sends a stored message to the members with the label buyers.
func (s *shop) broadcast(t *testing.T, id string) (int64, error) {
	t.Helper()
	return portOf[send.Broadcaster](t, s).SendBroadcast(t.Context(), s.in,
		send.Broadcast{MessageID: id, LabelID: "buyers", NotificationType: "REGULAR"})
}

func TestSendBroadcast_ToLabel(t *testing.T) {
	t.Parallel()
	s := shopOn(t, channel.Alpha)
	s.label(t, s.lise, "buyers")
	s.label(t, s.ada, "buyers")
	require.EqualValues(t, 1712444532121303, s.label(t, s.ada, "1712444532121303"), "an id may be a number")
	require.Equal(t, []string{"buyers", "1712444532121303"}, s.ada.Labels())
	require.Equal(t, []string{"buyers"}, s.lise.Labels())
	id := s.store(t, send.Template("Hello {{firstName}}"))
	number, err := s.broadcast(t, id)
	require.NoError(t, err)

	require.Equal(t, "Hello {{firstName}}", s.ada.Last(), "the platform fills in nothing")
	require.Len(t, s.lise.Messages(), 1)
	require.Equal(t, []Broadcast{{
		SentAt: s.Now(), Channel: "shop", ID: number, Message: s.StoredMessages("shop")[0], LabelID: "buyers",
		NotificationType: "REGULAR", Reached: []string{s.lise.ExternalID(), s.ada.ExternalID()},
	}}, s.Broadcasts("shop"))

	s.Inject(Refuses(s.ada, boterr.FailedPrecondition))
	_, err = s.broadcast(t, id)
	require.NoError(t, err)
	require.Equal(t, []string{s.lise.ExternalID()}, s.Broadcasts("shop")[1].Reached)
}

func TestSendBroadcast_CountsAsOne(t *testing.T) {
	t.Parallel()
	s := shopOn(t, channel.Alpha)
	s.label(t, s.ada, "buyers")
	s.label(t, s.lise, "buyers")
	s.Inject(Limits("shop", 1, time.Minute))
	tea := s.store(t, send.Text("Tea!"))
	_, err := s.broadcast(t, tea)
	require.NoError(t, err)
	require.Len(t, s.Sent(), 2)
	_, err = s.broadcast(t, tea)
	requireCode(t, boterr.ResourceExhausted, err)
	require.Len(t, s.Sent(), 2)
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
	for _, unknown := range []string{"8", "7"} { // Attachment 7 is a video.
		_, err = s.send(t, s.ada, image.With("attachment_id", unknown))
		requireCode(t, boterr.InvalidArgument, err)
		refused, _ := boterr.AsError(err)
		require.Equal(t, "attachment_id", refused.Field)
	}
	require.Len(t, s.Sent(), 2)
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

func TestCharlieIDs(t *testing.T) {
	t.Parallel()
	s := shopOn(t, channel.Charlie)
	sent := []send.Delivery{s.mustSend(t, s.ada, "1"), s.mustSend(t, s.lise, "2"), s.mustSend(t, s.ada, "3")}
	s.Advance(1500 * time.Millisecond)
	sent = append(sent, s.mustSend(t, s.ada, "4"))
	for i, want := range [][2]string{
		{"1767225600.000100", "D000001"}, {"1767225600.000200", "D000002"}, {"1767225600.000300", "D000001"}, {"1767225601.500100", "D000001"},
	} {
		require.Equal(t, want, [2]string{sent[i].MessageID, sent[i].ChatID}, "ids of messages rise, and each user has one conversation")
	}
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

func TestDeltaBatch_MessageAlone(t *testing.T) {
	t.Parallel()
	s := shopOn(t, channel.Delta)
	for _, id := range []string{"req-000001", "req-000002"} {
		require.Equal(t, document.O("id", id, "STATUS", "OK"), s.mustSend(t, s.ada, "hi").Reply)
	}
	_, err := portOf[send.BatchSender](t, s).SendBatch(t.Context(), nil)
	requireCode(t, boterr.InvalidArgument, err)
}

func (s *shop) tag(t *testing.T, who *Actor, id int64) send.TagReply {
	t.Helper()
	reply, err := portOf[send.Tagger](t, s).SaveTag(t.Context(), s.in, who.ExternalID(), id)
	require.NoError(t, err)
	return reply
}

func TestTags_SavedTwice(t *testing.T) {
	t.Parallel()
	s := shopOn(t, channel.Echo)
	for _, id := range []int64{0, 134, 0} {
		require.Equal(t, send.TagReply{Message: "ok"}, s.tag(t, s.ada, id))
	}
	require.Equal(t, []int64{0, 134}, s.ada.Tags())
	require.Empty(t, s.lise.Tags())
}

func TestTags_AtMostTheLimit(t *testing.T) {
	t.Parallel()
	s := shopOn(t, channel.Echo)
	for id := range int64(send.MaxMemberTags) {
		require.Zero(t, s.tag(t, s.ada, id).Code)
	}
	require.EqualValues(t, 45059, s.tag(t, s.ada, send.MaxMemberTags).Code)
	require.Len(t, s.ada.Tags(), send.MaxMemberTags)
}

func TestTags_Refuse(t *testing.T) {
	t.Parallel()
	s := shopOn(t, channel.Echo)
	for _, id := range []int64{-1, math.MinInt64, math.MaxInt32 + 1, math.MaxInt64} {
		require.EqualValues(t, 45159, s.tag(t, s.ada, id).Code)
	}
	require.Empty(t, s.ada.Tags())
}

func TestTags_AnswerOfEcho(t *testing.T) {
	t.Parallel()
	s := shopOn(t, channel.Echo)
	for sent, want := range map[string]string{
		`{"type":"TEXT","text":"hi"}`: `{"msgType":"text","text":"hi"}`,
		`{"type":"IMAGE","url":"https://shop.example/kettle.png"}`: `{"msgType":"image","url":"https://shop.example/kettle.png",` +
			`"image":"https://shop.example/kettle.png"}`,
		`{"type":"IMAGE","attachment_id":"m7"}`: `{"msgType":"image","image":"m7"}`,
		`{"type":"VIDEO","attachment_id":"m8","title":"Kettle","description":"It boils."}`: `{"msgType":"video","video":"m8",` +
			`"title":"Kettle","description":"It boils."}`,
		`{"type":"AUDIO","url":"https://shop.example/a.mp3"}`: `{"msgType":"voice","url":"https://shop.example/a.mp3"}`,
		`{"type":"FILE","url":"https://shop.example/a.pdf"}`:  `{"msgType":"file","url":"https://shop.example/a.pdf"}`,
		`{"type":"QUICK_REPLIES","text":"Tea?","quickReplies":[{"content_type":"text","title":"Yes","payload":"y"}]}`: `{"msgType":"text",` +
			`"text":"Tea?"}`,
		`{"type":"NEWS","articles":[{"title":"Kettles","description":"New ones","url":"https://shop.example/","picurl":"https://shop.example/k.png"}]}`: `{"msgType":"news",` +
			`"news":[{"title":"Kettles","description":"New ones","url":"https://shop.example/","picurl":"https://shop.example/k.png"}],` +
			`"title":"Kettles","description":"New ones","url":"https://shop.example/","image":"https://shop.example/k.png"}`,
		`{"type":"CAROUSEL","carousel":[{"title":"Kettle","subtitle":"It boils.","image_url":"https://shop.example/k.png"},{"title":"Pot"}]}`: `{"msgType":"news",` +
			`"news":[{"title":"Kettle","description":"It boils.","picurl":"https://shop.example/k.png"},{"title":"Pot"}],` +
			`"title":"Kettle","description":"It boils.","image":"https://shop.example/k.png"}`,
		`{"type":"MUSIC","title":"Tea for two"}`: `{"title":"Tea for two","msgType":"music"}`,
	} {
		object, err := document.ParseJSON([]byte(sent))
		require.NoError(t, err)
		delivery, err := s.send(t, s.ada, send.Raw(object.(document.Object)))
		require.NoError(t, err)
		require.Equal(t, want, delivery.Reply.String())
		require.Regexp(t, `^1000\d{9}$`, delivery.MessageID)
	}
}

func TestConnectors_RefuseTypes(t *testing.T) {
	t.Parallel()
	news, template := send.News(send.Article{Title: "Kettles"}), send.BravoTemplate("order", "en_US")
	poll := send.Other("POLL", document.O("text", "Kettle?"))
	for platform := range New(For(t)).outbox.connectors() {
		s := shopOn(t, platform)
		for _, c := range []struct {
			response  send.Response
			isRefused bool
		}{
			{news, platform != channel.Echo},
			{template, platform != channel.Bravo},
			{poll, false},
		} {
			before := len(s.Sent())
			_, err := s.send(t, s.ada, c.response)
			if !c.isRefused {
				require.NoError(t, err, platform)
				require.Equal(t, c.response, s.ada.LastMessage(), platform)
				continue
			}
			require.ErrorIs(t, err, boterr.Unsupported, platform)
			refused, _ := boterr.AsError(err)
			require.Equal(t, "type", refused.Field, platform)
			require.Len(t, s.Sent(), before, platform)
		}
	}
}

func TestCreateBroadcast_Refuses(t *testing.T) {
	t.Parallel()
	s := shopOn(t, channel.Alpha)
	for code, response := range map[boterr.Code]send.Response{
		boterr.Unsupported:     send.News(send.Article{Title: "Kettles"}),
		boterr.InvalidArgument: send.Raw(document.O("type", "IMAGE", "attachment_id", "8")),
	} {
		_, err := portOf[send.Broadcaster](t, s).CreateBroadcast(t.Context(), s.in, response)
		requireCode(t, code, err)
		require.Empty(t, s.StoredMessages("shop"))
	}
}

func shopOn(t *testing.T, platform channel.Type) *shop {
	t.Helper()
	p := New(For(t))
	in := p.AddChannel(channel.Channel{ID: "shop", Type: platform})
	return &shop{
		Platform: p, in: in, connector: p.outbox.connectors()[platform],
		ada:  p.AddMember(member.Member{Channel: in.ID, FirstName: "Ada"}),
		lise: p.AddMember(member.Member{Channel: in.ID, FirstName: "Lise"}),
	}
}

func (s *shop) on(fork *Platform) *shop {
	return &shop{
		Platform: fork, in: s.in, connector: fork.outbox.connectors()[s.in.Type],
		ada: s.ada.In(fork), lise: s.lise.In(fork),
	}
}

func (s *shop) messageTo(to *Actor, response send.Response) send.Message {
	return send.Message{
		Channel: s.in, To: to.ExternalID(), Response: response,
		Member: &member.Member{ID: to.ID(), FirstName: to.name, ExternalID: to.ExternalID()},
	}
}

func (s *shop) send(t *testing.T, to *Actor, response send.Response) (send.Delivery, error) {
	t.Helper()
	return s.connector.Send(t.Context(), s.messageTo(to, response))
}

// mustSend is like send, but fails the test if the platform refuses the message.
func (s *shop) mustSend(t *testing.T, to *Actor, text string) send.Delivery {
	t.Helper()
	delivery, err := s.send(t, to, send.Text(text))
	require.NoError(t, err)
	return delivery
}

func portOf[Port any](t *testing.T, s *shop) Port {
	t.Helper()
	port, has := send.PortOf[Port](s.connector)
	require.True(t, has)
	return port
}

func requireCode(t *testing.T, want boterr.Code, err error) {
	t.Helper()
	require.ErrorIs(t, err, want)
}
