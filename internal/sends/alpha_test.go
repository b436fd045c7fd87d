package sends_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/sends"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

var (
	sendAlpha       = (*sends.Service).SendAlphaResponse
	sendAlphaToMany = (*sends.Service).SendAlphaResponseToMemberIDs
	hi              = send.Template("Hi {{firstName}}")
)

const miaEvent = `{"from":"bot","to":"x-alpha","data":{"text":"Hi Mia"},"type":"TEXT","timestamp":1700000000000,"messageId":"mid"}`

func TestSendAlphaResponse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.able.delivery = send.Delivery{Reply: document.O("recipient_id", "x-alpha", "message_id", "mid"), MessageID: "mid"}
	want := `{"result":{"recipient_id":"x-alpha","message_id":"mid"},"messageEvent":` + miaEvent + `}`
	for _, p := range []send.SendAlphaResponseParams{
		{},
		{ChannelID: "alpha", MemberID: "m-alpha"},
		{Channel: &channel.Channel{ID: "alpha"}, Member: &member.Member{ID: "m-alpha"}},
	} {
		p.Response = hi
		sent, err := w.own(channel.Alpha).SendAlphaResponse(t.Context(), p)
		require.NoError(t, err)
		require.Equal(t, want, marshal(t, sent))
	}
	require.Equal(t, []string{"x-alpha", "x-alpha", "x-alpha"}, w.able.recipients())
}

func TestSendAlphaResponse_Refuses(t *testing.T) {
	t.Parallel()
	type params = send.SendAlphaResponseParams
	requireRefusals(t, channel.Alpha, []refusal{
		{asked(sendAlpha, params{}), boterr.InvalidArgument, "response"},
		{asked(sendAlpha, params{Response: send.Buttons("?")}), boterr.InvalidArgument, "response.buttons"},
		{asked(sendAlpha, params{Response: hi, Channel: &channel.Channel{}}), boterr.InvalidArgument, "channel._id"},
		{asked(sendAlpha, params{Response: hi, Channel: &channel.Channel{ID: "alpha"}, ChannelID: "web"}), boterr.InvalidArgument, "channelId"},
		{asked(sendAlpha, params{Response: hi, ChannelID: "nowhere"}), boterr.NotFound, "channelId"},
		{asked(sendAlpha, params{Response: hi, Channel: elsewhere()}), boterr.NotFound, "channel._id"},
		{asked(sendAlpha, params{Response: hi, ChannelID: "echo"}), boterr.Unsupported, "channelId"},
		{asked(sendAlpha, params{Response: hi, Channel: &channel.Channel{ID: "echo"}}), boterr.Unsupported, "channel"},
		{asked(sendAlpha, params{Response: hi, MemberID: "nobody"}), boterr.NotFound, "memberId"},
		{asked(sendAlpha, params{Response: hi, Member: stranger()}), boterr.NotFound, "member._id"},
		{asked(sendAlpha, params{Response: hi, Member: &member.Member{ID: "m-alpha"}, MemberID: "ada"}), boterr.InvalidArgument, "memberId"},
		{asked(sendAlpha, params{Response: hi, MemberID: "ada"}), boterr.InvalidArgument, "memberId"},
		{asked(sendAlpha, params{Response: hi, MemberID: "bare-alpha"}), boterr.FailedPrecondition, "memberId"},
	})
}

func TestAlphaResponses_OnAlphaAlone(t *testing.T) {
	t.Parallel()
	requireForItsPlatform(t, channel.Alpha, "channelId", asked(sendAlpha, send.SendAlphaResponseParams{Response: hi}))
	requireForItsPlatform(t, channel.Alpha, "channelId", asked(sendAlphaToMany, send.SendAlphaResponseToMemberIDsParams{
		MemberID: document.One("m-alpha"), Response: hi,
	}))
}

func TestSendAlphaResponseToMemberIDs_TriesAll(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addMember(member.Member{ID: "bob", Channel: "alpha", ExternalID: "x-bob", FirstName: "Bob"})
	w.able.fail = map[string]error{"x-alpha": boterr.ResourceExhausted}
	sent, err := w.own(channel.Alpha).SendAlphaResponseToMemberIDs(t.Context(), send.SendAlphaResponseToMemberIDsParams{
		MemberID: document.One("m-alpha", "bob", "m-alpha"), Response: hi,
	})
	require.Equal(t, boterr.Unavailable, boterr.CodeOf(err))
	undelivered, ok := errors.AsType[*send.UndeliveredError](err)
	require.True(t, ok)
	require.Equal(t, "m-alpha", undelivered.Failures[0].MemberID)
	require.Len(t, sent.Results, 2)
	require.ErrorIs(t, sent.Results[0].Err, boterr.ResourceExhausted)
	require.Equal(t, "Hi Bob", sent.Results[1].MessageEvent.Text())
	require.Equal(t, []string{"x-bob"}, w.able.recipients())
}

func TestSendAlphaResponseToMemberIDs_ListOfOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.able.delivery = send.Delivery{MessageID: "mid"}
	p := send.SendAlphaResponseToMemberIDsParams{MemberID: document.One("m-alpha"), Response: hi}
	sent, err := w.own(channel.Alpha).SendAlphaResponseToMemberIDs(t.Context(), p)
	require.NoError(t, err)
	require.JSONEq(t, `[{"result":{},"messageEvent":`+miaEvent+`}]`, marshal(t, sent))

	require.True(t, sent.HasOutcomes())
	require.Equal(t, marshal(t, sent), marshal(t, read[send.SendAlphaResponseToMemberIDsResult](t, marshal(t, sent))))

	w.able.fail = map[string]error{"x-alpha": boterr.Invalid("text", "is too loud")}
	sent, err = w.own(channel.Alpha).SendAlphaResponseToMemberIDs(t.Context(), p)
	requireField(t, err, boterr.InvalidArgument, "response.text")
	require.ErrorIs(t, sent.Results[0].Err, boterr.InvalidArgument)
}

func TestSendAlphaResponseToMemberIDs_Refuses(t *testing.T) {
	t.Parallel()
	type params = send.SendAlphaResponseToMemberIDsParams
	ids := document.One("m-alpha")
	requireRefusals(t, channel.Alpha, []refusal{
		{asked(sendAlphaToMany, params{Response: hi}), boterr.InvalidArgument, "memberId"},
		{asked(sendAlphaToMany, params{Response: hi, MemberID: document.OneOrMany[string]{}}), boterr.InvalidArgument, "memberId"},
		{asked(sendAlphaToMany, params{MemberID: ids}), boterr.InvalidArgument, "response"},
		{asked(sendAlphaToMany, params{MemberID: ids, Response: send.Text("")}), boterr.InvalidArgument, "response.text"},
		{asked(sendAlphaToMany, params{MemberID: document.One("m-alpha", "eve"), Response: hi}), boterr.NotFound, "memberId[1]"},
		{asked(sendAlphaToMany, params{MemberID: document.One("m-alpha", "ada"), Response: hi}), boterr.InvalidArgument, "memberId[1]"},
		{asked(sendAlphaToMany, params{MemberID: ids, Response: hi, Channel: elsewhere()}), boterr.NotFound, "channel._id"},
		{asked(sendAlphaToMany, params{MemberID: ids, Response: hi, ChannelID: "echo"}), boterr.Unsupported, "channelId"},
	})
}

// slow is a connector that takes a second for a message, and panics for some.
type slow struct {
	now, most atomic.Int64
	panicsFor string
}

func (s *slow) Send(ctx context.Context, message send.Message) (send.Delivery, error) {
	n := s.now.Add(1)
	defer s.now.Add(-1)
	s.most.Store(max(s.most.Load(), n))
	if message.Member.ID == s.panicsFor {
		panic("no such thing")
	}
	select {
	case <-time.After(time.Second):
		return send.Delivery{}, nil
	case <-ctx.Done():
		return send.Delivery{}, ctx.Err()
	}
}

// toMany returns the call that sends to ten members through a slow connector.
func toMany(t *testing.T, connector *slow, parallel int) func(context.Context) (send.SendAlphaResponseToMemberIDsResult, error) {
	t.Helper()
	w := newWorld(t)
	w.parallel = parallel
	ids := make([]string, 10)
	for i := range ids {
		ids[i] = string(rune('a' + i))
		w.addMember(member.Member{ID: ids[i], Channel: "alpha", ExternalID: "x-" + ids[i]})
	}
	return func(ctx context.Context) (send.SendAlphaResponseToMemberIDsResult, error) {
		return w.of("alpha", "", connector).SendAlphaResponseToMemberIDs(ctx, send.SendAlphaResponseToMemberIDsParams{
			MemberID: ids, Response: send.Text("Hi"),
		})
	}
}

func TestSendAlphaResponseToMemberIDs_AtOnce(t *testing.T) {
	t.Parallel()
	for parallel, want := range map[int]int64{-1: 1, 0: 1, 1: 1, 4: 4, 100: 10} {
		synctest.Test(t, func(t *testing.T) {
			connector := &slow{}
			sent, err := toMany(t, connector, parallel)(t.Context())
			require.NoError(t, err)
			require.Equal(t, want, connector.most.Load())
			for i, result := range sent.Results {
				require.Equal(t, "x-"+string(rune('a'+i)), result.MessageEvent.To, "in order")
			}
		})
	}
}

func TestSendAlphaResponseToMemberIDs_ConnectorPanics(t *testing.T) {
	t.Parallel()
	for _, parallel := range []int{1, 4} {
		synctest.Test(t, func(t *testing.T) {
			sent, err := toMany(t, &slow{panicsFor: "c"}, parallel)(t.Context())
			require.Equal(t, boterr.Unavailable, boterr.CodeOf(err))
			panicked, ok := errors.AsType[*send.PanicError](err)
			require.True(t, ok)
			require.Equal(t, "no such thing", panicked.Cause)
			require.NotEmpty(t, panicked.Stack)
			for i, result := range sent.Results {
				require.Equal(t, i == 2, result.Err != nil)
			}
			require.Equal(t, boterr.Internal, boterr.CodeOf(sent.Results[2].Err))
		})
	}
}

func TestSendAlphaResponseToMemberIDs_ContextEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer cancel()
		sent, err := toMany(t, &slow{}, 4)(ctx)
		require.Equal(t, boterr.Canceled, boterr.CodeOf(err))
		for i, result := range sent.Results {
			if i < 4 {
				require.NoError(t, result.Err)
				continue
			}
			require.Equal(t, boterr.Canceled, boterr.CodeOf(result.Err))
		}
		require.ErrorContains(t, sent.Results[7].Err, "not known")
		require.ErrorContains(t, sent.Results[8].Err, "was not sent")
	})
}

func TestAlphaCustomLabels(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	saved, err := w.own(channel.Alpha).AlphaSaveCustomLabel(t.Context(), send.AlphaSaveCustomLabelParams{LabelID: "vip"})
	require.NoError(t, err)
	require.JSONEq(t, `{"id":7}`, marshal(t, saved))
	removed, err := w.of("web", "ada", w.able).AlphaRemoveCustomLabel(t.Context(), send.AlphaRemoveCustomLabelParams{
		Channel: &channel.Channel{ID: "alpha"}, Member: &member.Member{ID: "m-alpha"}, LabelID: "vip",
	})
	require.NoError(t, err)
	require.JSONEq(t, `{"success":true}`, marshal(t, removed))
	require.Equal(t, []string{"alpha/x-alpha + vip", "alpha/x-alpha - vip"}, w.able.log)
}

// contactRefusals are what every call that names a channel and a member as records refuses.
func contactRefusals(made func(*channel.Channel, *member.Member) call) []refusal {
	return []refusal{
		{made(&channel.Channel{}, nil), boterr.InvalidArgument, "channel._id"},
		{made(&channel.Channel{ID: "nowhere"}, nil), boterr.NotFound, "channel._id"},
		{made(elsewhere(), nil), boterr.NotFound, "channel._id"},
		{made(nil, &member.Member{}), boterr.InvalidArgument, "member._id"},
		{made(nil, &member.Member{ID: "nobody"}), boterr.NotFound, "member._id"},
		{made(nil, stranger()), boterr.NotFound, "member._id"},
		{made(nil, &member.Member{ID: "ada"}), boterr.InvalidArgument, "member"},
		{made(nil, &member.Member{ID: "bare-alpha"}), boterr.FailedPrecondition, "member"},
	}
}

func TestAlphaCustomLabels_Refuse(t *testing.T) {
	t.Parallel()
	save, remove := (*sends.Service).AlphaSaveCustomLabel, (*sends.Service).AlphaRemoveCustomLabel
	requireRefusals(t, channel.Alpha, append(
		contactRefusals(func(c *channel.Channel, m *member.Member) call {
			return asked(save, send.AlphaSaveCustomLabelParams{Channel: c, Member: m, LabelID: "vip"})
		}),
		refusal{asked(save, send.AlphaSaveCustomLabelParams{}), boterr.InvalidArgument, "labelId"},
	))
	requireRefusals(t, channel.Alpha, append(
		contactRefusals(func(c *channel.Channel, m *member.Member) call {
			return asked(remove, send.AlphaRemoveCustomLabelParams{Channel: c, Member: m, LabelID: "vip"})
		}),
		refusal{asked(remove, send.AlphaRemoveCustomLabelParams{}), boterr.InvalidArgument, "labelId"},
	))
}

func TestAlphaCustomLabels_OnAlphaAlone(t *testing.T) {
	t.Parallel()
	for _, made := range []call{
		asked((*sends.Service).AlphaSaveCustomLabel, send.AlphaSaveCustomLabelParams{LabelID: "vip"}),
		asked((*sends.Service).AlphaRemoveCustomLabel, send.AlphaRemoveCustomLabelParams{LabelID: "vip"}),
	} {
		requireForItsPlatform(t, channel.Alpha, "channel", made)
		requirePortNeeded(t, channel.Alpha, "channel", made)
		requirePlatformErrors(t, channel.Alpha, made)
	}
}

func TestMemberCalls_NeedAMember(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := asked((*sends.Service).AlphaSaveCustomLabel, send.AlphaSaveCustomLabelParams{LabelID: "vip"})
	requireField(t, made(t.Context(), w.of("", "m-alpha", w.able)), boterr.InvalidArgument, "channel")
	requireField(t, made(t.Context(), w.of("alpha", "", w.able)), boterr.InvalidArgument, "member")
	w.requireUntouched()
}

var passThread = (*sends.Service).AlphaPassThreadControl

func TestAlphaPassThreadControl(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	passed, err := w.own(channel.Alpha).AlphaPassThreadControl(t.Context(), send.AlphaPassThreadControlParams{
		TargetAppID: "inbox", Metadata: "order 7",
	})
	require.NoError(t, err)
	require.JSONEq(t, `{"success":true}`, marshal(t, passed))
	_, err = w.own(channel.Alpha).AlphaPassThreadControl(t.Context(), send.AlphaPassThreadControlParams{})
	require.NoError(t, err)
	require.Equal(t, []string{`alpha/x-alpha to "inbox" with "order 7"`, `alpha/x-alpha to "" with ""`}, w.able.log)
}

func TestAlphaPassThreadControl_Refuses(t *testing.T) {
	t.Parallel()
	requireRefusals(t, channel.Alpha, contactRefusals(func(c *channel.Channel, m *member.Member) call {
		return asked(passThread, send.AlphaPassThreadControlParams{Channel: c, Member: m})
	}))
}

func TestAlphaPassThreadControl_OnAlphaAlone(t *testing.T) {
	t.Parallel()
	made := asked(passThread, send.AlphaPassThreadControlParams{})
	requireForItsPlatform(t, channel.Alpha, "channel", made)
	requirePortNeeded(t, channel.Alpha, "channel", made)
	requirePlatformErrors(t, channel.Alpha, made)
}

var getAttachment = (*sends.Service).AlphaGetAttachmentID

func TestAlphaGetAttachmentID(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, kind := range []send.AttachmentType{"image", "IMAGE", "Image"} {
		got, err := w.of("alpha", "", w.able).AlphaGetAttachmentID(t.Context(), send.AlphaGetAttachmentIDParams{
			Type: kind, URL: "http://10.0.0.1/kettle.png?size=2",
		})
		require.NoError(t, err)
		require.JSONEq(t, `{"attachment_id":"file-1"}`, marshal(t, got))
	}
	require.Equal(t, "alpha takes IMAGE http://10.0.0.1/kettle.png?size=2", w.able.log[2])
}

func TestAlphaGetAttachmentID_Refuses(t *testing.T) {
	t.Parallel()
	type params = send.AlphaGetAttachmentIDParams
	refusals := []refusal{
		{asked(getAttachment, params{URL: "https://shop.example/a"}), boterr.InvalidArgument, "type"},
		{asked(getAttachment, params{Type: "TEXT", URL: "https://shop.example/a"}), boterr.InvalidArgument, "type"},
		{asked(getAttachment, params{Type: "file", URL: "https://shop.example/a", Channel: elsewhere()}), boterr.NotFound, "channel._id"},
	}
	for _, url := range []string{"", "kettle.png", "ftp://shop.example/a", "https://", "https:///a", "https:shop", "https://a b", "file:///etc/passwd"} {
		refusals = append(refusals, refusal{asked(getAttachment, params{Type: "file", URL: url}), boterr.InvalidArgument, "url"})
	}
	requireRefusals(t, channel.Alpha, refusals)
}

func TestAlphaGetAttachmentID_OnAlphaAlone(t *testing.T) {
	t.Parallel()
	made := asked(getAttachment, send.AlphaGetAttachmentIDParams{Type: "file", URL: "https://shop.example/a"})
	requireForItsPlatform(t, channel.Alpha, "channel", made)
	requirePortNeeded(t, channel.Alpha, "channel", made)
	requirePlatformErrors(t, channel.Alpha, made)
}

func TestAlphaGetAttachmentID_UploaderTellsNoID(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.able.fileID = ""
	made := asked(getAttachment, send.AlphaGetAttachmentIDParams{Type: "file", URL: "https://shop.example/a"})
	require.Equal(t, boterr.Internal, boterr.CodeOf(made(t.Context(), w.own(channel.Alpha))))
}

var (
	createBroadcast = (*sends.Service).AlphaCreateBroadcast
	sendBroadcast   = (*sends.Service).AlphaSendBroadcast
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
