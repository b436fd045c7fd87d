package send_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store/memstore"
)

// writer writes random JSON in the spelling of the package.
type writer struct{ random *rand.Rand }

// object appends an object with its keys in random order.
func (w writer) object(text []byte, depth int) []byte {
	text = append(text, '{')
	for i, n := range w.random.Perm(w.random.IntN(6)) {
		if i > 0 {
			text = append(text, ',')
		}
		key := []string{"text", "type", "z", "a.b", "", "ключ \"$1\" "}[n]
		text = append(append(text, quoted(key)...), ':')
		text = w.value(text, depth+1)
	}
	return append(text, '}')
}

func (w writer) value(text []byte, depth int) []byte {
	kinds := 7
	if depth > 4 {
		kinds = 5
	}
	switch w.random.IntN(kinds) {
	case 0:
		return append(text, "null"...)
	case 1:
		return strconv.AppendBool(text, w.random.IntN(2) == 0)
	case 2:
		return strconv.AppendInt(text, int64(w.random.Uint64()), 10)
	case 3:
		written, _ := document.AppendJSON(text, w.random.NormFloat64()*float64(w.random.IntN(1000))) // It is finite.
		return written
	case 4:
		return append(text, quoted([]string{"", "Hi {{firstName}}", "<&>\t\n\\", "ß\U0001F600 ", "$set"}[w.random.IntN(5)])...)
	case 5:
		return w.object(text, depth)
	default:
		text = append(text, '[')
		for i := range w.random.IntN(4) {
			if i > 0 {
				text = append(text, ',')
			}
			text = w.value(text, depth+1)
		}
		return append(text, ']')
	}
}

// quoted returns a string as the package writes it.
func quoted(s string) []byte {
	text, _ := document.AppendJSON(nil, s) // A string can always be written.
	return text
}

func TestJSON_ObjectsByteForByte(t *testing.T) {
	t.Parallel()
	w := writer{random: rand.New(rand.NewPCG(1, 2))}
	for range 5000 {
		text := string(w.object(nil, 0))
		var read send.Response
		require.NoError(t, json.Unmarshal([]byte(text), &read))
		require.Equal(t, text, read.String())
		require.Equal(t, text, marshal(t, decoded[send.Response](t, "  "+text+"\n")))
	}
}

func TestJSON_OtherSpellings(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"n":1.0}`:                  `{"n":1}`,
		`{"n":1e3}`:                  `{"n":1000}`,
		`{"n":1.50}`:                 `{"n":1.5}`,
		`{"n":18446744073709551616}`: `{"n":1.8446744073709552e+19}`,
		`{"t":"\u0041\/"}`:           `{"t":"A/"}`,
		`{"n":1e-400}`:               `{"n":0}`,
		`{"t":"\ud800"}`:             "{\"t\":\"\uFFFD\"}",
		`{"t":"\udc00\ud800"}`:       "{\"t\":\"\uFFFD\uFFFD\"}",
		`{"\ud800\u0041":1}`:         "{\"\uFFFDA\":1}",
		`{"a":1,"b":2,"a":3}`:        `{"a":3,"b":2}`,
	} {
		require.Equal(t, want, decoded[send.Response](t, text).String())
	}
}

// FuzzAnyJSONAsAResponse sends any JSON: it is refused with the path of a field in the
// response and nothing is sent, or it is sent and reads back equal.
func FuzzAnyJSONAsAResponse(f *testing.F) {
	for _, text := range []string{
		`null`, `7`, `"Hi"`, `{}`, `{"type":"TEXT","text":"Hi"}`, `{"type":"TEXT","text":"{{firstName}} {{x"}`,
		`"{\"type\":\"TEXT\",\"text\":\"Hi\"}"`, `{"type":"OWN","x":[{"y":{}},1e300,-0.0,"\ud800"]}`, `{"type":""}`,
		`{"type":"BUTTON","text":"?","buttons":[{"type":"postback","title":"a","payload":{"payload":"p","value":[1]}},7]}`,
		`{"type":"QUICK_REPLIES","text":"?","quickReplies":[{"title":"","payload":null}]}`,
		`{"type":"CAROUSEL","carousel":[{"title":"A","buttons":[{"type":"web_url","title":"Go"}]}]}`,
		`{"type":"NEWS","articles":[{"title":"a"},{"title":"b"}]}`, `{"type":"TEMPLATE","elementName":"e"}`,
		`{"type":"X","\udc00\ud800":"\ud83d\u0041","n":1e-400}`, `{"type":"X","x":"` + "\xff" + `"}`,
		`{"type":"TYPING","duration":-1}`, `{"type":"IMAGE","url":{}}`, `{"type":"TEXT","text":"a","type":"IMAGE"}`,
	} {
		f.Add([]byte(text))
	}
	members := crm{"g-1"}
	f.Fuzz(func(t *testing.T, text []byte) {
		sentTo := &outbox{}
		service := send.New(record.Env{Store: memstore.New()}, record.Scope{App: "acme", Channel: "web", Member: "grace"}, send.Ports{
			Channels: onlyChannel{}, Members: members, Connectors: map[channel.Type]send.Connector{channel.Webchat: sentTo},
		})
		var response send.Response
		if err := response.UnmarshalJSON(text); err != nil {
			require.NotEmpty(t, requireRefused(t, err).Message())
			return
		}
		sent, err := service.SendResponse(context.Background(), send.SendResponseParams{Response: send.Raw(response.Object())})
		if err != nil {
			require.True(t, strings.HasPrefix(requireRefused(t, err).Field, "response"), "%v", err)
			require.Empty(t, sentTo.sent)
			return
		}
		require.Len(t, sentTo.sent, 1)
		require.Equal(t, response.String(), sentTo.sent[0].Response.String())
		written, err := json.Marshal(sentTo.sent[0].Response)
		require.NoError(t, err)
		require.Equal(t, response.String(), decoded[send.Response](t, string(written)).String())
		event := sent.Result().MessageEvent
		require.Equal(t, response.Data().String(), event.Data.String())
		require.Equal(t, marshal(t, event), marshal(t, decoded[send.MessageEvent](t, marshal(t, event))))
	})
}

// requireRefused asks for an InvalidArgument that tells what to do.
func requireRefused(t *testing.T, err error) *boterr.Error {
	t.Helper()
	e, ok := boterr.AsError(err)
	require.True(t, ok)
	require.Equal(t, boterr.InvalidArgument, e.Code)
	require.NotEmpty(t, e.Message())
	return e
}

// onlyChannel gives a webchat of any id.
type onlyChannel struct{}

func (onlyChannel) Load(_ context.Context, id string) (*channel.Channel, error) {
	return &channel.Channel{ID: id, App: "acme", Type: channel.Webchat}, nil
}
