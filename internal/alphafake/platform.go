// Package alphafake is a fake of the social messenger alpha for tests of its connector. It is an http.Handler
// with pages, members, messages, labels, files and the control of conversations. Its refusals have the
// platform's own codes.
package alphafake

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/graph"
	"github.com/botctx/go-sdk/internal/graph/graphtest"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/send/sendtest"
)

// Platform is the fake platform. Create it with New. It is safe for concurrent use.
type Platform struct {
	// AppSecret, if set, is the secret that each call must prove.
	AppSecret string

	mu sync.Mutex
	// pages maps tokens to ids of pages. Every page knows the members.
	pages   map[string]string
	members []string
	sent    []Message
	actions []string
	// labels has the names of a page's labels by number. labelled has the numbers of a member's labels.
	labels   map[string]map[int64]string
	labelled map[string][]int64
	threads  map[string]send.ThreadHandover
	files    map[string]string
	last     int
}

// Message is a message from a page.
type Message struct {
	Page, To, ID string
	// Body is the body of the request. Content is the message in it.
	Body, Content document.Object
}

// New returns a platform. pages maps tokens to ids of pages. Every page knows these members.
func New(pages map[string]string, members ...string) *Platform {
	p := &Platform{
		pages: pages, members: members, labels: map[string]map[int64]string{},
		labelled: map[string][]int64{}, threads: map[string]send.ThreadHandover{}, files: map[string]string{},
	}
	for _, page := range pages {
		p.labels[page] = map[int64]string{}
	}
	return p
}

// AddLabel adds a label to a page.
func (p *Platform) AddLabel(page string, number int64, name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.labels[page][number] = name
}

// Sent returns the sent messages in order.
func (p *Platform) Sent() []Message {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.sent)
}

// Actions returns the sender actions so far, such as "typing_on to 100".
func (p *Platform) Actions() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.actions)
}

// Labels returns the numbers of a member's labels.
func (p *Platform) Labels(member string) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var labels []string
	for _, number := range p.labelled[member] {
		labels = append(labels, strconv.FormatInt(number, 10))
	}
	return labels
}

// Thread returns the last handover of the conversation with a member.
func (p *Platform) Thread(member string) send.ThreadHandover {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.threads[member]
}

// Arrivals returns the messages as sendtest compares them. channels maps ids of pages to ids of channels.
func (p *Platform) Arrivals(channels map[string]string) []sendtest.Arrival {
	var arrivals []sendtest.Arrival
	for _, sent := range p.Sent() {
		text := document.Get(sent.Content, "text", document.Get(sent.Content, "attachment.payload.text", ""))
		arrivals = append(arrivals, sendtest.Arrival{
			Channel: channels[sent.Page], To: sent.To, Text: text, Body: sent.Body.String(),
			Key: document.Get(sent.Content, "metadata", ""),
		})
	}
	return arrivals
}

// Faults returns the platform's answers for the faults of sendtest.
func Faults() map[sendtest.Fault]http.HandlerFunc {
	return graphtest.Faults(map[sendtest.Fault]graphtest.Refusal{
		sendtest.RateLimited:      {Status: 400, Code: 4, Minutes: int(sendtest.ComeAgain.Minutes())},
		sendtest.Broken:           {Status: 500, Code: 2},
		sendtest.BadCredentials:   {Status: 400, Code: 190, Subcode: 463},
		sendtest.UnknownRecipient: {Status: 400, Code: 100, Subcode: 2018001},
		sendtest.Blocked:          {Status: 400, Code: 551, Subcode: 1545041},
		sendtest.Rejected:         {Status: 400, Code: 100},
	})
}

// call is a call to the API.
type call struct {
	page    string
	path    []string
	request *http.Request
	body    document.Object
}

// ServeHTTP implements http.Handler.
func (p *Platform) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	token := graphtest.TokenOf(r)
	c := call{page: p.pages[token], path: graphtest.Segments(r), request: r}
	if c.page == "" {
		graphtest.Refusal{Status: 400, Code: 190, Message: "Invalid OAuth access token."}.ServeHTTP(w, r)
		return
	}
	if p.AppSecret != "" && r.URL.Query().Get("appsecret_proof") != proof(p.AppSecret, token) {
		graphtest.Refusal{Status: 400, Code: 100, Message: "Invalid appsecret_proof provided in the API argument"}.ServeHTTP(w, r)
		return
	}
	if r.Method == http.MethodPost && json.NewDecoder(r.Body).Decode(&c.body) != nil {
		refuse(100, 0, "The body is not JSON").ServeHTTP(w, r)
		return
	}
	if c.path[0] == "me" {
		c.path[0] = c.page
	}
	reply, refused := p.answer(c)
	if refused != nil {
		refused.ServeHTTP(w, r)
		return
	}
	graphtest.Answer(w, reply)
}

// proof returns the proof that a caller knows the application's secret.
func proof(secret, token string) string {
	return strings.TrimPrefix(graph.Sign(channel.NewSecret(secret), []byte(token)), "sha256=")
}

func refuse(code, subcode int64, message string) *graphtest.Refusal {
	return &graphtest.Refusal{Status: http.StatusBadRequest, Code: code, Subcode: subcode, Message: message}
}

func (p *Platform) answer(c call) (document.Object, *graphtest.Refusal) {
	edge := ""
	if len(c.path) > 1 {
		edge = c.path[1]
	}
	switch {
	case edge == "messages" && c.path[0] == c.page:
		return p.message(c)
	case edge == "message_attachments" && c.path[0] == c.page:
		id := p.next("2000000%09d")
		p.files[id] = document.Get(c.body, "message.attachment.type", "")
		return document.O("attachment_id", id), nil
	case edge == "pass_thread_control" && c.path[0] == c.page:
		p.threads[document.Get(c.body, "recipient.id", "")] = send.ThreadHandover{
			TargetAppID: fmt.Sprint(document.Get[any](c.body, "target_app_id", "")), Metadata: document.Get(c.body, "metadata", ""),
		}
		return document.O("success", true), nil
	case edge == "custom_labels" && c.path[0] == c.page:
		return p.customLabels(c)
	case edge == "label":
		return p.label(c)
	case edge == "" && c.request.Method == http.MethodGet:
		return p.profile(c)
	default:
		return document.Object{}, refuse(100, 33, "Unsupported request. Object does not exist.")
	}
}

// message handles a message or an action.
func (p *Platform) message(c call) (document.Object, *graphtest.Refusal) {
	recipient := document.Get(c.body, "recipient", document.Object{})
	to := document.Get(recipient, "id", "")
	if to != "" {
		if refused := p.mayWrite(c, to); refused != nil {
			return document.Object{}, refused
		}
	}
	if action := document.Get(c.body, "sender_action", ""); action != "" {
		p.actions = append(p.actions, action+" to "+to)
		return document.O("recipient_id", to), nil
	}
	content := document.Get(c.body, "message", document.Object{})
	if refused := p.check(content); refused != nil {
		return document.Object{}, refused
	}
	if to == "" {
		to = recipient.String()
	}
	id := p.next("m_%06d")
	p.sent = append(p.sent, Message{Page: c.page, To: to, ID: id, Body: c.body, Content: content})
	return document.O("recipient_id", to, "message_id", id), nil
}

// mayWrite returns a refusal if the page may not write to the member.
func (p *Platform) mayWrite(c call, to string) *graphtest.Refusal {
	tag := document.Get(c.body, "tag", "")
	switch {
	case !slices.Contains(p.members, to):
		return refuse(100, 2018001, "(#100) No matching user found")
	case p.threads[to].TargetAppID != "":
		return refuse(10, 2018300, "(#10) Another app is controlling this thread now")
	case slices.Contains([]string{"CONFIRMED_EVENT_UPDATE", "POST_PURCHASE_UPDATE", "ACCOUNT_UPDATE"}, tag):
		return refuse(100, 0, "(#100) Invalid parameter")
	default:
		return nil
	}
}

// check returns a refusal if the platform cannot show the content.
func (p *Platform) check(content document.Object) *graphtest.Refusal {
	if utf8.RuneCountInString(document.Get(content, "text", "")) > send.MaxText {
		return refuse(100, 0, "(#100) Length of param message[text] must be less than or equal to 2000")
	}
	id := document.Get(content, "attachment.payload.attachment_id", "")
	if kind, isKnown := p.files[id]; isKnown && kind != document.Get(content, "attachment.type", "") {
		return refuse(100, 0, "(#100) Invalid attachment id")
	}
	return nil
}

func (p *Platform) customLabels(c call) (document.Object, *graphtest.Refusal) {
	if c.request.Method == http.MethodPost {
		number := int64(4_000_000_000 + p.count())
		p.labels[c.page][number] = document.Get(c.body, "page_label_name", "")
		return document.O("id", number), nil // A number here, but a string in the list.
	}
	var numbers []int64
	for number := range p.labels[c.page] {
		numbers = append(numbers, number)
	}
	slices.Sort(numbers)
	after, _ := strconv.Atoi(c.request.URL.Query().Get("after"))
	if after >= len(numbers) {
		return document.O("data", document.A()), nil
	}
	number := numbers[after] // There is one label per page, so that lists have several pages.
	reply := document.O("data", document.A(document.O(
		"id", strconv.FormatInt(number, 10), "page_label_name", p.labels[c.page][number],
	)))
	if after+1 < len(numbers) {
		cursor := strconv.Itoa(after + 1)
		reply = reply.With("paging", document.O("cursors", document.O("after", cursor), "next", "https://graph.example/?after="+cursor))
	}
	return reply, nil
}

func (p *Platform) label(c call) (document.Object, *graphtest.Refusal) {
	number, _ := strconv.ParseInt(c.path[0], 10, 64)
	if _, isKnown := p.labels[c.page][number]; !isKnown {
		return document.Object{}, refuse(100, 33, "Unsupported request. Object does not exist.")
	}
	user := c.request.URL.Query().Get("user")
	if c.request.Method == http.MethodPost {
		user = document.Get(c.body, "user", "")
	}
	p.labelled[user] = slices.DeleteFunc(p.labelled[user], func(one int64) bool { return one == number })
	if c.request.Method == http.MethodPost {
		p.labelled[user] = append(p.labelled[user], number)
	}
	return document.O("success", true), nil
}

func (p *Platform) profile(c call) (document.Object, *graphtest.Refusal) {
	if !slices.Contains(p.members, c.path[0]) {
		return document.Object{}, refuse(100, 33, "Unsupported get request. Object does not exist.")
	}
	return document.O(
		"id", c.path[0], "first_name", "Ada", "last_name", "Lovelace", "profile_pic", "https://cdn.example/ada.png",
	), nil
}

// count returns the next number. Callers must hold the mutex.
func (p *Platform) count() int {
	p.last++
	return p.last
}

func (p *Platform) next(form string) string { return fmt.Sprintf(form, p.count()) }
