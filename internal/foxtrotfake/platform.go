// Package foxtrotfake is a fake of the helpdesk foxtrot for tests of its connector. It is an http.Handler with
// users, conversations and their messages, the integrations that control conversations, and tickets. It reports
// all messages to a host, including the host's own.
package foxtrotfake

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send/sendtest"
)

// Platform is the fake helpdesk. Create it with New. It is safe for concurrent use.
type Platform struct {
	mu sync.Mutex
	// apps maps credentials, such as "key:secret", to the id of an application. "" means that the account has
	// tickets.
	apps          map[string]string
	users         map[string]string
	conversations map[string]*conversation
	tickets       map[int64]*ticket
	byKey         map[string]int64
	sent          []Message
	activities    []string
	reports       []Report
	last          int
}

// conversation is a conversation of an application. user is the external id of its user.
type conversation struct {
	id, app, user, control string
	metadata               document.Object
	messages               []document.Object
}

type ticket struct {
	status   string
	body     document.Object
	comments []string
}

// Message is a message in a conversation, or a comment on a ticket, from a host.
type Message struct {
	// Account has the credentials of the request, such as "key:secret".
	Account string
	// To is the recipient, as in send.Message.
	To, ID string
	// Body is the body of the request.
	Body document.Object
}

// Text returns the text of a message or of a comment on a ticket.
func (m Message) Text() string {
	return document.Get(m.Body, "content.text", document.Get(m.Body, "ticket.comment.body", ""))
}

// New returns a helpdesk. apps maps credentials, such as "key:secret", to ids of applications. An account with
// the application "" has tickets.
func New(apps map[string]string) *Platform {
	return &Platform{
		apps: apps, users: map[string]string{}, conversations: map[string]*conversation{},
		tickets: map[int64]*ticket{}, byKey: map[string]int64{},
	}
}

// AddConversation adds a member's conversation in the widget of an application.
func (p *Platform) AddConversation(app, id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conversations[id] = &conversation{id: id, app: app, user: "user of " + id, control: "custom"}
}

// AddTicket adds a ticket.
func (p *Platform) AddTicket(id int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tickets[id] = &ticket{status: "open"}
}

// Sent returns the messages from hosts, in order.
func (p *Platform) Sent() []Message {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.sent)
}

// Activities returns the reported activities of hosts, such as "typing:start in c1".
func (p *Platform) Activities() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.activities)
}

// Opened returns the conversations that hosts opened, in order, as send.Message names their recipients.
func (p *Platform) Opened() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []string
	for _, c := range p.conversations {
		if strings.HasPrefix(c.address(), "out:") {
			all = append(all, c.address())
		}
	}
	slices.Sort(all)
	return all
}

// Control returns the type of the integration that controls a conversation. id is the helpdesk's id, or a
// recipient.
func (p *Platform) Control(id string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.conversations[bare(id)].control
}

// Ticket returns a ticket: the request that created it, its comments, and its status.
func (p *Platform) Ticket(id int64) (body document.Object, comments []string, status string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	found := p.tickets[id]
	if found == nil {
		return document.Object{}, nil, ""
	}
	return found.body, slices.Clone(found.comments), found.status
}

// Tickets returns the number of tickets.
func (p *Platform) Tickets() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.tickets)
}

// address returns the recipient that refers to the conversation in a send.Message.
func (c *conversation) address() string {
	if key := document.Get(c.metadata, "botTicketId", ""); key != "" {
		return "out:" + c.id + "/" + key
	}
	return c.id
}

// bare converts a recipient to the helpdesk's id of the conversation.
func bare(id string) string {
	id, _, _ = strings.Cut(strings.TrimPrefix(id, "out:"), "/")
	return id
}

// Arrivals returns the messages as sendtest compares them. channels maps credentials to ids of channels.
func (p *Platform) Arrivals(channels map[string]string) []sendtest.Arrival {
	var arrivals []sendtest.Arrival
	for _, sent := range p.Sent() {
		arrivals = append(arrivals, sendtest.Arrival{
			Channel: channels[sent.Account], To: sent.To, Text: sent.Text(), Body: sent.Body.String(),
			Key: document.Get(sent.Body, "metadata.botMessageId", ""),
		})
	}
	return arrivals
}

// call is a call to the API.
type call struct {
	account, app, method string
	path                 []string
	request              *http.Request
	body                 document.Object
}

type answer struct {
	status int
	body   document.Object
}

func refuse(status int, code, title string) answer {
	return answer{status, document.O("errors", document.A(document.O("code", code, "title", title)))}
}

func notFound() answer { return refuse(http.StatusNotFound, "not_found", "Not found") }

// ServeHTTP implements http.Handler.
func (p *Platform) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	reply := p.answer(r)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(reply.status)
	_, _ = io.WriteString(w, reply.body.String())
}

func (p *Platform) answer(r *http.Request) answer {
	encoded, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Basic ")
	account, _ := base64.StdEncoding.DecodeString(encoded)
	app, isKnown := p.apps[string(account)]
	if !isKnown {
		return refuse(http.StatusUnauthorized, "unauthorized", "Authorization is required")
	}
	c := call{account: string(account), app: app, method: r.Method, request: r, path: strings.Split(strings.Trim(r.URL.Path, "/"), "/")}
	if r.ContentLength != 0 && json.NewDecoder(r.Body).Decode(&c.body) != nil {
		return refuse(http.StatusBadRequest, "bad_request", "The body is not JSON")
	}
	switch {
	case app == "" && len(c.path) > 2 && c.path[0] == "api":
		return p.ticketCall(c, c.path[2:])
	case app != "" && len(c.path) > 3 && c.path[0] == "v2" && c.path[2] == app:
		c.path = c.path[3:]
	default:
		return notFound()
	}
	return p.conversationCall(c)
}

// conversationCall answers a call to the API of conversations.
func (p *Platform) conversationCall(c call) answer {
	switch {
	case c.path[0] == "users" && c.method == http.MethodPost:
		return p.createUser(c)
	case c.path[0] == "conversations" && len(c.path) == 1 && c.method == http.MethodPost:
		return p.createConversation(c)
	case c.path[0] == "conversations" && len(c.path) == 1:
		return p.listConversations(c)
	case c.path[0] == "conversations" && len(c.path) == 3:
		return p.inConversation(c)
	default:
		return notFound()
	}
}

func (p *Platform) createUser(c call) answer {
	key := document.Get(c.body, "externalId", "")
	if key == "" {
		return refuse(http.StatusBadRequest, "bad_request", "Missing externalId")
	}
	if _, isThere := p.users[key]; isThere {
		return refuse(http.StatusConflict, "conflict", "externalId is taken")
	}
	p.users[key] = p.next("user%020d")
	return answer{http.StatusCreated, document.O("user", document.O("id", p.users[key], "externalId", key))}
}

func (p *Platform) createConversation(c call) answer {
	key := document.Get(c.body, "participants[0].userExternalId", "")
	if _, isKnown := p.users[key]; !isKnown {
		return notFound()
	}
	made := &conversation{
		id: p.next("cnv%021d"), app: c.app, user: key, control: "custom", metadata: document.Get(c.body, "metadata", document.Object{}),
	}
	p.conversations[made.id] = made
	return answer{http.StatusCreated, document.O("conversation", made.record())}
}

// record returns the conversation as answers and reports show it.
func (c *conversation) record() document.Object {
	record := document.O("id", c.id, "type", "personal", "activeSwitchboardIntegration", document.O(
		"id", "sw1", "name", "name of "+c.control, "integrationId", "in1", "integrationType", c.control,
	))
	if !c.metadata.IsZero() {
		record = record.With("metadata", c.metadata)
	}
	return record
}

func (p *Platform) listConversations(c call) answer {
	list := document.A()
	for _, one := range p.conversations {
		if one.app == c.app && one.user == c.request.URL.Query().Get("filter[userExternalId]") {
			list = list.Append(one.record())
		}
	}
	return answer{http.StatusOK, document.O("conversations", list, "meta", document.O("hasMore", false))}
}

func (p *Platform) inConversation(c call) answer {
	in := p.conversations[c.path[1]]
	if in == nil || in.app != c.app {
		return notFound()
	}
	switch c.path[2] + " " + c.method {
	case "messages GET":
		list := document.A()
		for _, message := range in.messages {
			list = list.Append(message)
		}
		return answer{http.StatusOK, document.O("messages", list, "meta", document.O("hasMore", false))}
	case "messages POST":
		return p.post(c, in)
	case "activity POST":
		if document.Get(c.body, "author.type", "") == "user" && document.Get(c.body, "type", "") != "conversation:read" {
			return refuse(http.StatusBadRequest, "bad_request", "A user only reads")
		}
		p.activities = append(p.activities, document.Get(c.body, "type", "")+" in "+in.id)
		return answer{http.StatusOK, document.O()}
	case "passControl POST":
		in.control = "zd:agentWorkspace"
		if document.Get(c.body, "reason", "") != "" {
			in.control = "closed"
		}
		return answer{http.StatusOK, document.O()}
	default:
		return notFound()
	}
}

// post stores a message and reports it.
func (p *Platform) post(c call, in *conversation) answer {
	author := document.Get(c.body, "author", document.Object{})
	content := document.Get(c.body, "content", document.Object{})
	byUser := document.Get(author, "type", "") == "user"
	switch kind := document.Get(content, "type", ""); {
	case byUser && document.Get(author, "userExternalId", "") != in.user:
		return refuse(http.StatusBadRequest, "bad_request", "The user does not take part in the conversation")
	case byUser && (!slices.Contains([]string{"text", "image", "file", "location"}, kind) || content.Has("actions")):
		return refuse(http.StatusBadRequest, "bad_request", "A user cannot send this")
	}
	id := p.next("msg%021d")
	message := document.O("id", id, "received", received, "author", document.O("type", document.Get(author, "type", "")), "content", content)
	if data := document.Get(c.body, "metadata", document.Object{}); !data.IsZero() {
		message = message.With("metadata", data)
	}
	in.messages = append(in.messages, message)
	p.sent = append(p.sent, Message{Account: c.account, To: in.address(), ID: id, Body: c.body})
	if byUser {
		message = message.With("author", document.O("type", "user", "userId", p.users[in.user]))
	}
	p.report(in, "conversation:message", document.O("message", message.With("source", document.O("type", "api:conversations"))))
	return answer{http.StatusCreated, document.O("messages", document.A(message))}
}

// received is the time of all messages.
const received = "2026-03-01T10:00:00.000Z"

func (p *Platform) ticketCall(c call, path []string) answer {
	if path[0] == "tickets.json" && c.method == http.MethodPost {
		return p.createTicket(c)
	}
	if len(path) != 2 || path[0] != "tickets" || c.method != http.MethodPut {
		return notFound()
	}
	id, _ := strconv.ParseInt(strings.TrimSuffix(path[1], ".json"), 10, 64)
	changed := p.tickets[id]
	if changed == nil {
		return answer{http.StatusNotFound, document.O("error", "RecordNotFound", "description", "Not found")}
	}
	if status := document.Get(c.body, "ticket.status", ""); status != "" {
		changed.status = status
	}
	if text := document.Get(c.body, "ticket.comment.body", ""); text != "" {
		p.comment(c, id, text)
	}
	return p.ticketAnswer(http.StatusOK, id)
}

func (p *Platform) createTicket(c call) answer {
	key := c.request.Header.Get("Idempotency-Key")
	if id, isRepeat := p.byKey[key]; isRepeat && key != "" {
		return p.ticketAnswer(http.StatusCreated, id)
	}
	text := document.Get(c.body, "ticket.comment.body", "")
	if text == "" {
		return answer{http.StatusUnprocessableEntity, document.O("error", "RecordInvalid", "description", "Record validation errors")}
	}
	id := int64(1000 + p.count())
	p.tickets[id] = &ticket{status: "new", body: document.Get(c.body, "ticket", document.Object{})}
	p.byKey[key] = id
	p.comment(c, id, text)
	return p.ticketAnswer(http.StatusCreated, id)
}

func (p *Platform) comment(c call, id int64, text string) {
	p.tickets[id].comments = append(p.tickets[id].comments, text)
	p.sent = append(p.sent, Message{
		Account: c.account, To: "ticket:" + strconv.FormatInt(id, 10), ID: strconv.Itoa(p.count()),
		Body: c.body.With("metadata", document.O("botMessageId", c.request.Header.Get("Idempotency-Key"))),
	})
	p.reportComment(id, OwnAgent, "The bot", text)
}

func (p *Platform) ticketAnswer(status int, id int64) answer {
	return answer{status, document.O(
		"ticket", document.O("id", id, "status", p.tickets[id].status, "updated_at", received), "audit", document.O("id", 9000+p.count()),
	)}
}

// count returns the next number. Callers must hold the mutex.
func (p *Platform) count() int {
	p.last++
	return p.last
}

func (p *Platform) next(form string) string { return fmt.Sprintf(form, p.count()) }
