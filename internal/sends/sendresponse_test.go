package sends_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/sends"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

func TestSendResponse_ToContextMember(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.able.delivery = send.Delivery{
		Reply: document.O("message_id", "m-1"), MessageID: "m-1", ChatID: "c-1", From: "page", Timestamp: 17,
	}
	sent, err := w.in("web", "ada").SendResponse(t.Context(), send.SendResponseParams{Response: send.Template("Hi {{firstName}}")})
	require.NoError(t, err)
	require.Equal(t, []send.Result{send.Result{
		Reply: document.O("message_id", "m-1"),
		MessageEvent: send.MessageEvent{
			From: "page", To: "ext-ada", Type: "TEXT", Data: document.O("text", "Hi Ada"), Timestamp: 17, MessageID: "m-1",
		},
		ChatID: "c-1",
	}.For(channel.Webchat)}, sent.Results)

	require.Len(t, w.able.sent, 1)
	message := w.able.sent[0]
	require.Equal(t, "web", message.Channel.ID)
	require.Equal(t, "ada", message.Member.ID)
	require.Equal(t, "ext-ada", message.To)
	require.NotEmpty(t, message.ID)
	require.Equal(t, send.Text("Hi Ada"), message.Response)
}

func TestSendResponse_ConnectorTellsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sent, err := w.in("web", "ada").SendResponse(t.Context(), send.SendResponseParams{Response: send.Text("Hi")})
	require.NoError(t, err)
	require.Equal(t, send.MessageEvent{
		From: "bot-1", To: "ext-ada", Type: "TEXT", Data: document.O("text", "Hi"),
		Timestamp: document.TimestampOf(noon), MessageID: w.able.sent[0].ID,
	}, sent.Result().MessageEvent)
	require.Equal(t, `{}`, sent.Result().Reply.String())
}

func TestSendResponse_MemberWithoutBotID(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, err := w.channels.Save(t.Context(), &channel.Channel{ID: "page", Type: channel.Alpha, Info: channel.AlphaInfo{PageID: "page-1"}})
	require.NoError(t, err)
	for bot, from := range map[string]string{"": "page-1", "bot-2": "bot-2"} {
		id := "m" + bot
		w.addMember(member.Member{ID: id, Channel: "page", ExternalID: id, BotID: bot})
		sent, err := w.in("page", id).SendResponse(t.Context(), send.SendResponseParams{Response: send.Text("Hi")})
		require.NoError(t, err)
		require.Equal(t, from, sent.Result().MessageEvent.From)
	}
}

func TestSendResponse_Refuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.strict = true
	w.addChannel("fax", "fax")
	w.addMember(member.Member{ID: "fay", Channel: "fax"})
	w.addMember(member.Member{ID: "zoe", Channel: "web", FirstName: long(send.MaxText)})
	hi := send.Text("Hi")
	ada := &member.Member{ID: "ada"}
	type params = send.SendResponseParams
	for _, c := range []struct {
		params params
		code   boterr.Code
		field  string
	}{
		{params{Response: hi, Member: ada, MemberID: document.One("ada", "zoe")}, boterr.InvalidArgument, "memberId[1]"},
		{params{Response: hi, Member: ada, MemberID: document.OneOrMany[string]{}}, boterr.InvalidArgument, "memberId"},
		{params{Response: hi, MemberID: document.One("")}, boterr.InvalidArgument, "memberId"},
		{params{Response: hi, MemberID: document.One("ada", "nobody")}, boterr.NotFound, "memberId[1]"},
		{params{Response: send.Template("Hi {{firstName}}"), MemberID: document.One("ada", "zoe")}, boterr.InvalidArgument, "response.text"},
		{params{Response: hi, ChannelID: "fax", MemberID: document.One("fay")}, boterr.Unsupported, ""},
		{params{Response: hi, MessagingType: "UPDATE"}, boterr.InvalidArgument, "messagingType"},
		{params{Response: hi, MessagingTag: "ACCOUNT_UPDATE"}, boterr.InvalidArgument, "messagingTag"},
	} {
		sent, err := w.in("web", "ada").SendResponse(t.Context(), c.params)
		requireField(t, err, c.code, c.field)
		require.Zero(t, sent)
		require.Empty(t, w.able.sent, "%v", err)
	}
}

func TestSend_ErrorsNameTheirSubject(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addChannel("fax", "fax")
	w.addMember(member.Member{ID: "fay", Channel: "fax"})
	w.addMember(member.Member{ID: "zoe", Channel: "web", FirstName: long(send.MaxText)})
	_, err := w.in("fax", "fay").SendResponse(t.Context(), send.SendResponseParams{Response: send.Text("Hi")})
	require.ErrorContains(t, err, `has type "fax"`)
	_, err = w.in("web", "").SendResponse(t.Context(), send.SendResponseParams{
		Response: send.Template("Hi {{firstName}}"), MemberID: document.One("ada", "zoe"),
	})
	require.EqualError(t, err, fmt.Sprintf(
		"invalid argument: response.text: for member zoe: is %d characters long; the limit is %d", send.MaxText+3, send.MaxText))
}

// decoded reads JSON as a T by the rules of package document.
func decoded[T any](t *testing.T, text string) T {
	t.Helper()
	var value T
	require.NoError(t, document.DecodeJSON([]byte(text), &value))
	return value
}

func TestMessaging_OnAlphaAlone(t *testing.T) {
	t.Parallel()
	for platform, want := range map[channel.Type]string{channel.Alpha: "RESPONSE/TAG", channel.Bravo: "/"} {
		w := newWorld(t)
		w.addChannel("c1", platform)
		w.addMember(member.Member{ID: "m1", Channel: "c1"})
		_, err := w.in("c1", "m1").SendResponse(t.Context(), send.SendResponseParams{
			Response: send.Text("Hi"), MessagingType: "RESPONSE", MessagingTag: "TAG",
		})
		require.NoError(t, err)
		require.Equal(t, want, w.able.sent[0].MessagingType+"/"+w.able.sent[0].MessagingTag)
	}
}

func TestThreadOf(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		platform channel.Type
		event    *send.MessageEvent
		want     sends.Thread
	}{
		"in a conversation of several": {
			channel.Charlie, &send.MessageEvent{To: "C1", Data: document.O("thread_ts", "1.1")}, sends.Thread{Conversation: "C1", ID: "1.1"},
		},
		"in a private conversation of several": {
			channel.Charlie, &send.MessageEvent{To: "G1", Data: document.O("thread_ts", "1.1")}, sends.Thread{Conversation: "G1", ID: "1.1"},
		},
		"alone with the bot": {channel.Charlie, &send.MessageEvent{To: "D1", Data: document.O("thread_ts", "1.1")}, sends.Thread{ID: "1.1"}},
		"in no thread":       {channel.Charlie, &send.MessageEvent{To: "C1", Data: document.O("text", "x")}, sends.Thread{}},
		"no event":           {channel.Charlie, nil, sends.Thread{}},
		"another platform":   {channel.Webchat, &send.MessageEvent{To: "C1", Data: document.O("thread_ts", "1.1")}, sends.Thread{}},
	} {
		require.Equal(t, c.want, sends.ThreadOf(c.platform, c.event), name)
	}
}

// threaded is the run of an event in a thread of the scope's channel.
type threaded struct{ noRun }

func (threaded) Thread(context.Context) sends.Thread {
	return sends.Thread{Conversation: "C1", ID: "1.1"}
}

// The scope's member need not be of the scope's channel: in an outlet, it may be the member of a live chat.
func TestSendResponse_ThreadOfOneChannel(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.run = threaded{}
	_, err := w.in("charlie", "ada").SendResponse(t.Context(), send.SendResponseParams{ChannelID: "web", Response: send.Text("Hi")})
	require.NoError(t, err)
	require.Equal(t, "ext-ada", w.able.sent[0].To)
	require.Equal(t, send.Text("Hi"), w.able.sent[0].Response)
}

// unsubscribed is the run of an agenda whose member gets no messages.
type unsubscribed struct{ noRun }

func (unsubscribed) IsLeftOut(*member.Member) bool { return true }

func TestSend_NothingToTheLeftOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.run = unsubscribed{}
	err := asked(sendAlpha, send.SendAlphaResponseParams{})(t.Context(), w.own(channel.Alpha))
	requireField(t, err, boterr.InvalidArgument, "response")
	err = asked(sendHotel, send.SendHotelResponseParams{RecipientID: "x-hotel"})(t.Context(), w.own(channel.Hotel))
	requireField(t, err, boterr.InvalidArgument, "response")
	for kind, sent := range map[string]int{send.ReceiverUser: 0, "bot": 1} {
		p := send.SendHotelResponseParams{RecipientID: "x-hotel", ReceiverType: kind, Response: hi}
		require.NoError(t, asked(sendHotel, p)(t.Context(), w.own(channel.Hotel)))
		require.Len(t, w.able.sent, sent, "a bot with the member's id is another recipient")
		w.able.sent = nil
	}
}

var sendHotel = (*sends.Service).SendHotelResponse

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
	_, err := w.in("hotel", "").SendHotelResponse(t.Context(), send.SendHotelResponseParams{RecipientID: "u1", Response: hi})
	require.NoError(t, err)
	require.Equal(t, "Hi ", w.able.sent[0].Response.Text())
}

func TestSendHotelResponse_MemberIsGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	err := asked(sendHotel, send.SendHotelResponseParams{RecipientID: "u1", Response: hi})(t.Context(), w.in("hotel", "gone"))
	require.ErrorIs(t, err, boterr.NotFound)
	w.requireUntouched()
}

var sendDelta = (*sends.Service).SendDeltaResponse

func TestSendDeltaResponse_OneRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addMember(member.Member{ID: "bob", Channel: "delta", ExternalID: "x-bob", FirstName: "Bob"})
	w.able.batch = send.Batch{ID: "req-1", Status: "QUEUED", Outcomes: []send.Outcome{
		{Delivery: send.Delivery{MessageID: "one", Timestamp: 5}}, {Delivery: send.Delivery{MessageID: "two"}},
	}}
	sent, err := w.own(channel.Delta).SendDeltaResponse(t.Context(), send.SendDeltaResponseParams{
		MemberID: document.One("bob", "m-delta", "bob"), Response: hi,
	})
	require.NoError(t, err)
	require.JSONEq(t, `{"id":"req-1","STATUS":"QUEUED"}`, marshal(t, sent))
	require.Len(t, w.able.batched, 2)
	require.NotEqual(t, w.able.batched[0].ID, w.able.batched[1].ID)
	require.NotEmpty(t, w.able.batched[0].ID)
	require.Equal(t, []send.MessageEvent{
		{To: "x-bob", Type: "TEXT", Data: document.O("text", "Hi Bob"), Timestamp: 5, MessageID: "one"},
		{From: "bot", To: "x-delta", Type: "TEXT", Data: document.O("text", "Hi Mia"), Timestamp: document.TimestampOf(noon), MessageID: "two"},
	}, []send.MessageEvent{sent.Results[0].MessageEvent, sent.Results[1].MessageEvent})
	require.Empty(t, w.able.sent, "none goes out by itself")
}

func TestSendDeltaResponse_NoOutcomeTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sent, err := w.own(channel.Delta).SendDeltaResponse(t.Context(), send.SendDeltaResponseParams{Response: hi})
	require.NoError(t, err)
	require.NotEmpty(t, sent.ID)
	require.Equal(t, "OK", sent.Status)
	require.Len(t, sent.Results, 1)
	require.Equal(t, w.able.batched[0].ID, sent.Results[0].MessageEvent.MessageID)
}

func TestSendDeltaResponse_NoStatusTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addMember(member.Member{ID: "bob", Channel: "delta", ExternalID: "x-bob"})
	refused := send.Outcome{Err: boterr.New(boterr.NotFound, "", "gone")}
	for status, outcomes := range map[string][]send.Outcome{"OK": {{}, {}}, "PARTIAL": {{}, refused}, "FAILED": {refused, refused}} {
		w.able.batch = send.Batch{Outcomes: outcomes}
		sent, err := w.own(channel.Delta).SendDeltaResponse(t.Context(), send.SendDeltaResponseParams{
			MemberID: document.One("bob", "m-delta"), Response: hi,
		})
		require.Equal(t, status == "OK", err == nil)
		require.Equal(t, status, sent.Status)
	}
}

func TestSendDeltaResponse_OutcomesOfOthers(t *testing.T) {
	t.Parallel()
	for _, outcomes := range [][]send.Outcome{{}, {{}, {}}} {
		w := newWorld(t)
		w.able.batch = send.Batch{Outcomes: outcomes}
		err := asked(sendDelta, send.SendDeltaResponseParams{Response: hi})(t.Context(), w.own(channel.Delta))
		require.Equal(t, boterr.Internal, boterr.CodeOf(err))
	}
}

func TestSendDeltaResponse_UnshowableField(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.able.err = boterr.Invalid("text", "is too loud")
	err := asked(sendDelta, send.SendDeltaResponseParams{Response: hi})(t.Context(), w.own(channel.Delta))
	requireField(t, err, boterr.InvalidArgument, "response.text")
}
