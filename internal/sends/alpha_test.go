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
	"github.com/botctx/go-sdk/internal/sends"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

var (
	sendAlpha       = (*sends.Service).SendAlphaResponse
	sendAlphaToMany = (*sends.Service).SendAlphaResponseToMemberIDs
	hi              = send.Template("Hi {{firstName}}")
)

// slow is a connector that takes a second for each message, and panics for some.
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

var getAttachment = (*sends.Service).AlphaGetAttachmentID

func TestAlphaGetAttachmentID(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, kind := range []send.AttachmentType{"image", "IMAGE", "Image", "audio", "video", "file"} {
		got, err := w.in("alpha", "").AlphaGetAttachmentID(t.Context(), send.AlphaGetAttachmentIDParams{
			Type: kind, URL: "http://10.0.0.1/kettle.png?size=2",
		})
		require.NoError(t, err)
		require.JSONEq(t, `{"attachment_id":"file-1"}`, marshal(t, got))
	}
	require.Equal(t, "alpha takes IMAGE http://10.0.0.1/kettle.png?size=2", w.able.log[2])
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

func TestAlphaBroadcasts_ConnectorTellsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.able.stored = nil
	err := asked(createBroadcast, send.AlphaCreateBroadcastParams{Response: hi})(t.Context(), w.own(channel.Alpha))
	require.Equal(t, boterr.Internal, boterr.CodeOf(err))
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
