package send_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send"
)

// resultOf returns a result with a reply and a message event of a text.
func resultOf(reply document.Object) send.Result {
	return send.Result{
		Reply: reply, ChatID: "c1",
		MessageEvent: send.MessageEvent{
			From: "bot", To: "ada", Type: "TEXT", Data: document.O("text", "Hi", "url", "u"), Timestamp: 1700, MessageID: "m1",
		},
	}
}

const eventJSON = `{"from":"bot","to":"ada","data":{"text":"Hi","url":"u"},"type":"TEXT","timestamp":1700,"messageId":"m1"}`

func TestResult_Shape(t *testing.T) {
	t.Parallel()
	common := `{"result":{"message_id":"m1"},"messageEvent":` + eventJSON + `}`
	for _, platform := range []channel.Type{
		channel.Alpha, channel.Bravo, channel.Delta, channel.Foxtrot, channel.Hotel, channel.Custom, channel.Webchat, "own",
	} {
		require.Equal(t, common, marshal(t, resultOf(document.O("message_id", "m1")).For(platform)))
	}
	for _, c := range []struct {
		result send.Result
		want   string
	}{
		{resultOf(document.Object{}).For(channel.Alpha), `{"result":{},"messageEvent":` + eventJSON + `}`},
		{resultOf(document.O("a", 1)), `{"result":{"a":1},"messageEvent":` + eventJSON + `,"chatId":"c1"}`},
		{resultOf(document.O("a", 1)).For(channel.Echo).Full(), `{"result":{"a":1},"messageEvent":` + eventJSON + `,"chatId":"c1"}`},
		{
			resultOf(document.O("ts", "1700.01", "message", document.O("text", "Hi"), "warning", "w", "ok", true, "channel", "D1")).
				For(channel.Charlie),
			`{"ok":true,"channel":"D1","ts":"1700.01","message":{"text":"Hi"}}`,
		},
		{
			resultOf(document.Object{}).For(channel.Charlie),
			`{"ok":true,"channel":"c1","ts":"1.700000","message":{"text":"Hi","url":"u"}}`,
		},
		{
			resultOf(document.O("ts", 1503435956.000247, "channel", "D1", "message", document.O())).For(channel.Charlie),
			`{"ok":true,"channel":"D1","ts":"1503435956.000247","message":{}}`,
		},
		{
			resultOf(document.O("news", document.A(1), "msgType", "news", "errcode", 0)).For(channel.Echo),
			`{"msgType":"news","url":"u","text":"Hi","news":[1]}`,
		},
		{resultOf(document.Object{}).For(channel.Echo), `{"msgType":"text","url":"u","text":"Hi"}`},
		{
			send.Result{}.For(channel.Alpha),
			`{"result":{},"messageEvent":{"from":"","to":"","data":{},"type":"","timestamp":0,"messageId":""}}`,
		},
		{send.Result{}.For(channel.Charlie), `{"ok":false,"channel":"","ts":"","message":{}}`},
		{
			send.Result{Err: boterr.New(boterr.NotFound, "", "gone")},
			`{"error":{"code":"NotFound","message":"gone"}}`,
		},
		{send.Result{Err: errors.New("odd")}, `{"error":{"code":"Internal","message":"odd"}}`},
	} {
		require.Equal(t, c.want, marshal(t, c.result))
		require.Equal(t, c.want, rewritten[send.Result](t, c.want), "the shape is remembered when it is read")
	}
}

func TestResult_ReadBack(t *testing.T) {
	t.Parallel()
	full := resultOf(document.O("a", int64(1)))
	require.Equal(t, full, read[send.Result](t, marshal(t, full)))

	common := full.For(channel.Alpha)
	common.ChatID = ""
	require.Equal(t, common, read[send.Result](t, marshal(t, full.For(channel.Bravo))))

	charlie := read[send.Result](t, `{"ok":true,"channel":"D1","ts":"1700000000.000200","message":{"text":"Hi"}}`).For(channel.Charlie)
	require.Equal(t, "D1", charlie.ChatID)
	require.Equal(t, "1700000000.000200", charlie.MessageEvent.MessageID)
	require.Equal(t, document.Timestamp(1_700_000_000_000), charlie.MessageEvent.Timestamp)
	require.Equal(t, "Hi", document.Get(charlie.Reply, "message.text", ""))

	require.Equal(t, charlie.MessageEvent, read[send.Result](t, `{"ok":true,"ts":1700000000.000200}`).For(channel.Charlie).MessageEvent)

	echo := read[send.Result](t, `{"msgType":"text","text":"Hi"}`).For(channel.Echo)
	require.Equal(t, "Hi", document.Get(echo.Reply, "text", ""))

	require.ErrorIs(t, read[send.Result](t, `{"error":{"code":"Conflict"}}`).Err, boterr.Conflict)
}

// A reply decoded for an unknown platform is kept as it is, even if its keys look familiar.
func TestResult_WordsOfAPlatform(t *testing.T) {
	t.Parallel()
	for _, words := range []string{
		`{"ok":true,"channel":"D1","ts":"1700000000.000200","message":{}}`, `{"msgType":"text"}`, `{"posted":{"id":7}}`, `{"result":{}}`,
	} {
		result := read[send.Result](t, words)
		require.Equal(t, words, marshal(t, result))
		require.Equal(t, words, marshal(t, result.For(channel.Alpha)), "it is none of Alpha's")
		require.Equal(t, words, result.Reply.String())
		require.Zero(t, result.MessageEvent)
		require.Empty(t, result.ChatID)
	}
}

func TestResult_Refuses(t *testing.T) {
	t.Parallel()
	for text, field := range map[string]string{
		`{}`: "", `7`: "", `{"messageEvent":7}`: "messageEvent", `{"error":7}`: "error",
	} {
		var result send.Result
		requireField(t, document.DecodeJSON([]byte(text), &result), field)
	}
	require.ErrorContains(t, document.DecodeJSON([]byte(`7`), new(send.Result)), "an object")
}

func TestResults_OneOrSeveral(t *testing.T) {
	t.Parallel()
	one := resultOf(document.O("a", int64(1))).For(channel.Alpha)
	one.ChatID = ""
	object := marshal(t, one)
	for want, results := range map[string][]send.Result{
		object:                            {one},
		"[" + object + "]":                nil,
		"[" + object + "," + object + "]": {one, one},
	} {
		if results == nil {
			require.Equal(t, []send.Result{one}, read[send.SendResponseResult](t, want).Results)
			continue
		}
		require.Equal(t, want, marshal(t, send.SendResponseResult{Results: results}))
		require.Equal(t, results, read[send.SendResponseResult](t, want).Results)
	}
	require.Equal(t, one, send.SendResponseResult{Results: []send.Result{one, {}}}.Result())
	require.Zero(t, send.SendResponseResult{}.Result())
	require.False(t, send.SendResponseResult{}.HasOutcomes())
}

func read[T any](t *testing.T, text string) T {
	t.Helper()
	var value T
	require.NoError(t, json.Unmarshal([]byte(text), &value))
	return value
}
