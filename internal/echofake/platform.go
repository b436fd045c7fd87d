// Package echofake is a fake of the messenger echo for tests of its connector. It is an http.Handler with
// accounts, their access tokens, members, messages, tags and files. It also creates reports to a host. Its
// refusals have the platform's own codes.
package echofake

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/sealed"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/send/sendtest"
)

// Platform is the fake platform. Create it with New. It is safe for concurrent use.
type Platform struct {
	mu       sync.Mutex
	accounts map[string]*account
	sent     []Message
	actions  []string
	files    map[string]file
	renewals int
	last     int
}

// account is an official account. token is the current access token. stale is a token that the platform still
// issues but refuses.
type account struct {
	secret, token, stale string
	members              []string
	tags                 map[string][]int64
}

type file struct{ kind, name, content string }

// Message is a message from an account.
type Message struct {
	App, To string
	// Body is the body of the request.
	Body document.Object
}

// Text returns the text of a message without the links in it.
func (m Message) Text() string {
	return document.Get(m.Body, "text.content", document.Get(m.Body, "msgmenu.head_content", ""))
}

// Limits of the platform.
const (
	maxTag    = 100
	tokenLife = 7200
)

// New returns a platform. secrets maps app ids to secrets. Every account has these members.
func New(secrets map[string]string, members ...string) *Platform {
	p := &Platform{accounts: map[string]*account{}, files: map[string]file{}}
	for app, secret := range secrets {
		p.accounts[app] = &account{secret: secret, members: members, tags: map[string][]int64{}}
	}
	return p
}

// Expire ends the current token of an account. The next request for a token creates a new one.
func (p *Platform) Expire(app string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.accounts[app].token = ""
}

// Spoil makes the platform refuse the current token of an account but still issue it.
func (p *Platform) Spoil(app string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.accounts[app].stale = p.accounts[app].token
}

// Renewals returns the number of requests for an access token.
func (p *Platform) Renewals() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.renewals
}

// AddFile adds a file that a member has sent.
func (p *Platform) AddFile(id, kind, content string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.files[id] = file{kind: kind, content: content}
}

// Sent returns the sent messages in order.
func (p *Platform) Sent() []Message {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.sent)
}

// Actions returns the sent actions, such as "Typing to o1".
func (p *Platform) Actions() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.actions)
}

// Tags returns the tags of a member of an account.
func (p *Platform) Tags(app, member string) []int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.accounts[app].tags[member])
}

// Arrivals returns the messages as sendtest compares them. channels maps app ids to ids of channels.
func (p *Platform) Arrivals(channels map[string]string) []sendtest.Arrival {
	var arrivals []sendtest.Arrival
	for _, sent := range p.Sent() {
		body := sent.Body.String()
		for id, one := range p.uploaded() {
			body = strings.ReplaceAll(body, id, id+" "+one.name)
		}
		arrivals = append(arrivals, sendtest.Arrival{Channel: channels[sent.App], To: sent.To, Text: sent.Text(), Body: body})
	}
	return arrivals
}

func (p *Platform) uploaded() map[string]file {
	p.mu.Lock()
	defer p.mu.Unlock()
	uploaded := map[string]file{}
	for id, one := range p.files {
		if one.name != "" {
			uploaded[id] = one
		}
	}
	return uploaded
}

// Paths of the API.
const (
	PathToken  = "/cgi-bin/stable_token" //nolint:gosec // This is a path.
	PathSend   = "/cgi-bin/message/custom/send"
	PathTyping = "/cgi-bin/message/custom/typing"
	PathTag    = "/cgi-bin/tags/members/batchtagging"
	PathUpload = "/cgi-bin/media/upload"
	PathMedia  = "/cgi-bin/media/get"
)

// Refusal is an answer with an errcode.
type Refusal struct {
	Code    int64
	Message string
}

// Write answers with the refusal and status 200.
func (f Refusal) Write(w http.ResponseWriter) {
	answer(w, document.O("errcode", f.Code, "errmsg", f.Message))
}

func answer(w http.ResponseWriter, reply document.Object) {
	w.Header().Set("Content-Type", "application/json; encoding=utf-8")
	_, _ = io.WriteString(w, reply.String())
}

// Faults returns the platform's answers for the faults of sendtest. Their texts contain the request and its
// credentials, which the connector must not show.
func Faults() map[sendtest.Fault]http.HandlerFunc {
	faults := map[sendtest.Fault]http.HandlerFunc{}
	for fault, code := range map[sendtest.Fault]int64{
		sendtest.RateLimited: 45009, sendtest.Broken: -1, sendtest.BadCredentials: 40001, sendtest.UnknownRecipient: 40003,
		sendtest.Blocked: 43004, sendtest.Rejected: 45002,
	} {
		faults[fault] = func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			Refusal{code, sendtest.Repeated(r, body)}.Write(w)
		}
	}
	return faults
}

// ServeHTTP implements http.Handler.
func (p *Platform) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r.URL.Path == PathToken {
		p.giveToken(w, r)
		return
	}
	app, of := p.accountWith(r.URL.Query().Get("access_token"))
	if of == nil {
		Refusal{40001, "invalid credential, access_token is invalid or not latest"}.Write(w)
		return
	}
	switch r.URL.Path {
	case PathMedia:
		p.giveFile(w, r.URL.Query().Get("media_id"))
		return
	case PathUpload:
		p.takeFile(w, r)
		return
	}
	var body document.Object
	if json.NewDecoder(r.Body).Decode(&body) != nil {
		Refusal{47001, "data format error"}.Write(w)
		return
	}
	var refused Refusal
	switch r.URL.Path {
	case PathSend:
		refused = p.message(app, of, body)
	case PathTyping:
		to := document.Get(body, "touser", "")
		if !slices.Contains(of.members, to) {
			refused = Refusal{40003, "invalid openid"}
			break
		}
		p.actions = append(p.actions, document.Get(body, "command", "")+" to "+to)
	case PathTag:
		refused = of.tag(body)
	default:
		http.NotFound(w, r)
		return
	}
	refused.Write(w)
}

func (p *Platform) accountWith(token string) (string, *account) {
	for app, of := range p.accounts {
		if token != "" && token == of.token && token != of.stale {
			return app, of
		}
	}
	return "", nil
}

func (p *Platform) giveToken(w http.ResponseWriter, r *http.Request) {
	p.renewals++
	var body document.Object
	if json.NewDecoder(r.Body).Decode(&body) != nil || document.Get(body, "grant_type", "") != "client_credential" {
		Refusal{40002, "invalid grant_type"}.Write(w)
		return
	}
	of := p.accounts[document.Get(body, "appid", "")]
	switch {
	case of == nil:
		Refusal{40013, "invalid appid"}.Write(w)
		return
	case of.secret != document.Get(body, "secret", ""):
		Refusal{40125, "invalid appsecret"}.Write(w)
		return
	case of.token == "" || document.Get(body, "force_refresh", false):
		of.token = p.next("token-%06d-of-" + document.Get(body, "appid", ""))
	}
	answer(w, document.O("access_token", of.token, "expires_in", tokenLife))
}

func (p *Platform) message(app string, of *account, body document.Object) Refusal {
	to, kind := document.Get(body, "touser", ""), document.Get(body, "msgtype", "")
	if !slices.Contains(of.members, to) {
		return Refusal{40003, "invalid openid"}
	}
	if refused := p.check(kind, body); refused.Code != 0 {
		return refused
	}
	p.sent = append(p.sent, Message{App: app, To: to, Body: body})
	return Refusal{Message: "ok"}
}

// check returns a refusal if the platform cannot show the content.
func (p *Platform) check(kind string, body document.Object) Refusal {
	content, isThere := body.Field(kind)
	of, _ := content.(document.Object)
	id := document.Get(of, "media_id", "")
	switch known, isKnown := p.files[id]; {
	case kind == "" || !isThere:
		return Refusal{40008, "invalid message type"}
	case len(document.Get(of, "content", "")) > 2048:
		return Refusal{45002, "content size out of limit"}
	case isKnown && known.kind != kind:
		return Refusal{40007, "invalid media_id"}
	case document.Get(of, "articles", document.Array{}).Len() > 1:
		return Refusal{45008, "article size out of limit"}
	default:
		return Refusal{}
	}
}

// tag adds a tag to members.
func (a *account) tag(body document.Object) Refusal {
	tag := document.Get(body, "tagid", int64(0))
	if tag < 1 || tag > maxTag {
		return Refusal{45159, "invalid tag"}
	}
	for _, to := range document.Get(body, "openid_list", []string{}) {
		switch tags := a.tags[to]; {
		case !slices.Contains(a.members, to):
			return Refusal{40003, "invalid openid"}
		case slices.Contains(tags, tag):
		case len(tags) >= send.MaxMemberTags:
			return Refusal{45059, "has out of tagging limit"}
		default:
			a.tags[to] = append(tags, tag)
		}
	}
	return Refusal{Message: "ok"}
}

func (p *Platform) takeFile(w http.ResponseWriter, r *http.Request) {
	part, header, err := r.FormFile("media")
	if err != nil {
		Refusal{41005, "media data missing"}.Write(w)
		return
	}
	content, _ := io.ReadAll(part)
	kind, id := r.URL.Query().Get("type"), p.next("media-%06d")
	p.files[id] = file{kind: kind, name: header.Filename, content: string(content)}
	answer(w, document.O("type", kind, "media_id", id, "created_at", 1_700_000_000))
}

func (p *Platform) giveFile(w http.ResponseWriter, id string) {
	found, isKnown := p.files[id]
	switch {
	case !isKnown:
		Refusal{40007, "invalid media_id"}.Write(w)
	case found.kind == "video":
		answer(w, document.O("video_url", found.content))
	default:
		w.Header().Set("Content-Type", "image/jpeg")
		w.Header().Set("Content-Disposition", "attachment; filename="+url.QueryEscape(id))
		_, _ = io.WriteString(w, found.content)
	}
}

// next formats the next number. Callers must hold the mutex.
func (p *Platform) next(form string) string {
	p.last++
	return fmt.Sprintf(form, p.last)
}

// Webhook has the platform's settings for a host's address.
type Webhook struct {
	// Token signs reports. Key encrypts them; "" means that reports are not encrypted.
	Token, Key string
	// AppID is the app id in encrypted reports.
	AppID string
	// IsCompatible adds the plain report to each encrypted one.
	IsCompatible bool
}

// nonce is a part of the signed text.
const nonce = "461056294"

// Report returns a signed request with a report.
func (w Webhook) Report(ctx context.Context, address string, at time.Time, body string) *http.Request {
	query := w.query(at)
	if w.Key != "" {
		encrypted := w.sealed(body)
		query.Set("encrypt_type", "aes")
		query.Set("msg_signature", sealed.Sign(w.Token, query.Get("timestamp"), nonce, encrypted))
		part := "<Encrypt><![CDATA[" + encrypted + "]]></Encrypt>"
		if w.IsCompatible {
			body = strings.Replace(body, "</xml>", part+"</xml>", 1)
		} else {
			body = "<xml><ToUserName><![CDATA[gh_1]]></ToUserName>" + part + "</xml>"
		}
	}
	request := httptest.NewRequestWithContext(ctx, http.MethodPost, address+"?"+query.Encode(), strings.NewReader(body))
	request.RequestURI = "" // Clients refuse requests with a RequestURI.
	request.Header.Set("Content-Type", "text/xml")
	return request
}

func (w Webhook) sealed(body string) string {
	key, err := sealed.ParseKey(w.Key)
	if err != nil {
		panic(err)
	}
	return key.Seal([16]byte([]byte("1234567890123456")), []byte(body), w.AppID)
}

// Check returns a request that checks a host's address.
func (w Webhook) Check(ctx context.Context, address string, at time.Time, text string) *http.Request {
	query := w.query(at)
	query.Set("echostr", text)
	return httptest.NewRequestWithContext(ctx, http.MethodGet, address+"?"+query.Encode(), nil)
}

func (w Webhook) query(at time.Time) url.Values {
	timestamp := strconv.FormatInt(at.Unix(), 10)
	return url.Values{"timestamp": {timestamp}, "nonce": {nonce}, "signature": {sealed.Sign(w.Token, timestamp, nonce)}}
}

// Text returns a report of a member's text.
func Text(from, to, id string, at time.Time, text string) string {
	return envelope(from, to, at, "text", fmt.Sprintf("<Content><![CDATA[%s]]></Content><MsgId>%s</MsgId>", text, id))
}

// Tapped changes the report of a text to a report of a tap on the line with this id.
func Tapped(text, id string) string {
	return strings.Replace(text, "</xml>", "<bizmsgmenuid><![CDATA["+id+"]]></bizmsgmenuid></xml>", 1)
}

// Event returns a report of an event. more has further XML elements.
func Event(from, to string, at time.Time, event, more string) string {
	return envelope(from, to, at, "event", "<Event><![CDATA["+event+"]]></Event>"+more)
}

func envelope(from, to string, at time.Time, kind, content string) string {
	return fmt.Sprintf("<xml><ToUserName><![CDATA[%s]]></ToUserName><FromUserName><![CDATA[%s]]></FromUserName>"+
		"<CreateTime>%d</CreateTime><MsgType><![CDATA[%s]]></MsgType>%s</xml>", to, from, at.Unix(), kind, content)
}
