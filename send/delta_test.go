package send_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

var sendDelta = (*send.Service).SendDeltaResponse

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

func TestSendDeltaResponse_NamesWhoGotNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addMember(member.Member{ID: "bob", Channel: "delta", ExternalID: "x-bob"})
	w.able.batch = send.Batch{ID: "req-1", Outcomes: []send.Outcome{{}, {Err: boterr.NotFound}}}
	p := send.SendDeltaResponseParams{MemberID: document.One("m-delta", "bob"), Response: send.Text("Hi")}
	sent, err := w.own(channel.Delta).SendDeltaResponse(t.Context(), p)
	require.Equal(t, boterr.Unavailable, boterr.CodeOf(err))
	undelivered, ok := errors.AsType[*send.UndeliveredError](err)
	require.True(t, ok)
	require.Len(t, undelivered.Failures, 1)
	require.Equal(t, "bob", undelivered.Failures[0].MemberID)
	require.True(t, sent.HasOutcomes())
	require.Equal(t, "req-1", sent.ID)
	require.NoError(t, sent.Results[0].Err)
	require.ErrorIs(t, sent.Results[1].Err, boterr.NotFound)

	w.able.batch = send.Batch{ID: "req-2", Outcomes: []send.Outcome{{Err: boterr.ResourceExhausted}}}
	_, err = w.own(channel.Delta).SendDeltaResponse(t.Context(), send.SendDeltaResponseParams{Response: hi})
	require.Equal(t, boterr.ResourceExhausted, boterr.CodeOf(err), "one member alone gives its own code")
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

func TestSendDeltaResponse_Refuses(t *testing.T) {
	t.Parallel()
	type params = send.SendDeltaResponseParams
	requireRefusals(t, channel.Delta, []refusal{
		{asked(sendDelta, params{}), boterr.InvalidArgument, "response"},
		{asked(sendDelta, params{Response: send.Text(long(send.MaxText + 1))}), boterr.InvalidArgument, "response.text"},
		{asked(sendDelta, params{Response: hi, MemberID: document.OneOrMany[string]{}}), boterr.InvalidArgument, "memberId"},
		{asked(sendDelta, params{Response: hi, MemberID: document.One("m-delta", "ada")}), boterr.InvalidArgument, "memberId[1]"},
		{asked(sendDelta, params{Response: hi, MemberID: document.One("m-delta", "eve")}), boterr.NotFound, "memberId[1]"},
		{asked(sendDelta, params{Response: hi, Member: stranger()}), boterr.NotFound, "member._id"},
		{asked(sendDelta, params{Response: hi, Channel: elsewhere()}), boterr.NotFound, "channel._id"},
		{asked(sendDelta, params{Response: hi, Channel: &channel.Channel{ID: "delta"}, ChannelID: "web"}), boterr.InvalidArgument, "channelId"},
	})
}

func TestSendDeltaResponse_OnDeltaAlone(t *testing.T) {
	t.Parallel()
	made := asked(sendDelta, send.SendDeltaResponseParams{Response: hi})
	requireForItsPlatform(t, channel.Delta, "channelId", made)
	requirePortNeeded(t, channel.Delta, "channelId", made)
	requirePlatformErrors(t, channel.Delta, made)
}

func TestSendDeltaResponse_UnshowableField(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.able.err = boterr.Invalid("text", "is too loud")
	err := asked(sendDelta, send.SendDeltaResponseParams{Response: hi})(t.Context(), w.own(channel.Delta))
	requireField(t, err, boterr.InvalidArgument, "response.text")
}
