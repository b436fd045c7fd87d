package fakes

import (
	"math"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send"
)

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
	refused := s.tag(t, s.ada, send.MaxMemberTags)
	require.EqualValues(t, 45059, refused.Code)
	require.NotEmpty(t, refused.Message)
	require.Zero(t, s.tag(t, s.ada, 7).Code, "one that is there already counts once")
	require.Len(t, s.ada.Tags(), send.MaxMemberTags)
	require.Zero(t, s.tag(t, s.lise, send.MaxMemberTags).Code, "each member has tags of its own")
}

func TestTags_AtMostTheLimitAtOnce(t *testing.T) {
	t.Parallel()
	s := shopOn(t, channel.Echo)
	var at sync.WaitGroup
	replies := make([]send.TagReply, 5*send.MaxMemberTags)
	for i := range replies {
		at.Go(func() {
			replies[i], _ = portOf[send.Tagger](t, s).SaveTag(t.Context(), s.in, s.ada.ExternalID(), int64(i))
		})
	}
	at.Wait()
	saved := 0
	for _, reply := range replies {
		if reply.Code == 0 {
			saved++
		}
	}
	require.Equal(t, send.MaxMemberTags, saved)
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
