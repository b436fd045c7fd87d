package desk_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/webchat"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/host/desk"
	"github.com/botctx/go-sdk/send"
)

// visitor is a member on a web page, over the real connector.
type visitor struct {
	t       *testing.T
	handler http.Handler
	token   string
}

func (v *visitor) asks(method, path, body string) document.Object {
	v.t.Helper()
	r := httptest.NewRequestWithContext(v.t.Context(), method, "/"+path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Origin", "https://shop.example")
	if v.token != "" {
		r.Header.Set("Authorization", "Bearer "+v.token)
	}
	w := httptest.NewRecorder()
	v.handler.ServeHTTP(w, r)
	require.Less(v.t, w.Code, 300, "%s %s", path, w.Body)
	var answer document.Object
	if w.Body.Len() > 0 {
		require.NoError(v.t, answer.UnmarshalJSON(w.Body.Bytes()))
	}
	return answer
}

// newVisitor gives a host a chat on a web page, and opens it.
func newVisitor(t *testing.T) (*host, *visitor) {
	t.Helper()
	h := newHost(t)
	web, err := webchat.New(webchat.Config{Store: h.store, Now: h.clock.now, OnTyping: h.desk.OnTyping})
	require.NoError(t, err)
	h.runtime, err = botctx.New(botctx.Config{
		Store: h.store, Now: h.clock.now, Connectors: send.Connectors{channel.Webchat: web, desk.Type: h.desk},
	})
	require.NoError(t, err)
	require.NoError(t, h.runtime.Handle(append(nodes()[:1],
		&botctx.Node{ID: "hello", Trigger: botctx.TextIs("hi"), Responses: botctx.Say("Hello!")})...))
	_, err = h.runtime.SaveChannel(t.Context(), "shop", &channel.Channel{
		ID: "shop-web", Type: channel.Webchat, On: true,
		Info:     channel.OtherInfo{Hidden: channel.Hide(document.O("webchatSecret", strings.Repeat(secretToken, 3)))},
		Metadata: document.O("origins", document.A("https://shop.example")),
	})
	require.NoError(t, err)
	h.handler, err = h.desk.Handler(desk.PageConfig{Runtime: h.runtime, Agent: func(r *http.Request) (*desk.Agent, error) {
		agent := agents[r.Header.Get("X-Agent")]
		return &agent, nil
	}})
	require.NoError(t, err)
	v := &visitor{t: t, handler: web.Handler(func(ctx context.Context, in botctx.Inbound) error { return h.runtime.Accept(ctx, in) })}
	v.token = document.Get(v.asks(http.MethodPost, "session", `{"channel":"shop-web"}`), "token", "")
	return h, v
}

func TestWebchat_MeetsTheDesk(t *testing.T) {
	t.Parallel()
	h, v := newVisitor(t)
	v.asks(http.MethodPost, "messages", `{"clientId":"m1","type":"TEXT","text":"hi"}`)
	h.runs()
	v.asks(http.MethodPost, "messages", `{"clientId":"m2","type":"TEXT","text":"a person"}`)
	h.runs()
	path := "/chats/shop/" + h.open("shop")[0].ID
	requireTranscript := func() {
		t.Helper()
		var said []string
		for _, e := range objects(h.does("grace", path+"/transcript", nil), "entries") {
			said = append(said, document.Get(e, "from", "")+": "+document.Get(e, "response.text", ""))
		}
		require.Equal(t, []string{"member: hi", "bot: Hello!", "member: a person"}, said)
	}
	requireTranscript()

	h.does("grace", path+"/take", nothing)
	v.asks(http.MethodPost, "typing", `{}`)
	chat := document.Get(h.does("grace", path, nil), "chat", document.O())
	require.Regexp(t, "^Visitor [A-Z0-9]{6}$", document.Get(chat, "name", ""))
	typing := objects(chat, "typing")
	require.Len(t, typing, 1)
	require.Equal(t, "member", document.Get(typing[0], "from", ""))
	v.asks(http.MethodPost, "messages", `{"clientId":"m3","type":"TEXT","text":"hello?"}`)
	h.runs()
	require.Empty(t, objects(document.Get(h.does("grace", path, nil), "chat", document.O()), "typing"), "the message ends it")
	h.does("grace", path+"/messages", fields{"key": "1", "text": "Where does it leak?"})
	h.runs()
	history := objects(v.asks(http.MethodGet, "history?limit=10", ""), "events")
	last := history[len(history)-1]
	require.Equal(t, "agent", document.Get(last, "from", ""))
	require.Equal(t, "Grace Hopper", document.Get(last, "name", ""))
	require.Equal(t, "Where does it leak?", document.Get(last, "response.text", ""))
	requireTranscript() // It ends with the request.
}
