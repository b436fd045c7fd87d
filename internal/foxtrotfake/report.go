package foxtrotfake

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"strconv"
	"time"

	"github.com/botctx/go-sdk/document"
)

// Report is a report to a host. App is the application; for reports about tickets, which are signed, it is "".
type Report struct {
	App  string
	Body []byte
}

// Reports returns the reports since the last call, in order.
func (p *Platform) Reports() []Report {
	p.mu.Lock()
	defer p.mu.Unlock()
	reports := p.reports
	p.reports = nil
	return reports
}

// report adds a report about a conversation. Callers must hold the mutex.
func (p *Platform) report(in *conversation, kind string, payload document.Object) {
	body := Event(in.app, p.next("evt%021d"), kind, payload.With("conversation", in.record()))
	p.reports = append(p.reports, Report{App: in.app, Body: body})
}

// Event returns a report with one event.
func Event(app, id, kind string, payload document.Object) []byte {
	return []byte(document.O(
		"app", document.O("id", app), "webhook", document.O("id", "w1", "version", "v2"),
		"events", document.A(document.O("id", id, "createdAt", received, "type", kind, "payload", payload)),
	).String())
}

// MemberSays reports a member's text in the widget. If payload is not "", the text is a tapped reply.
func (p *Platform) MemberSays(id, text, payload string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	content := document.O("type", "text", "text", text)
	if payload != "" {
		content = content.With("payload", payload)
	}
	p.report(p.conversations[id], "conversation:message", document.O("message", document.O(
		"id", p.next("msg%021d"), "received", received, "content", content, "source", document.O("type", "web"),
		"author", document.O("type", "user", "displayName", "Ada", "userId", "u1", "user", document.O("id", "u1")),
	)))
}

// AgentSays reports an agent's text. id is the helpdesk's id of the conversation, or a recipient.
func (p *Platform) AgentSays(id, name, text string) {
	p.agentPosts(id, name, document.O("type", "text", "text", text))
}

// AgentSendsFile reports an agent's file. id is the helpdesk's id of the conversation, or a recipient.
func (p *Platform) AgentSendsFile(id, name, url string) {
	p.agentPosts(id, name, document.O("type", "file", "mediaUrl", url, "mediaType", "application/pdf"))
}

func (p *Platform) agentPosts(id, name string, content document.Object) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.report(p.conversations[bare(id)], "conversation:message", document.O("message", document.O(
		"id", p.next("msg%021d"), "received", received, "content", content,
		"author", document.O("type", "business", "displayName", name), "source", document.O("type", "zd:agentWorkspace"),
	)))
}

// OwnAgent is the id of the agent who owns the hosts' token for tickets.
const OwnAgent = "77"

// AgentComments reports an agent's comment on a ticket.
func (p *Platform) AgentComments(id int64, agent, name, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reportComment(id, agent, name, text)
}

// AgentSolves reports that an agent solved a ticket.
func (p *Platform) AgentSolves(id int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tickets[id].status = "solved"
	p.reportTicket(id, "status_changed", document.O("current", "SOLVED"))
}

// reportComment adds a report about a comment. Callers must hold the mutex.
func (p *Platform) reportComment(id int64, agent, name, text string) {
	p.reportTicket(id, "comment_added", document.O("comment", document.O(
		"id", p.next("%d"), "body", text, "is_public", true, "author", document.O("id", agent, "is_staff", true, "name", name),
	)))
}

// reportTicket adds a report about a ticket. Callers must hold the mutex.
func (p *Platform) reportTicket(id int64, kind string, event document.Object) {
	body := document.O(
		"id", p.next("evt%021d"), "type", "zen:event-type:ticket."+kind, "time", received,
		"detail", document.O("id", strconv.FormatInt(id, 10)), "event", event,
	)
	p.reports = append(p.reports, Report{Body: []byte(body.String())})
}

// AgentPasses reports that the agents pass a conversation to another integration. The reason may be "".
func (p *Platform) AgentPasses(id, to, reason string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	in := p.conversations[bare(id)]
	in.control = to
	payload := document.O()
	if reason != "" {
		payload = payload.With("reason", reason)
	}
	p.report(in, "switchboard:passControl", payload)
}

// Post returns a request with a report about conversations. The secret is in a header.
func Post(ctx context.Context, address, secret string, body []byte) *http.Request {
	request := httptest.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	request.RequestURI = "" // Clients refuse requests with a RequestURI.
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("X-Api-Key", secret)
	return request
}

// PostSigned returns a request with a report about tickets, signed with the secret.
func PostSigned(ctx context.Context, address, secret string, at time.Time, body []byte) *http.Request {
	request := Post(ctx, address, "", body)
	timestamp := at.UTC().Format(time.RFC3339)
	sum := hmac.New(sha256.New, []byte(secret))
	_, _ = sum.Write(append([]byte(timestamp), body...)) // Write to a hash never fails.
	request.Header.Set("X-Zendesk-Webhook-Signature", base64.StdEncoding.EncodeToString(sum.Sum(nil)))
	request.Header.Set("X-Zendesk-Webhook-Signature-Timestamp", timestamp)
	return request
}
