package desk_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/webchat"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/host/desk"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/livechat/livechattest"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/send/sendtest"
	"github.com/botctx/go-sdk/utility"
)

// outlet is a desk with its page, in a host for the suite of outlets.
type outlet struct {
	*livechattest.MemoryHost

	t     *testing.T
	store *failing
	desk  *desk.Desk
	page  http.Handler
	web   http.Handler
	// file is the address of the file that an agent sends.
	file string
	// times is the number of times that the page sends each message. said is the number of messages.
	times, said int
}

// answering are the agents of the suite.
func answering() [2]livechat.Admin {
	return [2]livechat.Admin{
		{AdminID: "desk/grace", ExternalID: "grace", Name: "Grace Hopper"}, {AdminID: "desk/eve", ExternalID: "eve", Name: "Eve"},
	}
}

// newOutlet returns a desk. inlet is a channel of type webchat whose members are on a web page, or nil.
func newOutlet(t *testing.T, inlet *channel.Channel) *outlet {
	t.Helper()
	o := &outlet{t: t, times: 1}
	o.MemoryHost = livechattest.NewHost(t, livechattest.HostConfig{
		Inlet: inlet,
		Outlet: &channel.Channel{ID: "desk", Type: desk.Type, BroadcastGroups: []channel.BroadcastGroup{
			{Label: livechat.DefaultLabel, Groups: []channel.BroadcastGroupMember{{ID: "support", Type: "team"}}},
		}},
		Connect: func(h *livechattest.MemoryHost) send.Connectors {
			var err error
			o.store = newFailing(h.Store)
			o.desk, err = desk.New(desk.Config{Store: o.store, Now: h.Now, Poll: time.Millisecond})
			require.NoError(t, err)
			connectors := send.Connectors{desk.Type: o.desk}
			if inlet != nil {
				web, err := webchat.New(webchat.Config{
					Store: h.Store, Now: h.Now, OnTyping: o.desk.OnTyping,
					Limits: webchat.Limits{Messages: 1000, Requests: 10_000}, // The clock hardly moves.
				})
				require.NoError(t, err)
				t.Cleanup(web.Close)
				connectors[channel.Webchat], o.web = web, web.Handler(h.Accept)
			}
			return connectors
		},
		Started: o.serve,
	})
	return o
}

// serve makes the page of a process.
func (o *outlet) serve(h *livechattest.MemoryHost) {
	o.t.Helper()
	var err error
	o.page, err = o.desk.Handler(desk.PageConfig{
		Runtime: h.Runtime(),
		Agent: func(r *http.Request) (*desk.Agent, error) {
			for _, one := range answering() {
				if one.ExternalID == r.Header.Get("X-Agent") {
					return &desk.Agent{ID: one.ExternalID, Name: one.Name, Apps: []string{livechattest.App}}, nil
				}
			}
			return nil, nil
		},
		Files: func(context.Context, utility.StoredFile) (string, error) { return o.file, nil },
	})
	require.NoError(o.t, err)
}

// asks sends a request of the page about a chat, and returns the status and the answer. content is nil for a GET.
func (o *outlet) asks(agent int, of livechattest.Chat, path, kind string, content []byte) (int, document.Object) {
	o.t.Helper()
	method := http.MethodPost
	if content == nil {
		method = http.MethodGet
	}
	address := "/chats/" + livechattest.App + "/" + of.ID + path
	r := httptest.NewRequestWithContext(o.t.Context(), method, address, bytes.NewReader(content))
	r.Header.Set("X-Agent", answering()[agent].ExternalID)
	r.Header.Set("Content-Type", kind)
	w := httptest.NewRecorder()
	o.page.ServeHTTP(w, r)
	var answer document.Object
	require.NoError(o.t, answer.UnmarshalJSON(w.Body.Bytes()), "%s", w.Body)
	return w.Code, answer
}

// does sends a request, and returns the reason of a refusal. Another failure ends the test.
func (o *outlet) does(agent int, of livechattest.Chat, path string, body fields) string {
	o.t.Helper()
	content, err := json.Marshal(body)
	require.NoError(o.t, err)
	status, answer := o.asks(agent, of, path, "application/json", content)
	require.Contains(o.t, []int{http.StatusOK, http.StatusConflict}, status, "%s", answer)
	return document.Get(answer, "error.message", "")
}

// says sends a message of an agent, as often as the page does.
func (o *outlet) says(agent int, of livechattest.Chat, message fields) string {
	o.t.Helper()
	o.said++
	message["key"] = strconv.Itoa(o.said)
	refused := ""
	for range o.times {
		refused = o.does(agent, of, "/messages", message)
	}
	return refused
}

// shown returns the messages in the log of a chat, without the agents' own.
func (o *outlet) shown(in livechattest.Chat) []livechattest.Line {
	o.t.Helper()
	if in.Conversation == "" {
		return nil
	}
	_, answer := o.asks(0, in, "/log", "", nil)
	var lines []livechattest.Line
	for _, e := range objects(answer, "entries") {
		from := livechattest.Side(document.Get(e, "from", ""))
		if from == livechattest.FromBot || from == livechattest.FromMember {
			lines = append(lines, livechattest.Line{From: from, Text: livechattest.TextOf(send.Raw(document.Get(e, "response", document.O())))})
		}
	}
	return lines
}

// state returns the state that the page shows of a chat.
func (o *outlet) state(of livechattest.Chat) string {
	o.t.Helper()
	_, answer := o.asks(0, of, "", "", nil)
	return document.Get(answer, "chat.state", "")
}

func (o *outlet) harness() *livechattest.Harness {
	return &livechattest.Harness{
		Host: o.MemoryHost, Inlet: o.Inlet(),
		Outlet: livechattest.Outlet{
			Channel: "desk", Agents: answering(),
			Ticket: o.ticket,
			Take:   func(agent int, of livechattest.Chat) string { return o.does(agent, of, "/take", nothing) },
			Says: func(agent int, in livechattest.Chat, text string) string {
				return o.says(agent, in, fields{"text": text})
			},
			Shown: o.shown, SendsFile: o.sendsFile,
			Ends:   func(agent int, in livechattest.Chat) { require.Empty(o.t, o.does(agent, in, "/end", nothing)) },
			IsOver: func(in livechattest.Chat) bool { return o.state(in) == "ended" },
			Repeat: func() { o.times = 2 },
			Fail: func(isDown bool) {
				fault := sendtest.Healthy
				if isDown {
					fault = sendtest.Broken
				}
				o.store.fail(fault)
			},
		},
	}
}

// ticket returns the text of a request.
func (o *outlet) ticket(of livechattest.Chat) string {
	o.t.Helper()
	_, answer := o.asks(0, of, "", "", nil)
	return document.Get(answer, "summary", "")
}

// sendsFile uploads a file, and sends it.
func (o *outlet) sendsFile(agent int, in livechattest.Chat, url string) {
	o.t.Helper()
	o.file = url
	status, answer := o.asks(agent, in, "/files?name=manual.pdf", "application/octet-stream", []byte("%PDF-1.7\n"))
	require.Equal(o.t, http.StatusOK, status, "%s", answer)
	require.Empty(o.t, o.says(agent, in, fields{"file": answer}))
}

func TestOutlet(t *testing.T) {
	t.Parallel()
	livechattest.RunOutlet(t, func(t *testing.T) *livechattest.Harness {
		t.Helper()
		return newOutlet(t, nil).harness()
	})
}

// visitors is the inlet of members on a web page.
func (o *outlet) visitors() livechattest.Inlet {
	tokens := make([]string, 2)
	visitor := func(who int) *visitor {
		v := &visitor{t: o.t, handler: o.web, token: tokens[who]}
		if v.token == "" {
			v.token = document.Get(v.asks(http.MethodPost, "session", `{"channel":"web"}`), "token", "")
			tokens[who] = v.token
		}
		return v
	}
	return livechattest.Inlet{
		Channel: "web",
		Says: func(who int, text string) {
			o.said++
			body := document.O("clientId", fmt.Sprint("m", o.said), "type", "TEXT", "text", text)
			visitor(who).asks(http.MethodPost, "messages", body.String())
		},
		Shown: func(who int) []livechattest.Line {
			var lines []livechattest.Line
			for _, e := range objects(visitor(who).asks(http.MethodGet, "history?limit=50", ""), "events") {
				from := livechattest.Side(document.Get(e, "from", ""))
				if from == livechattest.FromBot || from == livechattest.FromAgent {
					lines = append(lines, livechattest.Line{From: from, Text: livechattest.TextOf(send.Raw(document.Get(e, "response", document.O())))})
				}
			}
			return lines
		},
	}
}

// Members are on a web page, over the real connector.
func TestOutlet_WithWebchat(t *testing.T) {
	t.Parallel()
	livechattest.RunOutlet(t, func(t *testing.T) *livechattest.Harness {
		t.Helper()
		o := newOutlet(t, &channel.Channel{
			ID: "web", Type: channel.Webchat,
			Info:     channel.OtherInfo{Hidden: channel.Hide(document.O("webchatSecret", strings.Repeat(secretToken, 3)))},
			Metadata: document.O("origins", document.A("https://shop.example")),
		})
		harness := o.harness()
		harness.Inlet = o.visitors()
		return harness
	})
}
