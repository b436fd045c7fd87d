package send_test

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
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

var (
	sendAlpha       = (*send.Service).SendAlphaResponse
	sendAlphaToMany = (*send.Service).SendAlphaResponseToMemberIDs
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
