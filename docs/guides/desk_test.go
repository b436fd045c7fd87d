package guides_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/host/desk"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
)

// openDesk returns a runtime with a desk, and the desk.
func openDesk(ctx context.Context, database store.Store, web send.Connector) (*botctx.Runtime, *desk.Desk, error) {
	agents, err := desk.New(desk.Config{Store: database})
	if err != nil {
		return nil, nil, err
	}
	if err := errors.Join(botctx.EnsureIndexes(ctx, database), desk.EnsureIndexes(ctx, database)); err != nil {
		return nil, nil, err
	}
	rt, err := botctx.New(botctx.Config{
		Store:      database,
		Connectors: send.Connectors{channel.Webchat: web, desk.Type: agents},
	})
	return rt, agents, err
}

// addTeams adds the desk's channel with two teams, and pairs the chat on the web page with it.
func addTeams(ctx context.Context, rt *botctx.Runtime) error {
	_, err := rt.SaveChannel(ctx, app, &channel.Channel{
		ID: "desk", Type: desk.Type, On: true,
		BroadcastGroups: []channel.BroadcastGroup{
			{Label: livechat.DefaultLabel, Groups: []channel.BroadcastGroupMember{{ID: "support", Type: "team"}}},
			{Label: "sales", Groups: []channel.BroadcastGroupMember{{ID: "sellers", Type: "team"}}},
		},
	})
	if err != nil {
		return err
	}
	return rt.Pair(ctx, app, "web", "desk")
}

// deskPage returns the page for agents. session is the host's sign-in: it returns the agent of a request.
func deskPage(agents *desk.Desk, rt *botctx.Runtime, session func(r *http.Request) (id, name string)) (http.Handler, error) {
	page, err := agents.Handler(desk.PageConfig{
		Runtime: rt,
		Agent: func(r *http.Request) (*desk.Agent, error) {
			id, name := session(r)
			if id == "" {
				return nil, nil // No one is signed in.
			}
			return &desk.Agent{ID: id, Name: name, Apps: []string{app}}, nil
		},
	})
	if err != nil {
		return nil, err
	}
	return http.StripPrefix("/desk", page), nil
}

// silent is a connector that drops all messages.
type silent struct{}

func (silent) Send(context.Context, send.Message) (send.Delivery, error) { return send.Delivery{}, nil }

func TestDesk_Guide(t *testing.T) {
	t.Parallel()
	rt, agents, err := openDesk(t.Context(), memstore.New(), silent{})
	require.NoError(t, err)
	_, err = rt.SaveChannel(t.Context(), app, &channel.Channel{ID: "web", Type: channel.Webchat, On: true})
	require.NoError(t, err)
	require.NoError(t, addTeams(t.Context(), rt))
	rt.HandleFunc(callAgent)
	require.NoError(t, rt.Receive(t.Context(), botctx.Inbound{
		App: app, Channel: "web", Profile: member.Member{FirstName: "Ada"}, Event: send.MessageEvent{From: "ada", To: "bot", Type: send.TypeText},
	}))
	open, err := rt.FindAssignments(t.Context(), app, botctx.Query{})
	require.NoError(t, err)
	require.Len(t, open, 1)
	page, err := deskPage(agents, rt, func(r *http.Request) (id, name string) { return r.Header.Get("X-Agent"), "Grace" })
	require.NoError(t, err)
	for agent, status := range map[string]int{"": http.StatusUnauthorized, "grace": http.StatusOK} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/desk/chats/"+app+"/"+open[0].ID+"/take", strings.NewReader("{}"))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("X-Agent", agent)
		w := httptest.NewRecorder()
		page.ServeHTTP(w, r)
		require.Equal(t, status, w.Code, w.Body)
	}
	_, err = rt.EraseMember(t.Context(), app, open[0].Member)
	require.NoError(t, err)
}

// callAgent asks for a person, unless the event is an agent's.
func callAgent(ctx context.Context, bot *botctx.Context) error {
	if bot.Channel.Type == desk.Type {
		return nil
	}
	_, err := bot.CreateAssignment(ctx, livechat.CreateAssignmentParams{})
	return err
}
