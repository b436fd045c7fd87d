package send_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/send"
)

var (
	createBroadcast = (*send.Service).AlphaCreateBroadcast
	sendBroadcast   = (*send.Service).AlphaSendBroadcast
	toVIPs          = send.AlphaSendBroadcastParams{BroadcastID: "5", LabelID: "vip", NotificationType: "REGULAR"}
)

func TestAlphaCreateBroadcast_AsItIs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	stored, err := w.of("alpha", "", w.able).AlphaCreateBroadcast(t.Context(), send.AlphaCreateBroadcastParams{Response: hi})
	require.NoError(t, err)
	require.Equal(t, []string{`alpha stores {"type":"TEXT","text":"Hi {{firstName}}"}`}, w.able.log)
	require.Equal(t, int64(1), stored.OK)
	require.Equal(t, `{"message_creative_id":5}`, stored.Result[0].Response.String())
	require.Equal(t, "s3cret", stored.Result[0].AccessToken.Reveal())
	require.NotContains(t, marshal(t, stored), "s3cret")
}

func TestAlphaSendBroadcast_ToLabel(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sent, err := w.of("alpha", "", w.able).AlphaSendBroadcast(t.Context(), toVIPs)
	require.NoError(t, err)
	require.JSONEq(t, `{"broadcast_id":11}`, marshal(t, sent))
	require.Equal(t, []string{"alpha sends 5 to vip, REGULAR"}, w.able.log)
}

func TestAlphaSendBroadcast_ByStoredResult(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	stored, err := w.own(channel.Alpha).AlphaCreateBroadcast(t.Context(), send.AlphaCreateBroadcastParams{Response: hi})
	require.NoError(t, err)
	for _, given := range []any{stored, stored.Result[0], stored.Result[0].Response} {
		require.Equal(t, send.BroadcastID("5"), decoded[send.BroadcastID](t, marshal(t, given)))
	}
	require.Equal(t, send.BroadcastID("5"), stored.Result[0].ID())
	require.Empty(t, send.StoredMessage{}.ID())
}

func TestAlphaBroadcasts_Refuse(t *testing.T) {
	t.Parallel()
	type params = send.AlphaCreateBroadcastParams
	without := func(change func(*send.AlphaSendBroadcastParams)) call {
		p := toVIPs
		change(&p)
		return asked(sendBroadcast, p)
	}
	requireRefusals(t, channel.Alpha, []refusal{
		{asked(createBroadcast, params{}), boterr.InvalidArgument, "response"},
		{asked(createBroadcast, params{Response: send.Carousel()}), boterr.InvalidArgument, "response.carousel"},
		{asked(createBroadcast, params{Response: hi, Channel: elsewhere()}), boterr.NotFound, "channel._id"},
		{without(func(p *send.AlphaSendBroadcastParams) { p.BroadcastID = "" }), boterr.InvalidArgument, "broadcastId"},
		{without(func(p *send.AlphaSendBroadcastParams) { p.LabelID = "" }), boterr.InvalidArgument, "labelId"},
		{without(func(p *send.AlphaSendBroadcastParams) { p.NotificationType = "" }), boterr.InvalidArgument, "notificationType"},
		{without(func(p *send.AlphaSendBroadcastParams) { p.Channel = elsewhere() }), boterr.NotFound, "channel._id"},
	})
}

func TestAlphaBroadcasts_OnAlphaAlone(t *testing.T) {
	t.Parallel()
	for _, made := range []call{asked(createBroadcast, send.AlphaCreateBroadcastParams{Response: hi}), asked(sendBroadcast, toVIPs)} {
		requireForItsPlatform(t, channel.Alpha, "channel", made)
		requirePortNeeded(t, channel.Alpha, "channel", made)
		requirePlatformErrors(t, channel.Alpha, made)
	}
}

func TestAlphaBroadcasts_ConnectorTellsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.able.stored = nil
	err := asked(createBroadcast, send.AlphaCreateBroadcastParams{Response: hi})(t.Context(), w.own(channel.Alpha))
	require.Equal(t, boterr.Internal, boterr.CodeOf(err))
}

func TestAlphaBroadcasts_UnshowableField(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.able.err = boterr.Invalid("text", "is too loud")
	err := asked(createBroadcast, send.AlphaCreateBroadcastParams{Response: hi})(t.Context(), w.own(channel.Alpha))
	requireField(t, err, boterr.InvalidArgument, "response.text")
}

func TestAlphaCreateBroadcast_CopiesAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.able.stored = make([]send.StoredMessage, 1)
	stored, err := w.own(channel.Alpha).AlphaCreateBroadcast(t.Context(), send.AlphaCreateBroadcastParams{Response: hi})
	require.NoError(t, err)
	require.False(t, stored.Result[0].Response.IsZero())
	require.True(t, w.able.stored[0].Response.IsZero(), "a connector may answer from what it keeps")
}
