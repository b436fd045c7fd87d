package send_test

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// answering is a connector to a platform that takes every message and has one reply to all.
type answering struct{ reply document.Object }

func (a answering) Send(context.Context, send.Message) (send.Delivery, error) {
	return send.Delivery{Reply: a.reply}, nil
}

// nested returns an object that is nested so deep.
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

func TestReply_InvalidTimestampOnCharlie(t *testing.T) {
	t.Parallel()
	for ts, id := range map[any]string{"soon": "soon", "": "", true: "", -1.5: "", document.O(): ""} {
		w := newWorld(t)
		sent, err := w.of("charlie", "m-charlie", answering{document.O("ts", ts)}).SendResponse(t.Context(),
			send.SendResponseParams{Response: hi})
		require.NoError(t, err)
		over := read[send.SendResponseResult](t, marshal(t, sent)).Result().For(channel.Charlie)
		require.Equal(t, ts, document.Get[any](over.Reply, "ts", nil))
		require.Equal(t, id, over.MessageEvent.MessageID)
		require.Zero(t, over.MessageEvent.Timestamp)
	}
}

func TestReply_StoredBroadcastIsTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.able.stored[0].Response = document.O("message_creative_id", 5, "reach", math.NaN())
	stored, err := w.own(channel.Alpha).AlphaCreateBroadcast(t.Context(), send.AlphaCreateBroadcastParams{Response: hi})
	require.NoError(t, err)
	require.Contains(t, marshal(t, stored), `"response":{"message_creative_id":5}`)
}

func TestReply_NoResultCouldHoldMessage(t *testing.T) {
	t.Parallel()
	for field, response := range map[string]send.Response{
		"price":     send.Text("Hi").With("price", math.NaN()),
		"prices[1]": send.Text("Hi").With("prices", document.A(1, math.Inf(1))),
		"duration":  send.Raw(document.O("type", "TYPING", "duration", math.NaN())),
	} {
		requireField(t, response.Validate(), boterr.InvalidArgument, field)
	}
	require.NoError(t, send.Text("Hi").With("raw", nested(document.MaxDepth-9)).Validate())
	require.ErrorContains(t, send.Text("Hi").With("raw", nested(document.MaxDepth-8)).Validate(), "nested deeper than")
}
