// Package bravofake is a fake of the phone messenger bravo for tests of its connector. It is an http.Handler
// with numbers, members, messages, groups and files. Its refusals have the platform's own codes. Many of them
// come later, in reports.
package bravofake

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/graph/graphtest"
	"github.com/botctx/go-sdk/send/sendtest"
)

// Platform is the fake platform. Create it with New. It is safe for concurrent use.
type Platform struct {
	// IsLate is true if the last messages of all members are more than 24 hours old.
	IsLate bool
	// Report, if set, is called with the report of each new group, in a separate goroutine.
	Report func(body []byte)
	// ReportsPerGroup is the number of reports of each new group. 0 means one.
	ReportsPerGroup int
	// ListsUntilShown is the number of lists that leave out a new group. If it is negative, new groups are
	// never listed.
	ListsUntilShown int

	mu      sync.Mutex
	numbers map[string]string
	members []string
	sent    []Message
	marks   []string
	groups  []*group
	files   map[string]string
	// reports has the reports about messages since the last call of Reports.
	reports [][]byte
	last    int
}

// Message is a message from a number.
type Message struct {
	Number, To, ID string
	Body           document.Object
}

type group struct {
	number, id, subject, description, link string
	icon                                   []byte
	// hidden is the number of lists that still leave out this group.
	hidden int
}

// New returns a platform. numbers maps tokens to numbers. Every number knows these members.
func New(numbers map[string]string, members ...string) *Platform {
	return &Platform{numbers: numbers, members: members, files: map[string]string{}}
}

// AddGroup adds a group to a number.
func (p *Platform) AddGroup(number, id, subject string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.groups = append(p.groups, &group{number: number, id: id, subject: subject})
}

// AddFile adds a file that a member has sent.
func (p *Platform) AddFile(id, content string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.files[id] = content
}

// Sent returns the sent messages in order.
func (p *Platform) Sent() []Message {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.sent)
}

// Marks returns the ids of messages that were marked as read. "typing" follows an id if typing was shown.
func (p *Platform) Marks() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.marks)
}

// Groups returns the subjects of all groups that were requested.
func (p *Platform) Groups() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var subjects []string
	for _, one := range p.groups {
		subjects = append(subjects, one.subject)
	}
	return subjects
}

// Icon returns the icon of a group.
func (p *Platform) Icon(id string) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	if found := p.find(id); found != nil {
		return found.icon
	}
	return nil
}

// Reports returns the reports about messages since the last call.
func (p *Platform) Reports() [][]byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	reports := p.reports
	p.reports = nil
	return reports
}

// Arrivals returns the messages as sendtest compares them. channels maps numbers to ids of channels.
func (p *Platform) Arrivals(channels map[string]string) []sendtest.Arrival {
	var arrivals []sendtest.Arrival
	for _, sent := range p.Sent() {
		arrivals = append(arrivals, sendtest.Arrival{
			Channel: channels[sent.Number], To: sent.To, Body: sent.Body.String(),
			Text: document.Get(sent.Body, "text.body", document.Get(sent.Body, "interactive.body.text", "")),
			Key:  document.Get(sent.Body, "biz_opaque_callback_data", ""),
		})
	}
	return arrivals
}

// Faults returns the platform's answers for the faults of sendtest.
func Faults() map[sendtest.Fault]http.HandlerFunc {
	return graphtest.Faults(map[sendtest.Fault]graphtest.Refusal{
		sendtest.RateLimited:      {Status: 400, Code: 80007, Minutes: int(sendtest.ComeAgain.Minutes())},
		sendtest.Broken:           {Status: 503, Code: 131016},
		sendtest.BadCredentials:   {Status: 401, Code: 190},
		sendtest.UnknownRecipient: {Status: 400, Code: 131026},
		sendtest.Blocked:          {Status: 400, Code: 131047},
		sendtest.Rejected:         {Status: 400, Code: 131009},
	})
}

// ServeHTTP implements http.Handler.
func (p *Platform) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	number, isKnown := p.numbers[graphtest.TokenOf(r)]
	if !isKnown {
		graphtest.Refusal{Status: 401, Code: 190, Message: "Access token has expired"}.ServeHTTP(w, r)
		return
	}
	path := graphtest.Segments(r)
	if path[0] == "files" {
		_, _ = io.WriteString(w, p.files[path[1]])
		return
	}
	call := call{number: number, path: path, request: r}
	isForm := strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/")
	if r.Method != http.MethodGet && !isForm && json.NewDecoder(r.Body).Decode(&call.body) != nil {
		refuse(100, 0, "The body is not JSON").ServeHTTP(w, r)
		return
	}
	reply, refused := p.answer(call)
	if refused != nil {
		refused.ServeHTTP(w, r)
		return
	}
	graphtest.Answer(w, reply)
}

type call struct {
	number  string
	path    []string
	request *http.Request
	body    document.Object
}

func refuse(code, subcode int64, message string) *graphtest.Refusal {
	return &graphtest.Refusal{Status: http.StatusBadRequest, Code: code, Subcode: subcode, Message: message}
}

var unknown = refuse(100, 33, "Object does not exist")

func (p *Platform) answer(c call) (document.Object, *graphtest.Refusal) {
	edge := ""
	if len(c.path) > 1 {
		edge = c.path[1]
	}
	switch {
	case edge == "messages" && c.path[0] == c.number:
		return p.message(c)
	case edge == "groups" && c.path[0] == c.number && c.request.Method == http.MethodPost:
		return p.makeGroup(c), nil
	case edge == "groups" && c.path[0] == c.number:
		return p.list(c), nil
	case edge == "invite_link":
		return p.inviteLink(c)
	case edge == "" && p.find(c.path[0]) != nil:
		return p.ofGroup(c, p.find(c.path[0]))
	case edge == "" && p.files[c.path[0]] != "":
		return document.O(
			"messaging_product", "whatsapp", "id", c.path[0], "mime_type", "image/jpeg", "sha256", "x", "file_size", "7",
			"url", "http://"+c.request.Host+"/files/"+c.path[0],
		), nil
	default:
		return document.Object{}, unknown
	}
}

// message sends a message, or marks one as read.
func (p *Platform) message(c call) (document.Object, *graphtest.Refusal) {
	if document.Get(c.body, "status", "") == "read" {
		mark := document.Get(c.body, "message_id", "")
		if c.body.Has("typing_indicator") {
			mark += " typing"
		}
		p.marks = append(p.marks, mark)
		return document.O("success", true), nil
	}
	to := document.Get(c.body, "to", "")
	isMember := slices.Contains(p.members, to)
	isGroup := p.find(to) != nil
	switch {
	case !isMember && !isGroup:
		return document.Object{}, refuse(131026, 0, "Message undeliverable")
	case isGroup != (document.Get(c.body, "recipient_type", "") == "group"):
		return document.Object{}, refuse(131009, 0, "Parameter value is not valid: recipient_type")
	case isGroup && document.Get(c.body, "type", "") == "interactive":
		return document.Object{}, refuse(131009, 0, "Groups take no interactive messages")
	case utf8.RuneCountInString(document.Get(c.body, "interactive.body.text", "")) > 1024:
		return document.Object{}, refuse(131009, 0, "Parameter value is not valid: body")
	}
	id := p.next("wamid.%06d")
	p.sent = append(p.sent, Message{Number: c.number, To: to, ID: id, Body: c.body})
	status := document.O(
		"id", id, "status", "delivered", "timestamp", "1700000000", "recipient_id", to,
		"biz_opaque_callback_data", document.Get(c.body, "biz_opaque_callback_data", ""),
	)
	if p.IsLate && !isGroup && document.Get(c.body, "type", "") != "template" {
		status = status.With("status", "failed").With("errors", document.A(document.O(
			"code", 131047, "title", "Re-engagement message", "message", "Re-engagement message",
			"error_data", document.O("details", "More than 24 hours have passed since the customer last replied to this number."),
		)))
	}
	p.reports = append(p.reports, report("messages", c.number, "statuses", status))
	return document.O(
		"messaging_product", "whatsapp", "contacts", document.A(document.O("input", to, "wa_id", to)),
		"messages", document.A(document.O("id", id, "message_status", "accepted")),
	), nil
}

// report returns the body of a report about a number. kind is the field of the value that contains what.
func report(field, number, kind string, what document.Object) []byte {
	value := document.O(
		"messaging_product", "whatsapp", "metadata", document.O("display_phone_number", "15550783881", "phone_number_id", number),
		kind, document.A(what),
	)
	return []byte(document.O("object", "whatsapp_business_account", "entry", document.A(document.O(
		"id", "102290129340398", "changes", document.A(document.O("field", field, "value", value)),
	))).String())
}

// makeGroup creates a group, and reports it later.
func (p *Platform) makeGroup(c call) document.Object {
	made := &group{
		number: c.number, id: p.next("Y2FwaV9ncm91cDox%06d"), subject: strings.TrimSpace(document.Get(c.body, "subject", "")),
		description: document.Get(c.body, "description", ""), link: p.next("https://chat.example/%06d"), hidden: p.ListsUntilShown,
	}
	p.groups = append(p.groups, made)
	request := p.next("request%06d")
	if p.Report != nil {
		body := report("group_lifecycle_update", c.number, "groups", document.O(
			"timestamp", "1700000000", "group_id", made.id, "type", "group_create", "request_id", request,
			"subject", made.subject, "description", made.description, "invite_link", made.link,
		))
		go func() {
			for range max(p.ReportsPerGroup, 1) {
				p.Report(body)
			}
		}()
	}
	return document.O("messaging_product", "whatsapp", "request_id", request)
}

// Show makes all groups appear in lists.
func (p *Platform) Show() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, one := range p.groups {
		one.hidden = 0
	}
}

// list returns pages of one group each, so that lists have several pages.
func (p *Platform) list(c call) document.Object {
	after, _ := strconv.Atoi(c.request.URL.Query().Get("after"))
	var shown []*group
	for _, one := range slices.Backward(p.groups) {
		if one.hidden == 0 && one.number == c.number {
			shown = append(shown, one)
		}
		if one.hidden > 0 && after == 0 {
			one.hidden--
		}
	}
	if after >= len(shown) {
		return document.O("data", document.O("groups", document.A()))
	}
	one := shown[after]
	reply := document.O("data", document.O("groups", document.A(document.O("id", one.id, "subject", one.subject, "created_at", "1700000000"))))
	if after+1 < len(shown) {
		cursor := strconv.Itoa(after + 1)
		reply = reply.With("paging", document.O("cursors", document.O("after", cursor), "next", "https://graph.example/?after="+cursor))
	}
	return reply
}

func (p *Platform) inviteLink(c call) (document.Object, *graphtest.Refusal) {
	found := p.find(c.path[0])
	if found == nil {
		return document.Object{}, unknown
	}
	if c.request.Method == http.MethodDelete {
		found.link = ""
		return document.O("messaging_product", "whatsapp", "success", "true"), nil
	}
	found.link = p.next("https://chat.example/%06d")
	return document.O("messaging_product", "whatsapp", "invite_link", found.link), nil
}

// ofGroup returns the fields of a group, or changes its icon.
func (p *Platform) ofGroup(c call, found *group) (document.Object, *graphtest.Refusal) {
	if c.request.Method != http.MethodPost {
		reply := document.O("id", found.id, "messaging_product", "whatsapp")
		switch c.request.URL.Query().Get("fields") {
		case "subject":
			reply = reply.With("subject", found.subject)
		case "description":
			reply = reply.With("description", found.description)
		}
		return reply, nil
	}
	file, _, err := c.request.FormFile("file")
	if err != nil || c.request.FormValue("messaging_product") != "whatsapp" {
		return document.Object{}, refuse(131008, 0, "Required parameter is missing")
	}
	found.icon, _ = io.ReadAll(file)
	return document.O("success", true), nil
}

// find returns a group by its id. Callers must hold the mutex.
func (p *Platform) find(id string) *group {
	for _, one := range p.groups {
		if one.id == id {
			return one
		}
	}
	return nil
}

// next formats the next number. Callers must hold the mutex.
func (p *Platform) next(form string) string {
	p.last++
	return fmt.Sprintf(form, p.last)
}

// LastGroup returns the id of the newest group.
func (p *Platform) LastGroup() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.groups[len(p.groups)-1].id
}
