package sends_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/internal/sends"
	"github.com/botctx/go-sdk/member"
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
		service := sends.New(record.Env{Store: memstore.New()}, record.Scope{App: "acme", Channel: "web", Member: "grace"}, sends.Ports{
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

// FuzzResponse sends any JSON as a response: it is refused with a path, or sent and
// written as it was read.
func FuzzResponse(f *testing.F) {
	for _, text := range []string{
		`null`, `7`, `{}`, `{"type":"TEXT","text":"Hi {{firstName}}"}`, `{"text":"\u2028\ud83d","type":"X","n":[1e3,-0,1.50]}`,
		`{"type":"BUTTON","text":"?","buttons":[{"type":"postback","title":"Yes","payload":{"payload":"y","value":[1]}}]}`,
		`{"type":"CAROUSEL","carousel":[{"title":"A"}]}`, `{"type":"X","n":1e999}`, `{"type":"X","":{"":""},"type":"Y"}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if !json.Valid(text) {
			return
		}
		var params send.SendResponseParams
		if err := document.DecodeJSON([]byte(`{"response":`+string(text)+`}`), &params); err != nil {
			requireResponsePath(t, err)
			return
		}
		p := newPlatform(t)
		params.Response = send.Raw(params.Response.Object())
		if _, err := p.in("web", "ada").SendResponse(t.Context(), params); err != nil {
			requireResponsePath(t, err)
			require.Empty(t, p.outbox.sent)
			return
		}
		want, err := document.ParseJSON(text)
		require.NoError(t, err)
		require.Equal(t, document.O("r", want).String(), document.O("r", p.outbox.sent[0].Response.Object()).String())
	})
}

func requireResponsePath(t *testing.T, err error) {
	t.Helper()
	require.ErrorIs(t, err, boterr.InvalidArgument)
	e, _ := boterr.AsError(err)
	require.True(t, strings.HasPrefix(e.Field, "response"), "%v", err)
}

// archives is a connector that archives conversations and puts labels on recipients.
type archives struct {
	send.Connector
	send.Labeler

	archived []string
}

func (a *archives) ArchiveConversation(_ context.Context, _ *channel.Channel, conversationID string) error {
	a.archived = append(a.archived, conversationID)
	return nil
}

// around stands around a connector and its archive.
type around struct {
	send.Connector

	name string
}

func (a around) Unwrap() send.Connector { return a.Connector }

func (a around) WrapPort(wanted, inner any) any {
	if _, ok := wanted.(*send.ConversationArchiver); ok {
		return aroundArchive{inner: inner.(send.ConversationArchiver), name: a.name}
	}
	return nil
}

type aroundArchive struct {
	inner send.ConversationArchiver
	name  string
}

func (a aroundArchive) ArchiveConversation(ctx context.Context, in *channel.Channel, id string) error {
	return a.inner.ArchiveConversation(ctx, in, a.name+" "+id)
}

func TestPorts_OfWrappedConnector(t *testing.T) {
	t.Parallel()
	inner := &archives{}
	var outer send.Connector = around{Connector: send.Limited(around{Connector: inner, name: "inner"}, send.Rate{}), name: "outer"}
	archiver, ok := send.PortOf[send.ConversationArchiver](outer)
	require.True(t, ok)
	require.NoError(t, archiver.ArchiveConversation(t.Context(), nil, "c1"))
	require.Equal(t, []string{"inner outer c1"}, inner.archived)

	labeler, ok := send.PortOf[send.Labeler](outer)
	require.True(t, ok, "a port that no wrapper stands around")
	require.Same(t, inner, labeler)
	_, ok = send.PortOf[send.Tagger](outer)
	require.False(t, ok, "a port that the connector does not have")
	_, ok = send.PortOf[send.Labeler](nil)
	require.False(t, ok, "no connector")
}

// everybody are members of every id.
type everybody struct{}

func (everybody) GetMember(_ context.Context, p member.GetParams) (*member.Member, error) {
	return &member.Member{ID: p.MemberID, Channel: "web", ExternalID: p.MemberID, FirstName: "Ada"}, nil
}

// counter is a connector that counts what it is sent.
type counter struct{ sent atomic.Int64 }

func (c *counter) Send(context.Context, send.Message) (send.Delivery, error) {
	c.sent.Add(1)
	return send.Delivery{}, nil
}

// BenchmarkSendToTenThousandMembers sends to 10,000 members, each from a goroutine of its own:
// with a limit that is never reached, and with one that all wait for. heap-MB is what the heap
// holds after a round, growth-MB how much more that is after the last than after the first.
func BenchmarkSendToTenThousandMembers(b *testing.B) {
	for name, rate := range map[string]send.Rate{
		"unlimited":    {},
		"free":         {Messages: 1_000_000, Burst: 1_000_000},
		"10000/second": {Messages: 10_000, Burst: 100},
	} {
		b.Run(name, func(b *testing.B) {
			platform := &counter{}
			var connector send.Connector = platform
			if rate.Messages > 0 {
				connector = send.Limited(platform, rate)
			}
			s := sends.New(record.Env{Store: memstore.New()}, record.Scope{App: "acme", Channel: "web"}, sends.Ports{
				Channels: onlyChannel{}, Members: everybody{}, Connectors: map[channel.Type]send.Connector{channel.Webchat: connector},
			})
			var first, last float64
			rounds := 0
			var inRounds time.Duration
			for b.Loop() {
				started := b.Elapsed()
				sendToAll(b, s)
				b.StopTimer()
				inRounds += b.Elapsed() - started
				if last = heapMB(); rounds == 0 {
					first = last
				}
				rounds++
				b.StartTimer()
			}
			require.EqualValues(b, rounds*10_000, platform.sent.Load())
			b.ReportMetric(float64(rounds)*10_000/inRounds.Seconds(), "sends/s")
			b.ReportMetric(last, "heap-MB")
			b.ReportMetric(last-first, "growth-MB")
		})
	}
}

// sendToAll sends a text to 10,000 members at once.
func sendToAll(b *testing.B, s *sends.Service) {
	b.Helper()
	var group sync.WaitGroup
	for i := range 10_000 {
		group.Go(func() {
			_, err := s.SendResponse(b.Context(), send.SendResponseParams{
				MemberID: []string{strconv.Itoa(i)}, Response: send.Template("Hi {{firstName}}"),
			})
			if err != nil {
				b.Error(err)
			}
		})
	}
	group.Wait()
}

// heapMB is what the heap holds after a collection.
func heapMB() float64 {
	runtime.GC() //nolint:revive // What is left after a collection is what counts.
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return float64(stats.HeapInuse) / (1 << 20)
}

// BenchmarkSendAlphaResponseToMemberIDs sends to 10,000 members by one call.
func BenchmarkSendAlphaResponseToMemberIDs(b *testing.B) {
	ids := make([]string, 10_000)
	for i := range ids {
		ids[i] = strconv.Itoa(i)
	}
	for _, parallel := range []int{1, 16} {
		b.Run(strconv.Itoa(parallel), func(b *testing.B) {
			s := sends.New(record.Env{Store: memstore.New()}, record.Scope{App: "acme", Channel: "web"}, sends.Ports{
				Channels: alphaOnly{}, Members: everybody{}, ParallelSends: parallel,
				Connectors: map[channel.Type]send.Connector{channel.Alpha: &counter{}},
			})
			for b.Loop() {
				_, err := s.SendAlphaResponseToMemberIDs(b.Context(), send.SendAlphaResponseToMemberIDsParams{
					MemberID: ids, Response: send.Template("Hi {{firstName}}"),
				})
				require.NoError(b, err)
			}
			b.ReportMetric(float64(b.N)*10_000/b.Elapsed().Seconds(), "sends/s")
		})
	}
}

// alphaOnly gives an Alpha channel of any id.
type alphaOnly struct{}

func (alphaOnly) Load(_ context.Context, id string) (*channel.Channel, error) {
	return &channel.Channel{ID: id, App: "acme", Type: channel.Alpha}, nil
}
