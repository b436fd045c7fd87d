package charlie_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/charlie"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/internal/connectortest"
	"github.com/botctx/go-sdk/send"
)

const token = "xoxb-1-secret"

// tool is a stateful fake of the workspace chat tool. It has the methods that the connector calls.
type tool struct {
	mu            sync.Mutex
	conversations map[string]*conversation
	// channels maps the valid tokens to the ids of their channels.
	channels map[string]string
	// posted has all sent messages in order.
	posted []posted
	// calls has the called methods in order.
	calls []string
	// answers replace the tool's own answers, one per request.
	answers []answer
	last    int
}

type conversation struct {
	name       string
	isArchived bool
	users      []string
	messages   map[string]url.Values
	order      []string
}

type posted struct {
	conversation, ts string
	form             url.Values
}

// answer replaces the tool's own answer to a request.
type answer struct {
	status int
	header http.Header
	body   string
}

func newTool() *tool {
	return &tool{channels: map[string]string{token: "desk"}, conversations: map[string]*conversation{
		"C1": {name: "support", messages: map[string]url.Values{}},
		"D1": {messages: map[string]url.Values{}},
	}}
}

func (s *tool) start(t *testing.T) *charlie.Connector {
	t.Helper()
	return connectortest.New(t, charlie.New, charlie.Config{APIURL: connectortest.Serve(t, s)})
}

// next queues answers that replace the tool's own.
func (s *tool) next(answers ...answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers = append(s.answers, answers...)
}

// refuses returns an answer with this error code.
func refuses(word string) answer {
	return answer{status: http.StatusOK, body: fmt.Sprintf(`{"ok":false,"error":%q}`, word)}
}

// limits returns an answer that asks for a retry after these seconds.
func limits(seconds string) answer {
	return answer{
		status: http.StatusTooManyRequests, header: http.Header{"Retry-After": {seconds}},
		body: `{"ok":false,"error":"ratelimited"}`,
	}
}

func (s *tool) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	method := strings.TrimPrefix(r.URL.Path, "/")
	s.calls = append(s.calls, method)
	w.Header().Set("Content-Type", "application/json")
	if len(s.answers) > 0 {
		given := s.answers[0]
		s.answers = s.answers[1:]
		maps.Copy(w.Header(), given.header)
		w.WriteHeader(given.status)
		_, _ = w.Write([]byte(given.body))
		return
	}
	if err := r.ParseForm(); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	r.PostForm.Set("token", strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
	text, err := json.Marshal(s.answer(method, r.PostForm))
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	_, _ = w.Write(text)
}

type reply map[string]any

func refused(word string) reply { return reply{"ok": false, "error": word} }

func (s *tool) answer(method string, form url.Values) reply {
	if s.channels[form.Get("token")] == "" {
		return refused("invalid_auth")
	}
	switch method {
	case "conversations.create":
		return s.create(form)
	case "users.conversations":
		return s.list(form)
	}
	id := form.Get("channel")
	if user, isUser := strings.CutPrefix(id, "U"); isUser {
		id = "D" + user // The tool opens the direct conversation.
	}
	in := s.conversations[id]
	if in == nil {
		return refused("channel_not_found")
	}
	switch method {
	case "chat.postMessage":
		return s.post(id, in, form)
	case "chat.update":
		message := in.messages[form.Get("ts")]
		if message == nil {
			return refused("message_not_found")
		}
		for _, field := range []string{"text", "blocks", "attachments"} {
			if form.Has(field) {
				message.Set(field, form.Get(field))
			}
		}
		return reply{"ok": true, "channel": id, "ts": form.Get("ts"), "text": form.Get("text")}
	case "chat.delete":
		if in.messages[form.Get("ts")] == nil {
			return refused("message_not_found")
		}
		delete(in.messages, form.Get("ts"))
		return reply{"ok": true, "channel": id, "ts": form.Get("ts")}
	case "conversations.archive":
		if in.isArchived {
			return refused("already_archived")
		}
		in.isArchived = true
		return reply{"ok": true}
	case "conversations.invite":
		user := form.Get("users")
		switch {
		case user == "U404":
			return refused("user_not_found")
		case slices.Contains(in.users, user):
			return refused("already_in_channel")
		}
		in.users = append(in.users, user)
		return reply{"ok": true, "channel": reply{"id": id}}
	default:
		return refused("unknown_method")
	}
}

func (s *tool) post(id string, in *conversation, form url.Values) reply {
	if in.isArchived {
		return refused("is_archived")
	}
	s.last++
	ts := fmt.Sprintf("1700000000.%06d", s.last*1000)
	in.messages[ts] = form
	in.order = append(in.order, ts)
	s.posted = append(s.posted, posted{conversation: id, ts: ts, form: form})
	return reply{"ok": true, "channel": id, "ts": ts, "message": reply{
		"type": "message", "user": "UBOT", "text": form.Get("text"), "ts": ts, "of_a_new_kind": reply{"kept": true},
	}}
}

func (s *tool) create(form url.Values) reply {
	for _, c := range s.conversations {
		if c.name == form.Get("name") {
			return refused("name_taken")
		}
	}
	s.last++
	id := fmt.Sprintf("G%d", s.last)
	s.conversations[id] = &conversation{name: form.Get("name"), messages: map[string]url.Values{}}
	return reply{"ok": true, "channel": reply{"id": id, "name": form.Get("name")}}
}

// list returns pages of one conversation each.
func (s *tool) list(form url.Values) reply {
	var ids []string
	for id := range s.conversations {
		if strings.HasPrefix(id, "G") {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	at := max(slices.Index(ids, form.Get("cursor")), 0)
	if len(ids) == 0 {
		return reply{"ok": true, "channels": []reply{}}
	}
	cursor := ""
	if at+1 < len(ids) {
		cursor = ids[at+1]
	}
	c := s.conversations[ids[at]]
	return reply{
		"ok":                true,
		"channels":          []reply{{"id": ids[at], "name": c.name, "is_archived": c.isArchived}},
		"response_metadata": reply{"next_cursor": cursor},
	}
}

// sent returns the last message of a conversation in its current form.
func (s *tool) sent(t *testing.T, id string) url.Values {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	order := s.conversations[id].order
	require.NotEmpty(t, order, "nothing was sent")
	return s.conversations[id].messages[order[len(order)-1]]
}

func (s *tool) called() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

func workspace() *channel.Channel {
	return &channel.Channel{ID: "desk", App: "app-1", Type: channel.Charlie, Info: channel.CharlieInfo{
		BotAccessToken: channel.NewSecret(token), BotID: "UBOT", TeamID: "T1",
		SigningSecret: channel.NewSecret(signingSecret),
	}}
}

const signingSecret = "8f742231b10e8888abcd99yyyzzz85a5"

func to(conversation string, response send.Response) send.Message {
	return send.Message{ID: "m1", Channel: workspace(), To: conversation, Response: response}
}
