package webchat_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/webchat"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/livechat/livechattest"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store"
)

// on starts a session of a user on a channel.
func (w *world) on(channelID, user string) started {
	w.t.Helper()
	signed, err := webchat.SignUser(channel.NewSecret(secret), webchat.User{ID: user, Expires: w.clock.now().Add(time.Minute)})
	require.NoError(w.t, err)
	return w.session(fields{"channel": channelID, "user": signed})
}

// pages are the web chats of a host. Agents use the channel desk. Members may use another webchat channel.
type pages struct {
	*livechattest.MemoryHost
	*world

	agents, members []started
	isDown          atomic.Bool
	// times is the number of times that a page sends each message. written is the number of messages so far.
	times, written int
}

// newPages returns a host. If inlet is nil, its members do not use a webchat.
func newPages(t *testing.T, inlet *channel.Channel) *pages {
	t.Helper()
	p := &pages{world: &world{t: t, clock: &clock{}}, times: 1}
	outlet := webchatChannel("desk", secret)
	outlet.BroadcastGroups = []channel.BroadcastGroup{{
		Label: livechat.DefaultLabel, Groups: []channel.BroadcastGroupMember{{ID: "u:grace"}, {ID: "u:hedy"}},
	}}
	down := errors.New("the store is down")
	p.MemoryHost = livechattest.NewHost(t, livechattest.HostConfig{
		Inlet: inlet, Outlet: outlet,
		Connect: func(h *livechattest.MemoryHost) send.Connectors {
			log := store.Wrap(h.Store, func(ctx context.Context, _ store.Call) (context.Context, func(int, error) error, error) {
				if p.isDown.Load() {
					return ctx, nil, down
				}
				return ctx, nil, nil
			})
			connector := newConnector(t, webchat.Config{
				Store: log, Now: h.Now, Limits: webchat.Limits{Messages: 100_000, Requests: 1_000_000, Channel: 1_000_000},
			})
			p.handler = connector.Handler(h.Accept)
			return send.Connectors{channel.Webchat: connector}
		},
	})
	p.clock.at.Store(p.Now().UnixMilli())
	p.agents = []started{p.on("desk", "grace"), p.on("desk", "hedy")}
	if inlet != nil {
		p.members = []started{p.on(inlet.ID, "ada"), p.on(inlet.ID, "bob")}
	}
	return p
}

// posts sends a message from a page, p.times times.
func (p *pages) posts(by started, message fields) {
	p.t.Helper()
	p.written++
	message["clientId"] = fmt.Sprint("c", p.written)
	for range p.times {
		require.Equal(p.t, http.StatusOK, p.do(request{path: "messages", token: by.Token, body: message}).Code)
	}
}

// got returns the messages on a page, except the visitor's own.
func (p *pages) got(of started) []shown {
	var events []shown
	for _, e := range p.history(of, "?limit=50").Events {
		if e.From == "bot" || e.From == "agent" {
			events = append(events, e)
		}
	}
	return events
}

// lines returns the texts of the messages that got returns.
func (p *pages) lines(of started) []livechattest.Line {
	p.t.Helper()
	var lines []livechattest.Line
	for _, e := range p.got(of) {
		lines = append(lines, livechattest.Line{Text: livechattest.TextOf(send.Raw(objectOf(p.t, e.Response)))})
	}
	return lines
}

// ticket returns the text of a live chat's ticket on an agent's page, and the payload of its button.
func (p *pages) ticket(agent int, of livechattest.Chat) (text string, payload any) {
	p.t.Helper()
	for _, e := range p.got(p.agents[agent]) {
		shown := objectOf(p.t, e.Response)
		if document.Get(shown, "buttons[0].payload.value", "") == of.ID {
			return document.Get(shown, "text", ""), document.Get[any](shown, "buttons[0].payload", nil)
		}
	}
	return "", nil
}

// take simulates an agent's tap on a ticket, and returns the first answer to the agent.
func (p *pages) take(agent int, of livechattest.Chat) string {
	p.t.Helper()
	before := len(p.lines(p.agents[agent]))
	_, payload := p.ticket(agent, of)
	p.posts(p.agents[agent], fields{"type": "PAYLOAD", "title": "Take", "payload": payload})
	p.Advance(0)
	if told := p.lines(p.agents[agent])[before:]; len(told) > 0 {
		return told[0].Text
	}
	return ""
}

func (p *pages) harness() *livechattest.Harness {
	return &livechattest.Harness{Host: p.MemoryHost, Inlet: p.Inlet(), Outlet: livechattest.Outlet{
		Channel: "desk",
		Agents:  [2]livechat.Admin{{AdminID: "1", ExternalID: "u:grace", Name: "Grace"}, {AdminID: "2", ExternalID: "u:hedy", Name: "Hedy"}},
		Ticket: func(of livechattest.Chat) string {
			text, _ := p.ticket(0, of)
			return text
		},
		Take: p.take,
		Says: func(agent int, _ livechattest.Chat, text string) string {
			p.posts(p.agents[agent], fields{"type": "TEXT", "text": text})
			return ""
		},
		Shown: func(in livechattest.Chat) []livechattest.Line {
			for _, agent := range p.agents {
				if agent.Visitor == in.Conversation {
					return p.lines(agent)
				}
			}
			return nil
		},
		Repeat: func() { p.times = 2 }, Fail: p.isDown.Store,
	}}
}

func TestOutlet(t *testing.T) {
	t.Parallel()
	livechattest.RunOutlet(t, func(t *testing.T) *livechattest.Harness {
		t.Helper()
		return newPages(t, nil).harness()
	})
}

// Members and agents use the same connector.
func TestOutlet_WithMembersOnAPage(t *testing.T) {
	t.Parallel()
	livechattest.RunOutlet(t, func(t *testing.T) *livechattest.Harness {
		t.Helper()
		p := newPages(t, webchatChannel(channelID, secret))
		h := p.harness()
		h.Inlet = livechattest.Inlet{
			Channel: channelID,
			Says:    func(who int, text string) { p.posts(p.members[who], fields{"type": "TEXT", "text": text}) },
			Shown:   func(who int) []livechattest.Line { return p.lines(p.members[who]) },
		}
		h.Outlet.Fail = nil // The store of the members' pages would fail, too.
		return h
	})
}

// The agent sees a member's file and its name.
func TestLiveChat_RelaysFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	desk := webchatChannel("desk", secret)
	desk.BroadcastGroups = []channel.BroadcastGroup{{Label: "default", Groups: []channel.BroadcastGroupMember{{ID: "u:grace"}}}}
	w.save(desk)
	require.NoError(t, w.runtime.Pair(t.Context(), app, channelID, "desk"))
	_, err := w.runtime.SaveAdmin(t.Context(), app, livechat.Admin{AdminID: "grace", ExternalID: "u:grace", Name: "Grace"})
	require.NoError(t, err)
	require.NoError(t, w.runtime.Handle(&botctx.Node{
		ID: "person", Global: botctx.GlobalInChannel, Trigger: botctx.TextIs("person"), Pre: botctx.Do(func(ctx context.Context, bot *botctx.Context) error {
			_, err := bot.CreateAssignment(ctx, livechat.CreateAssignmentParams{AssignmentDetails: livechat.AssignmentDetails{Summary: "Wants tea"}})
			return err
		}),
	}))
	ada, grace := w.on(channelID, "ada"), w.on("desk", "grace")
	w.writes(ada, "c1", "person")
	w.runs()
	ticket := w.history(grace, "").Events[0].Response
	var payload any
	for _, button := range document.Get(objectOf(t, ticket), "buttons", document.Array{}).All() {
		payload = button.(document.Object).Value("payload")
	}
	tap := w.do(request{path: "messages", token: grace.Token, body: fields{"clientId": "g1", "type": "PAYLOAD", "title": "Take", "payload": payload}})
	require.Equal(t, http.StatusOK, tap.Code)
	w.runs()
	file := answered[uploaded](t, w.uploads(ada, "a.png", png))
	answered[sent](t, w.do(request{path: "messages", token: ada.Token, body: fields{
		"clientId": "c3", "type": "MISC", "attachments": []fields{{"type": "image", "url": file.URL}},
	}}))
	w.runs()

	heard := w.history(grace, "").Events
	attachments, _ := heard[len(heard)-1].Response["attachments"].([]any)
	require.Equal(t, []any{picture(file.URL)}, attachments)
}

func objectOf(tb testing.TB, value any) document.Object {
	tb.Helper()
	object, err := document.Encode(value)
	require.NoError(tb, err)
	return object
}
