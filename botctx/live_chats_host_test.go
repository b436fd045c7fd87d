package botctx_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store/memstore"
)

// plain is a host's connector that can do nothing but send.
type plain struct {
	// panics tells that it panics.
	panics bool
	sent   []send.Message
}

func (p *plain) Send(_ context.Context, message send.Message) (send.Delivery, error) {
	if p.panics {
		panic("the platform is broken: token=S3CRET")
	}
	p.sent = append(p.sent, message)
	return send.Delivery{Reply: document.O("ok", true), MessageID: fmt.Sprintf("m%d", len(p.sent)), ChatID: "chat-" + message.To}, nil
}

// host is a Runtime of a host whose one connector can do nothing but send. Ada, in the inlet
// web, is served in the outlet desk.
type host struct {
	*botctx.Runtime

	platform *plain
	// lines are what the Runtime logs.
	lines strings.Builder
	// ada is a context of Ada.
	ada *botctx.Context
}

// newHost returns a host with an inlet and an outlet of these types.
func newHost(t *testing.T, inlet, outlet channel.Type) *host {
	t.Helper()
	host := &host{platform: &plain{}}
	runtime, err := botctx.New(botctx.Config{
		Store:      memstore.New(),
		Connectors: map[channel.Type]send.Connector{inlet: host.platform, outlet: host.platform},
		Logger:     slog.New(slog.NewTextHandler(&host.lines, nil)),
	})
	require.NoError(t, err)
	scope := record.Scope{App: "shop", Channel: "web", Member: "ada"}
	channels := channels.New(runtime.Env(), scope)
	for _, c := range []channel.Channel{
		{ID: "web", App: "shop", Type: inlet, On: true},
		{ID: "desk", App: "shop", Type: outlet, On: true, BroadcastGroups: []channel.BroadcastGroup{
			{Label: "default", Groups: []channel.BroadcastGroupMember{{ID: "support", Type: "user"}}},
			{Label: "sales", Groups: []channel.BroadcastGroupMember{{ID: "sales", Type: "user"}}},
		}},
	} {
		_, err := channels.Save(t.Context(), &c)
		require.NoError(t, err)
	}
	require.NoError(t, channels.Pair(t.Context(), "web", "desk"))
	_, err = members.New(runtime.Env(), scope, channels).Insert(t.Context(), member.Member{
		ID: "ada", App: "shop", Channel: "web", ExternalID: "e-ada", FirstName: "Ada",
	})
	require.NoError(t, err)
	host.Runtime, host.ada = runtime, runtime.Operations(scope)
	return host
}

// connect lets the agent grace talk with Ada.
func (h *host) connect(t *testing.T) {
	t.Helper()
	asked, err := h.ada.CreateAssignment(t.Context(), livechat.CreateAssignmentParams{})
	require.NoError(t, err)
	_, err = h.LiveChats("shop").Take(t.Context(), livechat.TakeParams{
		AssignmentID: asked.AssignmentID, ChannelID: "desk", AdminExternalID: "grace",
	})
	require.NoError(t, err)
}
