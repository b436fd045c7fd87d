package sends_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/internal/sends"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

var errLine = errors.New("the line is dead, token=s3cret")

func TestDeliver_ContextEnded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addMember(member.Member{ID: "bob", Channel: "web", ExternalID: "ext-bob"})
	w.addMember(member.Member{ID: "cid", Channel: "web", ExternalID: "ext-cid"})
	ctx, cancel := context.WithCancel(t.Context())
	w.able.before = cancel
	w.able.fail = map[string]error{"ext-ada": errLine}
	sent, err := w.in("web", "ada").SendResponse(ctx, send.SendResponseParams{
		Response: send.Text("Hi"), MemberID: document.One("ada", "bob", "cid"),
	})
	require.ErrorIs(t, err, boterr.Canceled)
	require.Equal(t, boterr.Canceled, boterr.CodeOf(err))
	require.Empty(t, w.able.sent)
	require.Len(t, sent.Results, 3)
	for _, result := range sent.Results {
		require.Equal(t, boterr.Canceled, boterr.CodeOf(result.Err))
	}
}

func TestDeliver_ErrorStaysReadable(t *testing.T) {
	t.Parallel()
	many := &send.UndeliveredError{Of: 1000}
	for i := range 500 {
		many.Failures = append(many.Failures, send.Failure{MemberID: fmt.Sprintf("m%d", i), Err: errLine})
	}
	require.Less(t, len(many.Error()), 2000)
	require.True(t, strings.HasSuffix(many.Error(), " and 480 more"), many.Error())
	require.Len(t, many.Unwrap(), 500)
}

func TestDeliver_NamesOneMember(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.able.fail = map[string]error{"ext-ada": boterr.Invalid("text", "is too loud: %w", errLine)}
	sent, err := w.in("web", "ada").SendResponse(t.Context(), send.SendResponseParams{Response: send.Text("Hi")})
	requireField(t, err, boterr.InvalidArgument, "response.text")
	require.ErrorIs(t, err, errLine)
	require.EqualError(t, err, "invalid argument: response.text: is too loud: the line is dead, token=[redacted]")
	require.Empty(t, sent.Results)
	undelivered, ok := errors.AsType[*send.UndeliveredError](err)
	require.True(t, ok)
	require.Equal(t, 1, undelivered.Of)
	require.Equal(t, "ada", undelivered.Failures[0].MemberID)
}

func TestDeliver_NilPointerAsError(t *testing.T) {
	t.Parallel()
	var none *boterr.Error
	for _, odd := range []error{none, fmt.Errorf("wrapped: %w", none)} {
		w := newWorld(t)
		w.able.fail = map[string]error{"ext-ada": odd}
		_, err := w.in("web", "ada").SendResponse(t.Context(), send.SendResponseParams{Response: send.Text("Hi")})
		require.Equal(t, boterr.Internal, boterr.CodeOf(err))
		require.ErrorContains(t, err, "it should return a plain nil")
	}
}

// empty finds no members and no channels, without returning errors.
type empty struct{}

func (empty) GetMember(context.Context, member.GetParams) (*member.Member, error) {
	return nil, nil //nolint:nilnil // The test needs exactly this.
}

func (empty) Load(context.Context, string) (*channel.Channel, error) {
	return nil, nil //nolint:nilnil // The test needs exactly this.
}

func TestPorts_GiveNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	scope := record.Scope{App: "acme", Channel: "web", Member: "ada"}
	for field, ports := range map[string]sends.Ports{
		"memberId":  {Channels: w.channels, Members: empty{}},
		"channelId": {Channels: empty{}, Members: w.members},
	} {
		_, err := sends.New(w.env, scope, ports).SendResponse(t.Context(), send.SendResponseParams{Response: send.Text("Hi")})
		requireField(t, err, boterr.NotFound, field)
	}
}

func TestDeliver_WithoutAChannel(t *testing.T) {
	t.Parallel()
	for _, connector := range []send.Connector{nil, send.Limited(nil, send.Rate{})} {
		_, err := sends.Deliver(t.Context(), record.Env{}, connector, send.Message{To: "ada", Response: send.Text("Hello")})
		require.ErrorIs(t, err, boterr.InvalidArgument)
		require.ErrorContains(t, err, "channel")
	}
	_, err := sends.Deliver(t.Context(), record.Env{}, nil, send.Message{To: "ada", Channel: &channel.Channel{ID: "c1"}})
	requireField(t, err, boterr.InvalidArgument, "response")
	_, err = send.Limited(nil, send.Rate{}).Send(t.Context(), send.Message{To: "ada", Response: send.Text("Hello")})
	require.ErrorIs(t, err, boterr.InvalidArgument)
}

func TestMessage_WhatNoConnectorCanSend(t *testing.T) {
	t.Parallel()
	whole := send.Message{Channel: &channel.Channel{ID: "c1"}, To: "ada", Response: send.Text("Hello")}
	require.NoError(t, whole.Validate())
	for name, without := range map[string]func(m *send.Message){
		"channel": func(m *send.Message) { m.Channel = nil },
		"to":      func(m *send.Message) { m.To = "" },
		"message": func(m *send.Message) { m.Response = send.Response{} },
	} {
		message := whole
		without(&message)
		err := message.Validate()
		require.ErrorIs(t, err, boterr.InvalidArgument)
		require.ErrorContains(t, err, name)
	}
}

// answering is a connector whose platform accepts every message with the same reply.
type answering struct{ reply document.Object }

func (a answering) Send(context.Context, send.Message) (send.Delivery, error) {
	return send.Delivery{Reply: a.reply}, nil
}

func nested(depth int) document.Object {
	object := document.O()
	for range depth - 1 {
		object = document.O("in", object)
	}
	return object
}

func TestReply_LeavesOutWhatJSONCannotHold(t *testing.T) {
	t.Parallel()
	for want, reply := range map[string]document.Object{
		`{"ok":true}`:           document.O("ok", true, "price", math.NaN(), "lines", document.A(1, math.Inf(1))),
		`{"ok":1,"rates":[1]}`:  document.O("deep", document.O("n", math.Inf(-1)), "ok", 1, "rates", document.A(1)),
		`{}`:                    document.O("odd"),
		`{"message_id":"m-77"}`: document.O("message_id", "m-77", "raw", nested(document.MaxDepth-1)),
	} {
		w := newWorld(t)
		sent, err := w.of("alpha", "m-alpha", answering{reply}).SendResponse(t.Context(), send.SendResponseParams{Response: hi})
		require.NoError(t, err)
		require.Equal(t, want, sent.Result().Reply.String())
		over := read[send.SendResponseResult](t, marshal(t, sent))
		require.Equal(t, want, over.Result().Reply.String())
		require.JSONEq(t, `{"text":"Hi Mia"}`, over.Result().MessageEvent.Data.String())
	}
}

func TestReply_BatchKeepsOutcomes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addMember(member.Member{ID: "bob", Channel: "delta", ExternalID: "x-bob"})
	w.able.batch = send.Batch{Outcomes: []send.Outcome{
		{Delivery: send.Delivery{Reply: document.O("cost", math.NaN())}}, {Err: boterr.ResourceExhausted},
	}}
	sent, err := w.own(channel.Delta).SendDeltaResponse(t.Context(), send.SendDeltaResponseParams{
		Response: hi, MemberID: document.One("m-delta", "bob"),
	})
	require.ErrorIs(t, err, boterr.ResourceExhausted)
	require.NoError(t, sent.Results[0].Err)
	require.Zero(t, sent.Results[0].Reply.Len())
	require.NotEmpty(t, marshal(t, sent.Results[0]))
}

// FuzzResponse sends any JSON as a response. It must be refused with a path, or sent and encoded again unchanged.
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
		w := newWorld(t)
		params.Response = send.Raw(params.Response.Object())
		if _, err := w.in("web", "ada").SendResponse(t.Context(), params); err != nil {
			requireResponsePath(t, err)
			require.Empty(t, w.able.sent)
			return
		}
		want, err := document.ParseJSON(text)
		require.NoError(t, err)
		require.Equal(t, document.O("r", want).String(), document.O("r", w.able.sent[0].Response.Object()).String())
	})
}

func requireResponsePath(t *testing.T, err error) {
	t.Helper()
	require.ErrorIs(t, err, boterr.InvalidArgument)
	e, _ := boterr.AsError(err)
	require.True(t, strings.HasPrefix(e.Field, "response"), "%v", err)
}

// archives is a connector that can archive conversations and label recipients.
type archives struct {
	send.Connector
	send.Labeler

	archived []string
}

func (a *archives) ArchiveConversation(_ context.Context, _ *channel.Channel, conversationID string) error {
	a.archived = append(a.archived, conversationID)
	return nil
}

// around wraps a connector and its archive.
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
