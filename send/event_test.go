package send_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send"
)

func TestEvent_WrittenAsRead(t *testing.T) {
	t.Parallel()
	text := `{"from":"a","to":"b","data":{"text":"Hi","z":1,"y":null},"type":"OWN","timestamp":1700000000000,"messageId":"m","extra":[1]}`
	var read send.MessageEvent
	require.NoError(t, json.Unmarshal([]byte(text), &read))
	written, err := json.Marshal(read)
	require.NoError(t, err)
	require.Equal(t, text, string(written))
	require.Equal(t, text, marshal(t, &read))
	object, err := document.Encode(read)
	require.NoError(t, err)
	require.Equal(t, text, object.String())
	var decoded send.MessageEvent
	require.NoError(t, document.Decode(object, &decoded))
	require.Equal(t, read, decoded)
}

func TestEvent_Timestamp(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]document.Timestamp{
		`1700000000123`:         1_700_000_000_123,
		`"1700000000"`:          1_700_000_000_000,
		`"1700000000.1"`:        1_700_000_000_100,
		`"1700000000.029"`:      1_700_000_000_029,
		`"1700000000.12399999"`: 1_700_000_000_123,
		`"9223372036854774"`:    9_223_372_036_854_774_000,
		`1.5`:                   1,
		`null`:                  0,
	} {
		var event send.MessageEvent
		require.NoError(t, json.Unmarshal([]byte(`{"timestamp":`+text+`}`), &event), text)
		require.Equal(t, want, event.Timestamp, text)
	}
}

func TestEvent_Refuses(t *testing.T) {
	t.Parallel()
	for text, field := range map[string]string{
		`{"timestamp":"yesterday"}`:        "timestamp",
		`{"timestamp":""}`:                 "timestamp",
		`{"timestamp":"-5"}`:               "timestamp",
		`{"timestamp":"1.2.3"}`:            "timestamp",
		`{"timestamp":"1.x"}`:              "timestamp",
		`{"timestamp":"9223372036854775"}`: "timestamp",
		`{"timestamp":{}}`:                 "timestamp",
		`{"data":"Hi"}`:                    "data",
		`{"from":7}`:                       "from",
		`[]`:                               "",
	} {
		event := send.MessageEvent{From: "before"}
		err := document.DecodeJSON([]byte(text), &event)
		requireField(t, err, boterr.InvalidArgument, field)
		require.Equal(t, send.MessageEvent{From: "before"}, event, "a refused event changes nothing")
	}
}

func TestEvent_TextAndTap(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		event         *send.MessageEvent
		text, payload string
		value         any
	}{
		{&send.MessageEvent{Type: "TEXT", Data: document.O("text", "Hi", "payload", "p")}, "Hi", "", nil},
		{&send.MessageEvent{Type: "COMMENT", Data: document.O("text", "Hi")}, "", "", nil},
		{&send.MessageEvent{Type: "PAYLOAD", Data: document.O("payload", "book", "text", "Yes")}, "", "book", nil},
		{&send.MessageEvent{Type: "PAYLOAD", Data: document.O("payload", document.O("payload", "book", "value", 2))}, "", "book", int64(2)},
		{&send.MessageEvent{Type: "PAYLOAD"}, "", "", nil},
		{nil, "", "", nil},
	} {
		require.Equal(t, c.text, c.event.Text())
		require.Equal(t, c.payload, c.event.Payload())
		require.Equal(t, c.value, c.event.Value())
	}
}

func TestEvent_Response(t *testing.T) {
	t.Parallel()
	response := send.QuickReplies("Again?", send.QuickReply{Title: "Yes"})
	event := &send.MessageEvent{Type: response.Type(), Data: response.Data()}
	require.Equal(t, response, event.Response())
	require.True(t, (*send.MessageEvent)(nil).Response().IsZero())
}
