// Package chatplatform is a fictional chat platform over HTTP with a connector. It supports every port of
// packages send and livechat. It is for tests of the connector suite, and of connectors that wrap others.
package chatplatform

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/botctx/go-sdk/document"
)

// Message is a message on a Platform.
type Message struct {
	// Channel is the id of the channel that sent the message.
	Channel string
	// ID is the platform's id of the message. Key is the message's idempotency key. To is the recipient.
	ID, Key, To string
	// Text is the current text. Body is the whole message as JSON.
	Text, Body string
	IsRecalled bool
}

// Platform is an in-memory chat platform, an http.Handler. It shows messages with the same key once.
type Platform struct {
	// channels maps tokens to ids of channels.
	channels map[string]string

	mu       sync.Mutex
	messages []Message
	stored   []document.Object
	groups   map[string]string
	labels   map[string][]string
	names    []string // of the labels that are not numbers
	tags     map[string][]int64
	threads  map[string][2]string
	archived map[string]bool
	links    int
}

// New returns a platform with one group. channels maps tokens to ids of channels.
func New(channels map[string]string, group string) *Platform {
	return &Platform{
		channels: channels, groups: map[string]string{group: "a group"}, labels: map[string][]string{},
		tags: map[string][]int64{}, threads: map[string][2]string{}, archived: map[string]bool{},
	}
}

// Messages returns the visible messages, oldest first.
func (p *Platform) Messages() []Message {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.messages)
}

// Labels returns the numbers of a recipient's labels.
func (p *Platform) Labels(to string) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.labels[to])
}

// Tags returns the tags of a recipient.
func (p *Platform) Tags(to string) []int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.tags[to])
}

// Thread returns the application to which a conversation was handed over, and the metadata of the handover.
func (p *Platform) Thread(to string) (app, metadata string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.threads[to][0], p.threads[to][1]
}

// IsArchived reports whether a group is archived.
func (p *Platform) IsArchived(group string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.archived[group]
}

// ServeHTTP implements http.Handler.
func (p *Platform) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var asked document.Object
	if err != nil || json.Unmarshal(body, &asked) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	in, isKnown := p.channels[token]
	if !isKnown {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	status, reply := p.answer(in, strings.TrimPrefix(r.URL.Path, "/"), asked)
	w.WriteHeader(status)
	_, _ = io.WriteString(w, reply.String())
}

func (p *Platform) answer(in, method string, asked document.Object) (int, document.Object) {
	p.mu.Lock()
	defer p.mu.Unlock()
	text := func(field string) string { return document.Get(asked, field, "") }
	if group := text("group"); group != "" && method != "send" && p.groups[group] == "" {
		return http.StatusNotFound, document.O()
	}
	switch method {
	case "send":
		return p.show(in, asked)
	case "store":
		p.stored = append(p.stored, document.Get(asked, "response", document.O()))
		return http.StatusOK, document.O("message_creative_id", len(p.stored))
	case "broadcast":
		return p.broadcast(in, text("stored"), p.labelNumber(text("label")))
	case "upload":
		return http.StatusOK, document.O("id", "file"+text("kind"))
	case "update", "recall":
		return p.change(text("id"), func(shown *Message) { shown.Text, shown.IsRecalled = text("text"), method == "recall" })
	default:
		return p.answerAboutPeople(method, asked, text)
	}
}

// answerAboutPeople handles requests about recipients and groups. Callers must hold the mutex.
func (p *Platform) answerAboutPeople(method string, asked document.Object, text func(string) string) (int, document.Object) {
	to := text("to")
	switch method {
	case "pass":
		p.threads[to] = [2]string{text("app"), text("metadata")}
	case "label":
		number := p.labelNumber(text("label"))
		p.labels[to] = append(slices.DeleteFunc(p.labels[to], is(number)), number)
		return http.StatusOK, document.O("number", json.Number(number))
	case "unlabel":
		p.labels[to] = slices.DeleteFunc(p.labels[to], is(p.labelNumber(text("label"))))
	case "tag":
		if len(p.tags[to]) == 20 {
			return http.StatusOK, document.O("code", 1, "message", "too many tags")
		}
		p.tags[to] = append(p.tags[to], document.Get(asked, "tag", int64(0)))
		return http.StatusOK, document.O("code", 0, "message", "ok")
	case "archive":
		p.archived[text("group")] = true
	case "group":
		return p.makeGroup(text("key"), text("name"))
	case "link":
		return http.StatusOK, document.O("link", p.newLink())
	case "name":
		return http.StatusOK, document.O("name", p.groups[text("group")])
	case "icon":
		if !strings.HasPrefix(text("type"), "image/") {
			return http.StatusBadRequest, document.O("field", "icon")
		}
	}
	return http.StatusOK, document.O("ok", true, "number", 7)
}

// labelNumber returns the number of a label that is given by its number or its name. Callers must hold the mutex.
func (p *Platform) labelNumber(given string) string {
	if _, err := strconv.Atoi(given); err == nil {
		return given
	}
	if !slices.Contains(p.names, given) {
		p.names = append(p.names, given)
	}
	return strconv.Itoa(1 + slices.Index(p.names, given))
}

// show stores a message. Callers must hold the mutex.
func (p *Platform) show(in string, asked document.Object) (int, document.Object) {
	key := document.Get(asked, "key", "")
	i := slices.IndexFunc(p.messages, func(m Message) bool { return m.Key == key && key != "" })
	if i < 0 {
		i = len(p.messages)
		p.messages = append(p.messages, Message{
			Channel: in, ID: fmt.Sprintf("message-%d", i), Key: key, To: document.Get(asked, "to", ""),
			Text: document.Get(asked, "response.text", ""), Body: asked.String(),
		})
	}
	return http.StatusOK, document.O("id", p.messages[i].ID, "chat", "chat-"+p.messages[i].To, "at", 1_700_000_000_000+i)
}

// broadcast sends a stored message to all recipients with a label. Callers must hold the mutex.
func (p *Platform) broadcast(in, number, label string) (int, document.Object) {
	isFound := false
	for to, labels := range p.labels {
		for i, response := range p.stored {
			if strconv.Itoa(i+1) == number && slices.Contains(labels, label) {
				isFound = true
				p.show(in, document.O("to", to, "response", response))
			}
		}
	}
	if !isFound {
		return http.StatusNotFound, document.O()
	}
	return http.StatusOK, document.O("number", 1)
}

// change changes a visible message. Callers must hold the mutex.
func (p *Platform) change(id string, change func(*Message)) (int, document.Object) {
	i := slices.IndexFunc(p.messages, func(m Message) bool { return m.ID == id && !m.IsRecalled })
	if i < 0 {
		return http.StatusNotFound, document.O()
	}
	change(&p.messages[i])
	return http.StatusOK, document.O("ok", true, "ts", id, "text", p.messages[i].Text)
}

// makeGroup creates a group. It returns the existing group if the key was used before. Callers must hold the
// mutex.
func (p *Platform) makeGroup(key, name string) (int, document.Object) {
	id := "group-of-" + key
	p.groups[id] = name
	return http.StatusOK, document.O("id", id, "link", p.newLink())
}

// newLink returns a new invitation link. Callers must hold the mutex.
func (p *Platform) newLink() string {
	p.links++
	return fmt.Sprintf("https://join.example/%d", p.links)
}

func is(text string) func(string) bool { return func(other string) bool { return other == text } }
