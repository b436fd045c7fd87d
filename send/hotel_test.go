package send_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send"
)

var sendHotel = (*send.Service).SendHotelResponse

func TestSendHotelResponse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		params          send.SendHotelResponseParams
		to, kind, group string
	}{
		{send.SendHotelResponseParams{RecipientID: "u1"}, "u1", "user", ""},
		{send.SendHotelResponseParams{HotelGroupID: "g1"}, "g1", "group", ""},
		{send.SendHotelResponseParams{RecipientID: "u1", HotelGroupID: "g1"}, "u1", "user", "g1"},
		{send.SendHotelResponseParams{RecipientID: "b1", ReceiverType: "bot"}, "b1", "bot", ""},
	} {
		w := newWorld(t)
		w.able.delivery = send.Delivery{Reply: document.O("id", 7), MessageID: "mid"}
		c.params.Response = hi
		sent, err := w.own(channel.Hotel).SendHotelResponse(t.Context(), c.params)
		require.NoError(t, err)
		require.Equal(t, `{"result":{"id":7},"messageEvent":{"from":"","to":"`+c.to+
			`","data":{"text":"Hi Mia"},"type":"TEXT","timestamp":1700000000000,"messageId":"mid"}}`, marshal(t, sent))
		require.Len(t, w.able.sent, 1)
		message := w.able.sent[0]
		require.Equal(t, []string{c.to, c.kind, c.group}, []string{message.To, message.ReceiverType, message.GroupID})
		require.Nil(t, message.Member)
		require.Equal(t, "hotel", message.Channel.ID)
	}
}

func TestSendHotelResponse_WithoutMember(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, err := w.of("hotel", "", w.able).SendHotelResponse(t.Context(), send.SendHotelResponseParams{RecipientID: "u1", Response: hi})
	require.NoError(t, err)
	require.Equal(t, "Hi ", w.able.sent[0].Response.Text())
}

func TestSendHotelResponse_MemberElsewhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, err := w.of("web", "ada", w.able).SendHotelResponse(t.Context(), send.SendHotelResponseParams{
		Channel: &channel.Channel{ID: "hotel"}, RecipientID: "u1", Response: hi,
	})
	require.NoError(t, err)
	require.Equal(t, "Hi Ada", w.able.sent[0].Response.Text())
}

func TestSendHotelResponse_MemberIsGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	err := asked(sendHotel, send.SendHotelResponseParams{RecipientID: "u1", Response: hi})(t.Context(), w.of("hotel", "gone", w.able))
	require.ErrorIs(t, err, boterr.NotFound)
	w.requireUntouched()
}

func TestSendHotelResponse_Refuses(t *testing.T) {
	t.Parallel()
	type params = send.SendHotelResponseParams
	requireRefusals(t, channel.Hotel, []refusal{
		{asked(sendHotel, params{Response: hi}), boterr.InvalidArgument, "recipientId"},
		{asked(sendHotel, params{Response: hi, HotelGroupID: "g1", ReceiverType: "user"}), boterr.InvalidArgument, "recipientId"},
		{asked(sendHotel, params{RecipientID: "u1"}), boterr.InvalidArgument, "response"},
		{asked(sendHotel, params{RecipientID: "u1", Response: send.Template("{{meta.x}}")}), boterr.InvalidArgument, "response.text"},
		{asked(sendHotel, params{RecipientID: "u1", Response: hi, Channel: elsewhere()}), boterr.NotFound, "channel._id"},
		{asked(sendHotel, params{RecipientID: "u1", Response: hi, Channel: &channel.Channel{}}), boterr.InvalidArgument, "channel._id"},
	})
}

func TestSendHotelResponse_OnHotelAlone(t *testing.T) {
	t.Parallel()
	requireForItsPlatform(t, channel.Hotel, "channel", asked(sendHotel, send.SendHotelResponseParams{RecipientID: "u1", Response: hi}))
}
