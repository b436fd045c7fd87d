// Package hotelfake is a fake of the team chat hotel for tests of its connector. It is an http.Handler with
// logins, keys, users, groups, conversations and messages. Its refusals have the platform's own error codes. It
// signs activities without the library with which the connector verifies them, so that tests find faults of that
// library.
package hotelfake

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send/sendtest"
)

// App is a bot's application.
type App struct {
	ID, Password, Tenant string
	// Channel is the id of the bot's channel.
	Channel string
}

// BotID returns the bot's id as a participant of conversations.
func (a App) BotID() string { return "28:" + a.ID }

// Message is a message from a bot.
type Message struct {
	// Channel is the id of the bot's channel. To is the user or the group. Conversation is the id of the
	// conversation.
	Channel, To, Conversation, ID string
	// Activity is the current form of the message. Opening is the request that opened the conversation with a
	// user.
	Activity, Opening document.Object
	IsDeleted         bool
}

// Text returns the visible text of the message and its cards.
func (m Message) Text() string {
	var lines []string
	if text := document.Get(m.Activity, "text", ""); text != "" {
		lines = append(lines, text)
	}
	for _, attachment := range document.Get(m.Activity, "attachments", []document.Object(nil)) {
		for _, element := range document.Get(attachment, "content.body", []document.Object(nil)) {
			for _, run := range document.Get(element, "inlines", []document.Object(nil)) {
				lines = append(lines, document.Get(run, "text", ""))
			}
		}
	}
	return strings.Join(lines, "\n")
}

// Actions returns the actions of the message's cards.
func (m Message) Actions() []document.Object {
	var all []document.Object
	for _, attachment := range document.Get(m.Activity, "attachments", []document.Object(nil)) {
		all = append(all, document.Get(attachment, "content.actions", []document.Object(nil))...)
		for _, element := range document.Get(attachment, "content.body", []document.Object(nil)) {
			all = append(all, document.Get(element, "actions", []document.Object(nil))...)
		}
	}
	return all
}

// Platform is the fake platform. Create it with New. It is safe for concurrent use.
type Platform struct {
	// Now is the clock. The default is a fixed time.
	Now func() time.Time
	// ServiceURL is the service address of activities. New sets it to the constant ServiceURL.
	ServiceURL string
	// TokenLife is the time for which tokens are valid. The default is an hour.
	TokenLife time.Duration

	mu     sync.Mutex
	apps   map[string]App
	tokens map[string]grant
	logins []string
	users  map[string]string
	// groups has the names of groups by id. members has the users in each group. channels has the requests for new
	// channels, and created the channels.
	groups        map[string]string
	members       map[string][]string
	conversations map[string]*conversation
	messages      []Message
	typing        []string
	channels      []document.Object
	created       []document.Object
	files         map[string]string
	last          int
}

// grant is an issued token: its app, its scope and its expiry.
type grant struct {
	app   App
	scope string
	end   time.Time
}

type conversation struct {
	user    string
	opening document.Object
}

// New returns a platform with these applications.
func New(apps ...App) *Platform {
	p := &Platform{
		Now:        func() time.Time { return time.Unix(1_700_000_000, 0) },
		ServiceURL: ServiceURL, TokenLife: time.Hour,
		apps: map[string]App{}, tokens: map[string]grant{}, users: map[string]string{}, groups: map[string]string{},
		members: map[string][]string{}, conversations: map[string]*conversation{}, files: map[string]string{},
	}
	for _, app := range apps {
		p.apps[app.ID] = app
	}
	return p
}

// AddUser adds a user, who can write to bots.
func (p *Platform) AddUser(id, name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.users[id] = name
}

// AddGroup adds a group chat, team or channel with these users.
func (p *Platform) AddGroup(id, name string, users ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.groups[id], p.members[id] = name, users
}

// AddFile adds a file. Its address is "/teams/v3/attachments/" and the id.
func (p *Platform) AddFile(id, content string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.files[id] = content
}

// Revoke invalidates all tokens.
func (p *Platform) Revoke() {
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.tokens)
}

// Logins returns the logins in order, each with the application and the scope.
func (p *Platform) Logins() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.logins)
}

// Messages returns the messages from bots, in order.
func (p *Platform) Messages() []Message {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.messages)
}

// Typing returns the conversations in which bots showed typing.
func (p *Platform) Typing() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.typing)
}

// Channels returns the requests for new channels.
func (p *Platform) Channels() []document.Object {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.channels)
}

// Arrivals returns the messages as sendtest compares them.
func (p *Platform) Arrivals() []sendtest.Arrival {
	var arrivals []sendtest.Arrival
	for _, sent := range p.Messages() {
		arrivals = append(arrivals, sendtest.Arrival{
			Channel: sent.Channel, To: sent.To, Text: sent.Text(), Body: sent.Opening.String() + sent.Activity.String(), IsRecalled: sent.IsDeleted,
		})
	}
	return arrivals
}

// Faults returns the platform's answers for the faults of sendtest. Logins never have these faults.
func (p *Platform) Faults() map[sendtest.Fault]http.HandlerFunc {
	refusing := func(status int, word string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.URL.Path, "/login/") {
				p.ServeHTTP(w, r)
				return
			}
			body, _ := io.ReadAll(r.Body)
			refuse(w, status, word, sendtest.Repeated(r, body))
		}
	}
	return map[sendtest.Fault]http.HandlerFunc{
		sendtest.UnknownRecipient: refusing(http.StatusNotFound, "ConversationNotFound"),
		sendtest.Blocked:          refusing(http.StatusForbidden, "ConversationBlockedByUser"),
		sendtest.Rejected:         refusing(http.StatusBadRequest, "BadSyntax"),
		sendtest.LostAnswer: func(w http.ResponseWriter, r *http.Request) {
			if !strings.HasSuffix(r.URL.Path, "/activities") {
				p.ServeHTTP(w, r) // Only answers to messages are lost.
				return
			}
			p.ServeHTTP(discarding{w.Header()}, r)
			panic(http.ErrAbortHandler)
		},
	}
}

// discarding drops the response.
type discarding struct{ header http.Header }

func (d discarding) Header() http.Header       { return d.header }
func (discarding) Write(p []byte) (int, error) { return len(p), nil }
func (discarding) WriteHeader(int)             {}

func refuse(w http.ResponseWriter, status int, word, message string) {
	answer(w, status, document.O("error", document.O("code", word, "message", message)))
}

func answer(w http.ResponseWriter, status int, reply document.Object) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, reply.String())
}

// partGraph is the first segment of the directory's paths.
const partGraph = "graph"

// ServeHTTP implements http.Handler. Logins are below /login, keys below /keys, the directory below
// /graph/v1.0, and the API for messages below any other first segment, such as /teams.
func (p *Platform) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	segments, err := segmentsOf(r)
	if err != nil || len(segments) < 3 && segments[0] != "keys" {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	switch segments[0] {
	case "login":
		p.login(w, r, segments[1])
		return
	case "keys":
		answer(w, http.StatusOK, p.keysAt(r, segments[1]))
		return
	}
	text, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	by, isKnown := p.tokens[text]
	scope := scopeService
	if segments[0] == partGraph {
		scope = scopeGraph
	}
	if !isKnown || by.scope != scope || !p.Now().Before(by.end) {
		refuse(w, http.StatusUnauthorized, "Unauthorized", "Authorization has been denied for this request.")
		return
	}
	c := call{by: by.app, path: segments[2:], request: r}
	if r.Method == http.MethodPost || r.Method == http.MethodPut {
		if json.NewDecoder(r.Body).Decode(&c.body) != nil {
			refuse(w, http.StatusBadRequest, "BadSyntax", "The request is not JSON")
			return
		}
	}
	p.route(w, c, segments[0])
}

// segmentsOf splits a path into its segments. A segment may contain an escaped slash.
func segmentsOf(r *http.Request) ([]string, error) {
	segments := strings.Split(strings.Trim(r.URL.EscapedPath(), "/"), "/")
	for i, segment := range segments {
		plain, err := url.PathUnescape(segment)
		if err != nil {
			return nil, err
		}
		segments[i] = plain
	}
	return segments, nil
}

// Scopes of tokens.
const (
	scopeService = "https://api.botframework.com/.default"
	scopeGraph   = "https://graph.microsoft.com/.default"
)

// login answers a request for a token. Callers must hold the mutex.
func (p *Platform) login(w http.ResponseWriter, r *http.Request, tenant string) {
	app := p.apps[r.PostFormValue("client_id")]
	scope := r.PostFormValue("scope")
	switch {
	case r.PostFormValue("grant_type") != "client_credentials" || scope != scopeService && scope != scopeGraph:
		answer(w, http.StatusBadRequest, document.O("error", "invalid_request", "error_description", "AADSTS900144: a parameter is missing."))
	case app.ID == "" || app.Tenant != tenant:
		answer(w, http.StatusBadRequest, document.O("error", "unauthorized_client",
			"error_description", "AADSTS700016: Application with identifier '"+r.PostFormValue("client_id")+"' was not found in the directory."))
	case app.Password != r.PostFormValue("client_secret"):
		answer(w, http.StatusUnauthorized, document.O("error", "invalid_client",
			"error_description", "AADSTS7000215: Invalid client secret provided: "+r.PostFormValue("client_secret")))
	default:
		text := p.next("eyJ0b2tlbi1vZi1%06d")
		p.tokens[text] = grant{app, scope, p.Now().Add(p.TokenLife)}
		p.logins = append(p.logins, app.ID+" "+scope)
		answer(w, http.StatusOK, document.O("token_type", "Bearer", "expires_in", int64(p.TokenLife.Seconds()), "access_token", text))
	}
}

// call is a request with a valid token.
type call struct {
	by      App
	path    []string
	request *http.Request
	body    document.Object
}

// is reports whether a call has this method and a path that matches pattern, in which "*" matches any segment.
func (c call) is(method, pattern string) bool {
	want := strings.Split(pattern, "/")
	return c.request.Method == method && slices.EqualFunc(c.path, want, func(got, want string) bool { return want == "*" || got == want })
}

// route answers a call. Callers must hold the mutex.
func (p *Platform) route(w http.ResponseWriter, c call, part string) {
	switch {
	case part == partGraph && c.is(http.MethodPost, "teams/*/channels"):
		p.createChannel(w, c)
	case part == partGraph && c.is(http.MethodGet, "teams/*/channels"):
		p.listChannels(w, c)
	case part == partGraph:
		refuse(w, http.StatusNotFound, "BadRequest", "Resource not found for the segment")
	case c.is(http.MethodPost, "conversations"):
		p.begin(w, c)
	case c.is(http.MethodPost, "conversations/*/activities"):
		p.post(w, c)
	case c.is(http.MethodPut, "conversations/*/activities/*"), c.is(http.MethodDelete, "conversations/*/activities/*"):
		p.change(w, c)
	case c.is(http.MethodGet, "conversations/*/members/*"):
		p.member(w, c.path[3])
	case c.is(http.MethodGet, "conversations/*/pagedmembers"):
		p.pagedMembers(w, c)
	case c.is(http.MethodGet, "teams/*"):
		p.team(w, c.path[1])
	case c.is(http.MethodGet, "attachments/*"):
		p.file(w, c.path[1])
	default:
		refuse(w, http.StatusNotFound, "ServiceError", "nothing is here")
	}
}

// begin opens the conversation with a user. Callers must hold the mutex.
func (p *Platform) begin(w http.ResponseWriter, c call) {
	members := document.Get(c.body, "members", []document.Object(nil))
	if len(members) != 1 {
		refuse(w, http.StatusBadRequest, "BadArgument", "Conversations must be to a single member")
		return
	}
	user := document.Get(members[0], "id", "")
	switch {
	case document.Get(c.body, "bot.id", "") != c.by.BotID() || document.Get(c.body, "channelData.tenant.id", "") != c.by.Tenant:
		refuse(w, http.StatusBadRequest, "BadArgument", "The bot or the tenant is another one")
		return
	case p.users[user] == "":
		refuse(w, http.StatusForbidden, "ForbiddenOperationException", "Bot isn't installed in user's personal scope")
		return
	}
	id := "a:" + c.by.ID + "-with-" + user
	p.conversations[id] = &conversation{user, c.body}
	answer(w, http.StatusCreated, document.O("id", id))
}

// recipientIn returns the recipient of the conversation in a call, or refuses the call. Callers must hold the
// mutex.
func (p *Platform) recipientIn(w http.ResponseWriter, c call) (string, document.Object, bool) {
	id := c.path[1]
	if personal := p.conversations[id]; personal != nil && strings.HasPrefix(id, "a:"+c.by.ID+"-") {
		return personal.user, personal.opening, true
	}
	group, _, _ := strings.Cut(id, ";")
	if _, isKnown := p.groups[group]; !isKnown {
		refuse(w, http.StatusNotFound, "ConversationNotFound", "Conversation not found.")
		return "", document.Object{}, false
	}
	return id, document.Object{}, true
}

// post stores a message. Callers must hold the mutex.
func (p *Platform) post(w http.ResponseWriter, c call) {
	to, opening, ok := p.recipientIn(w, c)
	if !ok {
		return
	}
	switch document.Get(c.body, "type", "") {
	case "typing":
		p.typing = append(p.typing, to)
		answer(w, http.StatusAccepted, document.O())
	case "message":
		if document.Get(c.body, "text", "") == "" && len(document.Get(c.body, "attachments", []document.Object(nil))) == 0 {
			refuse(w, http.StatusBadRequest, "BadSyntax", "Activity has neither text nor attachments")
			return
		}
		id := p.next("17000000%05d")
		p.messages = append(p.messages, Message{
			Channel: c.by.Channel, To: to, Conversation: c.path[1], ID: id, Activity: c.body, Opening: opening,
		})
		answer(w, http.StatusCreated, document.O("id", id))
	default:
		refuse(w, http.StatusBadRequest, "BadSyntax", "Unknown activity type")
	}
}

// change replaces or deletes a message. Callers must hold the mutex.
func (p *Platform) change(w http.ResponseWriter, c call) {
	if _, _, ok := p.recipientIn(w, c); !ok {
		return
	}
	i := slices.IndexFunc(p.messages, func(m Message) bool {
		return m.ID == c.path[3] && m.Conversation == c.path[1] && m.Channel == c.by.Channel && !m.IsDeleted
	})
	switch {
	case i < 0:
		refuse(w, http.StatusNotFound, "ActivityNotFoundInConversation", "The activity was not found in the conversation.")
	case c.request.Method == http.MethodDelete:
		p.messages[i].IsDeleted = true
		w.WriteHeader(http.StatusOK)
	default:
		p.messages[i].Activity = c.body
		answer(w, http.StatusOK, document.O("id", p.messages[i].ID))
	}
}

// account returns a user as lists show them. Callers must hold the mutex.
func (p *Platform) account(id string) document.Object {
	first, last, _ := strings.Cut(p.users[id], " ")
	return document.O("id", id, "name", p.users[id], "givenName", first, "surname", last, "email", strings.ToLower(first)+"@example.com")
}

// member answers with a user. Callers must hold the mutex.
func (p *Platform) member(w http.ResponseWriter, id string) {
	if p.users[id] == "" {
		refuse(w, http.StatusNotFound, "MemberNotFoundInConversation", "The member was not found in the conversation.")
		return
	}
	answer(w, http.StatusOK, p.account(id))
}

// pagedMembers answers with a page of a group's list, which has the bot or one user. Callers must hold the
// mutex.
func (p *Platform) pagedMembers(w http.ResponseWriter, c call) {
	users, isKnown := p.members[c.path[1]]
	if !isKnown {
		refuse(w, http.StatusNotFound, "ConversationNotFound", "Conversation not found.")
		return
	}
	all := append([]string{c.by.BotID()}, users...)
	at := 0
	_, _ = fmt.Sscanf(c.request.URL.Query().Get("continuationToken"), "page-%d", &at)
	reply := document.O("members", document.A(p.account(all[min(at, len(all)-1)])))
	if at+1 < len(all) {
		reply = reply.With("continuationToken", fmt.Sprintf("page-%d", at+1))
	}
	answer(w, http.StatusOK, reply)
}

// team answers with a team. Callers must hold the mutex.
func (p *Platform) team(w http.ResponseWriter, id string) {
	name, isKnown := p.groups[id]
	if !isKnown {
		refuse(w, http.StatusNotFound, "TeamNotFound", "The bot sees no such team.")
		return
	}
	answer(w, http.StatusOK, document.O("id", id, "name", name, "aadGroupId", "02bd9fd6-8f93-4758-87c3-1fb73740a315"))
}

// createChannel creates a channel in a team. Callers must hold the mutex.
func (p *Platform) createChannel(w http.ResponseWriter, c call) {
	name := document.Get(c.body, "displayName", "")
	isTaken := slices.ContainsFunc(p.channels, func(known document.Object) bool {
		return document.Get(known, "displayName", "") == name
	})
	switch {
	case p.groups[c.path[1]] == "":
		refuse(w, http.StatusNotFound, "NotFound", "No team found with Group Id")
	case isTaken:
		refuse(w, http.StatusBadRequest, "BadRequest", "Channel name already existed, please use other name.")
	default:
		p.channels = append(p.channels, c.body.With("team", c.path[1]))
		id := p.next("19:channel%05d@thread.tacv2")
		p.groups[id] = name
		p.created = append(p.created, c.body.With("id", id))
		answer(w, http.StatusCreated, c.body.With("id", id))
	}
}

// listChannels answers with the created channels of the name in the filter. Callers must hold the mutex.
func (p *Platform) listChannels(w http.ResponseWriter, c call) {
	list := document.A()
	for _, one := range p.created {
		name := strings.ReplaceAll(document.Get(one, "displayName", ""), "'", "''")
		if c.request.URL.Query().Get("$filter") == "displayName eq '"+name+"'" {
			list = list.Append(one)
		}
	}
	answer(w, http.StatusOK, document.O("value", list))
}

// file answers with a file. Callers must hold the mutex.
func (p *Platform) file(w http.ResponseWriter, id string) {
	content, isKnown := p.files[id]
	if !isKnown {
		answer(w, http.StatusNotFound, document.Object{})
		return
	}
	_, _ = io.WriteString(w, content)
}

// next formats the next number. Callers must hold the mutex.
func (p *Platform) next(form string) string {
	p.last++
	return fmt.Sprintf(form, p.last)
}
