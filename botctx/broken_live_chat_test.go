package botctx_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

func TestLiveChats_ConnectorPanics(t *testing.T) {
	t.Parallel()
	said := send.MessageEvent{Type: send.TypeText, Data: document.O("text", "hi"), From: "grace", To: "desk"}
	for name, call := range map[string]func(t *testing.T, h *host) error{
		"RelayFromAgent": func(t *testing.T, h *host) error {
			t.Helper()
			h.connect(t)
			h.platform.panics = true
			_, err := h.LiveChats("shop").RelayFromAgent(t.Context(), "desk", said)
			return err
		},
		"RelayFromMember": func(t *testing.T, h *host) error {
			t.Helper()
			h.connect(t)
			h.platform.panics = true
			_, err := h.LiveChats("shop").RelayFromMember(t.Context(), "ada", said)
			return err
		},
		"Take": func(t *testing.T, h *host) error {
			t.Helper()
			asked, err := h.ada.CreateAssignment(t.Context(), livechat.CreateAssignmentParams{
				AssignmentDetails: livechat.AssignmentDetails{Summary: "A kettle."},
			})
			require.NoError(t, err)
			h.platform.panics = true
			_, err = h.LiveChats("shop").Take(t.Context(), livechat.TakeParams{
				AssignmentID: asked.AssignmentID, ChannelID: "desk", AdminExternalID: "grace",
			})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHost(t, channel.Webchat, channel.Charlie)
			var err error
			require.NotPanics(t, func() { err = call(t, h) })
			require.Equal(t, boterr.Internal, boterr.CodeOf(err), "%v", err)
			var panicked *boterr.PanicError
			require.ErrorAs(t, err, &panicked)
			require.Contains(t, string(panicked.Stack), "plain")
			require.Contains(t, h.lines.String(), "botctx: panic")
			require.Contains(t, h.lines.String(), "app=shop")
			require.NotContains(t, h.lines.String(), "S3CRET")
		})
	}
}

func TestPanic_LoggedOnce(t *testing.T) {
	t.Parallel()
	h := newHost(t, channel.Webchat, channel.Charlie)
	h.platform.panics = true
	scope := record.Scope{App: "shop", Channel: "web"}
	_, err := members.New(h.Env(), scope, channels.New(h.Env(), scope)).Insert(t.Context(), member.Member{
		ID: "bob", App: "shop", Channel: "web", ExternalID: "e-bob", FirstName: "Bob",
	})
	require.NoError(t, err)
	_, err = h.ada.SendResponse(t.Context(), send.SendResponseParams{MemberID: document.One("ada", "bob"), Response: send.Text("hi")})
	require.Error(t, err)
	require.Equal(t, 1, strings.Count(h.lines.String(), "botctx: panic"), h.lines.String())
	require.Contains(t, h.lines.String(), "op=sendResponse")
	require.Contains(t, h.lines.String(), "plain")
	require.NotContains(t, h.lines.String(), "S3CRET")
}
