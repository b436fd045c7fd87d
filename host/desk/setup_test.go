package desk_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/host/desk"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/utility"
)

// clock is a clock that moves on by a millisecond each time it is read.
type clock struct{ at atomic.Int64 }

func newClock() *clock {
	c := &clock{}
	c.at.Store(1_760_000_000_000)
	return c
}

func (c *clock) now() time.Time { return time.UnixMilli(c.at.Add(1)).UTC() }

func (c *clock) advance(d time.Duration) { c.at.Add(d.Milliseconds()) }

// inlet is the platform of members. It records the messages that it sends.
type inlet struct {
	mu   sync.Mutex
	sent []send.Message
}

func (i *inlet) Send(_ context.Context, message send.Message) (send.Delivery, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.sent = append(i.sent, message)
	return send.Delivery{}, nil
}

// texts returns the texts that Ada got.
func (i *inlet) texts() []string {
	i.mu.Lock()
	defer i.mu.Unlock()
	var texts []string
	for _, message := range i.sent {
		if message.To == "ada" && message.Response.Text() != "" {
			texts = append(texts, message.Response.Text())
		}
	}
	return texts
}

// allTexts returns the texts that all members got, in order.
func (i *inlet) allTexts() []string {
	i.mu.Lock()
	defer i.mu.Unlock()
	texts := make([]string, len(i.sent))
	for n, message := range i.sent {
		texts[n] = message.Response.Text()
	}
	return texts
}

func (i *inlet) last(t *testing.T) send.Response {
	t.Helper()
	i.mu.Lock()
	defer i.mu.Unlock()
	require.NotEmpty(t, i.sent)
	return i.sent[len(i.sent)-1].Response
}

// tool is another outlet. It takes tickets, until it refuses everything.
type tool struct{ isClosed atomic.Bool }

func (o *tool) refusal() error {
	if o.isClosed.Load() {
		return boterr.New(boterr.FailedPrecondition, "", "the token is revoked")
	}
	return nil
}

func (o *tool) Send(_ context.Context, message send.Message) (send.Delivery, error) {
	return send.Delivery{MessageID: message.ID}, o.refusal()
}

func (o *tool) ShowTaken(context.Context, *channel.Channel, livechat.Ticket, string) error {
	return o.refusal()
}

// secretToken is a credential of every channel.
const secretToken = "token-that-no-page-shows"

// agents are the people who may sign in, by id.
var agents = map[string]desk.Agent{
	"grace": {ID: "grace", Name: "Grace Hopper", Apps: []string{"shop"}},
	"eve":   {ID: "eve", Name: "Eve", Apps: []string{"shop", "bank"}},
	"mal":   {ID: "mal", Name: "Mal", Apps: []string{"bank"}},
	"busy":  {ID: "busy", Name: "Busy", Apps: []string{"shop"}, MaxChats: 1},
	"cha":   {ID: "cha", Name: strings.Repeat("\u8336", 200), Apps: []string{"shop"}},
}

// host is a host with a desk, of two apps.
type host struct {
	t       *testing.T
	clock   *clock
	store   store.Store
	inlet   *inlet
	tool    *tool
	desk    *desk.Desk
	runtime *botctx.Runtime
	handler http.Handler
}

type option func(*desk.PageConfig)

func newHost(t *testing.T, options ...option) *host {
	t.Helper()
	c := newClock()
	return newHostOver(t, c, memstore.New(memstore.WithNow(c.now)), options...)
}

func newHostOver(t *testing.T, c *clock, database store.Store, options ...option) *host {
	t.Helper()
	h := &host{t: t, clock: c, store: database, inlet: &inlet{}, tool: &tool{}}
	var err error
	h.desk, err = desk.New(desk.Config{Store: h.store, Now: c.now, Poll: time.Millisecond})
	require.NoError(t, err)
	h.runtime, err = botctx.New(botctx.Config{
		Store: h.store, Now: c.now, Connectors: send.Connectors{channel.Webchat: h.inlet, desk.Type: h.desk, channel.Charlie: h.tool},
		Flow: botctx.Flow{LiveChatTree: func(*botctx.Context) string { return "in a live chat" }},
	})
	require.NoError(t, err)
	require.NoError(t, botctx.EnsureIndexes(t.Context(), h.store))
	require.NoError(t, desk.EnsureIndexes(t.Context(), h.store))
	require.NoError(t, h.runtime.Handle(nodes()...))
	for _, app := range []string{"shop", "bank"} {
		h.addChannels(app)
	}
	config := desk.PageConfig{Runtime: h.runtime, Agent: func(r *http.Request) (*desk.Agent, error) {
		agent, ok := agents[r.Header.Get("X-Agent")]
		if !ok {
			return nil, nil
		}
		return &agent, nil
	}}
	for _, set := range options {
		set(&config)
	}
	h.handler, err = h.desk.Handler(config)
	require.NoError(t, err)
	return h
}

func (h *host) addChannels(app string) {
	h.t.Helper()
	secrets := channel.OtherInfo{Hidden: channel.Hide(document.O("accessToken", secretToken, "note", secretToken))}
	for _, c := range []*channel.Channel{
		{ID: app + "-web", Name: "A page", Type: channel.Webchat, On: true, Info: secrets, Metadata: document.O("key", secretToken)},
		{ID: app + "-desk", Name: "Desk", Type: desk.Type, On: true, Info: secrets, BroadcastGroups: []channel.BroadcastGroup{
			{Label: livechat.DefaultLabel, Groups: []channel.BroadcastGroupMember{{ID: "support", Type: "team"}}},
			{Label: "sales", Groups: []channel.BroadcastGroupMember{{ID: "sellers", Type: "team"}}},
		}},
	} {
		_, err := h.runtime.SaveChannel(h.t.Context(), app, c)
		require.NoError(h.t, err)
	}
	require.NoError(h.t, h.runtime.Pair(h.t.Context(), app, app+"-web", app+"-desk"))
}

// nodes returns a bot that asks for a person, and ends live chats.
func nodes() []*botctx.Node {
	return []*botctx.Node{
		{ID: "person", Trigger: botctx.TextIs("a person"), Pre: botctx.Do(func(ctx context.Context, bot *botctx.Context) error {
			_, err := bot.CreateAssignment(ctx, livechat.CreateAssignmentParams{
				AssignmentDetails: livechat.AssignmentDetails{Summary: "The kettle leaks."},
			})
			return err
		})},
		{ID: "bye", Tree: "in a live chat", Trigger: botctx.TextIs("bye"), Pre: botctx.Do(func(ctx context.Context, bot *botctx.Context) error {
			_, err := bot.InletEndLiveChat(ctx, livechat.InletEndParams{})
			return err
		})},
	}
}

// runs handles all waiting events.
func (h *host) runs() {
	h.t.Helper()
	for {
		ran, err := h.runtime.RunNextEvent(h.t.Context())
		require.NoError(h.t, err)
		if !ran.Ran {
			return
		}
		require.NoError(h.t, ran.Err)
	}
}

// says sends a text of a member of an app to the bot.
func (h *host) says(app, who, text string) {
	h.t.Helper()
	require.NoError(h.t, h.runtime.Accept(h.t.Context(), botctx.Inbound{
		App: app, Channel: app + "-web",
		Event: send.MessageEvent{From: who, To: "bot", Type: send.TypeText, Data: document.O("text", text), MessageID: h.runtime.Env().NewID()},
		Profile: member.Member{
			FirstName: strings.ToUpper(who[:1]) + who[1:], Meta: document.O("plan", "gold", "password", secretToken),
			Tags: document.A("vip"),
		},
	}))
	h.runs()
}

// asks sends a request of an agent, and returns the status and the answer. A body of nil is a GET.
func (h *host) asks(agent, path string, body any) (int, document.Object) {
	h.t.Helper()
	method, sent := http.MethodGet, io.Reader(http.NoBody)
	if body != nil {
		text, err := json.Marshal(body)
		require.NoError(h.t, err)
		method, sent = http.MethodPost, bytes.NewReader(text)
	}
	r := httptest.NewRequestWithContext(h.t.Context(), method, path, sent)
	r.Header.Set("X-Agent", agent)
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	w := httptest.NewRecorder()
	h.handler.ServeHTTP(w, r)
	require.NotContains(h.t, w.Body.String(), secretToken, path)
	var answer document.Object
	require.NoError(h.t, answer.UnmarshalJSON(w.Body.Bytes()), "%s", w.Body)
	return w.Code, answer
}

// does makes a request that must succeed, and returns the answer.
func (h *host) does(agent, path string, body any) document.Object {
	h.t.Helper()
	status, answer := h.asks(agent, path, body)
	require.Equal(h.t, http.StatusOK, status, "%s", answer)
	return answer
}

// refused asserts that a request is refused with a status, and returns the message.
func (h *host) refused(status int, agent, path string, body any) string {
	h.t.Helper()
	got, answer := h.asks(agent, path, body)
	require.Equal(h.t, status, got, "%s %s", path, answer)
	return document.Get(answer, "error.message", "")
}

type fields map[string]any

var nothing = fields{}

// open returns the open requests of an app, oldest first.
func (h *host) open(app string) []*livechat.AssignmentRecord {
	h.t.Helper()
	found, err := h.runtime.FindAssignments(h.t.Context(), app, botctx.Query{Filter: document.O("endedAt", nil), SortBy: document.O("_id", 1)})
	require.NoError(h.t, err)
	return found
}

// waiting makes a member ask for a person, and returns the path of the chat.
func (h *host) waiting(app, who string) string {
	h.t.Helper()
	h.says(app, who, "a person")
	open := h.open(app)
	require.NotEmpty(h.t, open)
	return "/chats/" + app + "/" + open[len(open)-1].ID
}

// taken is like waiting in the shop, but an agent also takes the request.
func (h *host) taken(who, agent string) string {
	h.t.Helper()
	path := h.waiting("shop", who)
	h.does(agent, path+"/take", nothing)
	return path
}

// log returns the log of a chat, each entry as "from: text".
func (h *host) log(agent, path string) []string {
	h.t.Helper()
	var lines []string
	for _, e := range objects(h.does(agent, path+"/log", nil), "entries") {
		text := document.Get(e, "text", document.Get(e, "response.text", ""))
		lines = append(lines, document.Get(e, "from", "")+": "+text)
	}
	return lines
}

func objects(in document.Object, field string) []document.Object {
	var all []document.Object
	for _, item := range document.Get(in, field, document.Array{}).All() {
		all = append(all, item.(document.Object))
	}
	return all
}

// uploads keeps the files of agents in memory.
func uploads(kept *[]utility.StoredFile) option {
	return func(c *desk.PageConfig) {
		c.Files = func(_ context.Context, f utility.StoredFile) (string, error) {
			content, err := io.ReadAll(f.Content)
			f.Content = bytes.NewReader(content)
			*kept = append(*kept, f)
			return "https://files.example/" + f.Name, err
		}
	}
}

// allOf returns the documents of a collection.
func allOf(t *testing.T, database store.Store, collection string) []document.Object {
	t.Helper()
	found, err := database.Collection(collection).Find(t.Context(), nil, store.FindOptions{})
	require.NoError(t, err)
	return found
}

// unwatched hides that a store is a store.Watcher, as if other processes wrote to it.
type unwatched struct{ store.Store }
