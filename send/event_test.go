package send_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

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
		requireField(t, err, field)
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

func TestAttachmentType_EitherForm(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]send.AttachmentType{
		`"image"`: "IMAGE", `"FILE"`: "FILE", `{"type":"video"}`: "VIDEO", `{"type":"Audio","x":1}`: "AUDIO", `null`: "", `"tape"`: "TAPE",
	} {
		require.Equal(t, want, decoded[send.AttachmentType](t, text), text)
		var read send.AttachmentType
		require.NoError(t, json.Unmarshal([]byte(text), &read))
		require.Equal(t, want, read)
	}
	requireUnread[send.AttachmentType](t, map[string]string{`7`: "", `[]`: "", `{}`: "type", `{"type":7}`: "type", `{"type":null}`: "type"})
}

// requireUnread requires that each JSON text is refused as a T, with the given field.
func requireUnread[T any](t *testing.T, texts map[string]string) {
	t.Helper()
	for text, field := range texts {
		var read struct {
			P T `json:"p"`
		}
		err := document.DecodeJSON([]byte(`{"p":`+text+`}`), &read)
		if field != "" {
			field = "." + field
		}
		requireField(t, err, "p"+field)
	}
}

func TestOnlyMember_InAList(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"memberId":"ada"}`: "ada", `{"memberId":["ada"]}`: "ada", `{"memberId":null}`: "", `{"memberId":""}`: "",
	} {
		require.Equal(t, want, decoded[send.SendAlphaResponseParams](t, text).MemberID, text)
		require.Equal(t, want, decoded[send.SavePostCommentAnalyticsParams](t, text).MemberID, text)
	}
	requireUnread[send.SendAlphaResponseParams](t, map[string]string{
		`{"memberId":7}`: "memberId", `{"memberId":{}}`: "memberId", `{"memberId":[]}`: "memberId",
		`{"memberId":["ada","bob"]}`: "memberId", `{"memberId":[7]}`: "memberId[0]", `{"memberId":[null]}`: "memberId[0]",
		`{"memberId":[""]}`: "memberId[0]",
	})
}

func TestStoredMessageID_EveryForm(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]send.BroadcastID{
		`"5"`: "5", `5`: "5", `5.0`: "5", `null`: "",
		`{"message_creative_id":5}`: "5", `{"broadcast_id":"5"}`: "5", `{"broadcastId":5}`: "5", `{"id":5}`: "5",
		`{"id":1,"message_creative_id":5}`:                                "5",
		`{"message_creative_id":null,"id":5}`:                             "5",
		`{"response":{"message_creative_id":5},"accessToken":"x"}`:        "5",
		`{"ok":1,"result":[{"response":{"id":"5"},"accessToken":"x"}]}`:   "5",
		`{"message_creative_id":9007199254740993}`:                        "9007199254740993",
		`{"ok":1,"result":[{"response":{"id":"5"}}],"response":{"id":6}}`: "6",
	} {
		require.Equal(t, want, decoded[send.BroadcastID](t, text), text)
		var read send.BroadcastID
		require.NoError(t, json.Unmarshal([]byte(text), &read))
		require.Equal(t, want, read)
	}
	requireUnread[send.BroadcastID](t, map[string]string{
		`""`: "", `true`: "", `[]`: "", `{}`: "", `1.5`: "", `1e300`: "", `{"id":{}}`: "id", `{"id":""}`: "id", `{"response":{}}`: "response",
		`{"result":[]}`: "result", `{"result":[{"id":1},{"id":2}]}`: "result", `{"result":[7.5]}`: "result[0]", `{"response":7}`: "",
	})
}

func TestTimestamp_TextOrNumber(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]send.MessageTS{
		`"1767225600.000100"`: "1767225600.000100", `1767225600.000100`: "1767225600.000100", `1767225600.000000`: "1767225600.000000",
		`1767225600123`: "1767225600123", `"any text"`: "any text", `0`: "0", `null`: "",
	} {
		read := decoded[send.MessageTS](t, text)
		require.Equal(t, want, read, text)
		written, err := json.Marshal(read)
		require.NoError(t, err)
		require.Equal(t, `"`+string(want)+`"`, string(written))
		require.NoError(t, json.Unmarshal([]byte(text), &read))
		require.Equal(t, want, read)
	}
	requireUnread[send.MessageTS](t, map[string]string{`-1`: "", `-0.5`: "", `1e300`: "", `true`: "", `{}`: "", `[]`: ""})
}
