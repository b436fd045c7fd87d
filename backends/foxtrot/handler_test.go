package foxtrot_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/internal/connectortest"
	"github.com/botctx/go-sdk/internal/foxtrotfake"
	"github.com/botctx/go-sdk/send"
)

const (
	inWidget  = `"conversation":{"id":"c1","type":"personal"}`
	inRequest = `"conversation":{"id":"c2","type":"personal","metadata":{"botTicketId":"t1"},"activeSwitchboardIntegration":{"integrationType":%q}}`
	byMember  = `"author":{"type":"user","userId":"u1","displayName":"Ada Lovelace","user":{"id":"u1","profile":{"givenName":"Ada"}}}`
	byAgent   = `"author":{"type":"business","displayName":"Grace"}`
)

// event returns a report of one event at a fixed time.
func event(kind, payload string) []byte {
	return []byte(fmt.Sprintf(`{"app":{"id":"app-desk"},"webhook":{"id":"w"},"events":[{"id":"e1","createdAt":"2026-03-01T09:59:00.000Z","type":%q,"payload":{%s}}]}`, kind, payload))
}

// told returns the payload of a reported message.
func told(place, author, content, more string) string {
	return place + `,"message":{"id":"m1","received":"2026-03-01T10:00:00.000Z",` + author + `,"content":` + content + more + `}`
}

func TestHandler_Conversations(t *testing.T) {
	t.Parallel()
	request := fmt.Sprintf(inRequest, "zd:agentWorkspace")
	returned := fmt.Sprintf(inRequest, "custom")
	widget, agents := `app-1/desk %s c1>app-desk at %d id %q `, `app-1/desk %s agent:Grace>out:c2/t1 in "out:c2/t1" at 1772359200 id "m1" `
	for name, c := range map[string]struct {
		kind, payload string
		want          string
	}{
		"a member's text": {"conversation:message", told(inWidget, byMember, `{"type":"text","text":"hi"}`, ""), fmt.Sprintf(widget, "TEXT", 1772359200, "m1") + `{"text":"hi"}`},
		"a tap on a reply": {
			"conversation:message", told(inWidget, byMember, `{"type":"text","text":"Yes","payload":"{\"payload\":\"a\",\"value\":1}"}`, ""),
			fmt.Sprintf(widget, "PAYLOAD", 1772359200, "m1") + `{"payload":{"payload":"a","value":1},"text":"Yes"}`,
		},
		"a tap on a button": {
			"conversation:postback", inWidget + `,"postback":{"payload":"a"},"user":{"id":"u1"}`, fmt.Sprintf(widget, "PAYLOAD", 1772359140, "") + `{"payload":"a"}`,
		},
		"a picture": {
			"conversation:message", told(inWidget, byMember, `{"type":"image","mediaUrl":"https://x.test/a.png","mediaType":"image/png","text":"A"}`, ""),
			fmt.Sprintf(widget, "MISC", 1772359200, "m1") + `{"attachments":[{"type":"image","payload":{"url":"https://x.test/a.png"}}],"text":"A"}`,
		},
		"a recording": {
			"conversation:message", told(inWidget, byMember, `{"type":"file","mediaUrl":"https://x.test/a.mp3","mediaType":"audio/mpeg"}`, ""),
			fmt.Sprintf(widget, "MISC", 1772359200, "m1") + `{"attachments":[{"type":"audio","payload":{"url":"https://x.test/a.mp3"}}]}`,
		},
		"a place": {
			"conversation:message", told(inWidget, byMember, `{"type":"location","coordinates":{"lat":1.5,"long":2.5}}`, ""),
			fmt.Sprintf(widget, "MISC", 1772359200, "m1") + `{"attachments":[{"type":"location","payload":{"coordinates":{"lat":1.5,"long":2.5}}}]}`,
		},
		"a form": {
			"conversation:message", told(inWidget, byMember, `{"type":"formResponse","fields":[]}`, ""),
			fmt.Sprintf(widget, "MISC", 1772359200, "m1") + `{"message":{"type":"formResponse","fields":[]}}`,
		},
		"a message of an agent to a member": {
			"conversation:message", told(inWidget, byAgent, `{"type":"text","text":"hi"}`, ""), fmt.Sprintf(widget, "ECHO", 1772359200, "m1") + `{"type":"text","text":"hi"}`,
		},
		"the bot's own message": {"conversation:message", told(inWidget, byAgent, `{"type":"text","text":"hi"}`, `,"metadata":{"botMessageId":"1"}`), `drop "conversation:message" from_bot`},
		"a read mark":           {"conversation:read", inWidget + `,"activity":{}`, fmt.Sprintf(widget, "READ", 1772359140, "") + `{"watermark":1772359140000}`},
		"a referral":            {"conversation:referral", inWidget + `,"referral":{"code":"spring"}`, fmt.Sprintf(widget, "REFERRAL", 1772359140, "") + `{"ref":"spring","details":{}}`},
		"a failed delivery": {
			"conversation:message:delivery:failure", inWidget + `,"message":{"id":"m2"},"error":{"code":"unauthorized"}`,
			fmt.Sprintf(widget, "DELIVERY", 1772359140, "") + `{"mids":["m2"],"status":"failed","error":{"code":"unauthorized"}}`,
		},
		"typing":          {"conversation:typing", inWidget, `drop "conversation:typing" unsupported`},
		"a new user":      {"user:update", ``, `drop "user:update" unsupported`},
		"passed on":       {"switchboard:passControl", inWidget, fmt.Sprintf(widget, "MISC", 1772359140, "") + `{"event":"switchboard:passControl","integration":"","reason":""}`},
		"offered":         {"switchboard:offerControl", inWidget, `drop "switchboard:offerControl" unsupported`},
		"an agent's text": {"conversation:message", told(request, byAgent, `{"type":"text","text":"hi"}`, ""), fmt.Sprintf(agents, "TEXT") + `{"text":"hi"}`},
		"an agent's picture": {
			"conversation:message", told(request, byAgent, `{"type":"image","mediaUrl":"https://x.test/a.png"}`, ""),
			fmt.Sprintf(agents, "MISC") + `{"attachments":[{"type":"image","payload":{"url":"https://x.test/a.png"}}]}`,
		},
		"the member's relayed text":    {"conversation:message", told(request, byMember, `{"type":"text","text":"hi"}`, ""), `drop "conversation:message" from_bot`},
		"a text of the helpdesk's bot": {"conversation:message", told(request, byAgent, `{"type":"text","text":"hi"}`, `,"source":{"type":"zd:answerBot"}`), `drop "conversation:message" from_bot`},
		"a read mark in a request":     {"conversation:read", request, `drop "conversation:read" unsupported`},
		"a request passed to an agent": {"switchboard:passControl", request, `drop "switchboard:passControl" unsupported`},
		"a request that comes back":    {"switchboard:passControl", returned, `app-1/desk MISC agent:>out:c2/t1 in "out:c2/t1" at 1772359140 id "" {"status":"returned","event":"switchboard:passControl","reason":""}`},
		"a request that is released":   {"switchboard:releaseControl", returned, `app-1/desk MISC agent:>out:c2/t1 in "out:c2/t1" at 1772359140 id "" {"status":"returned","event":"switchboard:releaseControl","reason":""}`},
		"a request with a closed ticket": {
			"switchboard:passControl", request + `,"reason":"ticketClosed"`,
			`app-1/desk MISC agent:>out:c2/t1 in "out:c2/t1" at 1772359140 id "" {"status":"closed","event":"switchboard:passControl","reason":"ticketClosed"}`,
		},
		"a message that a ticket is closed": {
			"conversation:message", told(request, `"author":{"type":"business","subtypes":["activity"]}`, `{"type":"text","text":"Closed"}`, `,"activity":{"type":"ticket:closed"}`),
			`app-1/desk MISC agent:>out:c2/t1 in "out:c2/t1" at 1772359140 id "" {"status":"closed","event":"ticket:closed"}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBox(t, find)
			require.Equal(t, http.StatusOK, b.report(t.Context(), event(c.kind, c.payload)))
			require.Equal(t, []string{c.want}, b.Lines(1000))
			for _, one := range b.Got {
				require.Equal(t, "event e1", one.Key)
			}
		})
	}
}

func TestHandler_NamesOfMembersAndAgents(t *testing.T) {
	t.Parallel()
	b := newBox(t, find)
	require.Equal(t, http.StatusOK, b.report(t.Context(), event("conversation:message", told(inWidget, byMember, `{"type":"text","text":"hi"}`, ""))))
	require.Equal(t, http.StatusOK, b.report(t.Context(), event("conversation:message", told(fmt.Sprintf(inRequest, ""), byAgent, `{"type":"text","text":"hi"}`, ""))))
	require.Equal(t, "Ada", b.Got[0].Profile.FirstName)
	require.Equal(t, "Grace", b.Got[1].Profile.FirstName)
}

func ticketReport(kind, more string) []byte {
	return []byte(fmt.Sprintf(`{"id":"e1","type":%q,"time":"2026-03-01T10:00:00Z","detail":{"id":"1001"},"event":{%s}}`, kind, more))
}

func TestHandler_Tickets(t *testing.T) {
	t.Parallel()
	const comment, status = "zen:event-type:ticket.comment_added", "zen:event-type:ticket.status_changed"
	says := func(author, more string) string {
		return `"comment":{"id":"31","body":"hi","author":{"id":` + author + `,"name":"Grace","is_staff":true}` + more + `}`
	}
	for name, c := range map[string]struct {
		body []byte
		want string
	}{
		"an agent's comment": {ticketReport(comment, says(`"7"`, `,"is_public":true`)), `app-1/tickets TEXT agent:7>ticket:1001 in "ticket:1001" at 1772359200 id "31" {"text":"hi"}`},
		"an id of a number":  {ticketReport(comment, says("7", "")), `app-1/tickets TEXT agent:7>ticket:1001 in "ticket:1001" at 1772359200 id "31" {"text":"hi"}`},
		"an own comment":     {ticketReport(comment, says(`"77"`, "")), fmt.Sprintf("drop %q from_bot", comment)},
		"an internal note":   {ticketReport(comment, says(`"7"`, `,"is_public":false`)), fmt.Sprintf("drop %q unsupported", comment)},
		"a requester's mail": {ticketReport(comment, `"comment":{"body":"hi","author":{"id":"9","is_staff":false}}`), fmt.Sprintf("drop %q unsupported", comment)},
		"an empty comment":   {ticketReport(comment, `"comment":{"body":"","author":{"id":"7"}}`), fmt.Sprintf("drop %q incomplete", comment)},
		"a solved ticket":    {ticketReport(status, `"current":"SOLVED"`), fmt.Sprintf(`app-1/tickets MISC agent:>ticket:1001 in "ticket:1001" at 1772359200 id "" {"status":"closed","event":%q}`, status)},
		"a pending ticket":   {ticketReport(status, `"current":"PENDING"`), fmt.Sprintf("drop %q unsupported", status)},
		"another event":      {ticketReport("zen:event-type:ticket.created", ""), `drop "zen:event-type:ticket.created" unsupported`},
		"no ticket":          {[]byte(`{"type":"zen:event-type:ticket.created"}`), `drop "zen:event-type:ticket.created" incomplete`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBox(t, find)
			answer := b.Ask(foxtrotfake.PostSigned(t.Context(), "/foxtrot/tickets", webhookSecret, noon(), c.body))
			require.Equal(t, http.StatusOK, answer.Code)
			require.Equal(t, []string{c.want}, b.Lines(1000))
		})
	}
}

// forged returns requests that are not from a helpdesk of this host.
func forged(ctx context.Context) map[string]*http.Request {
	body := event("conversation:message", told(inWidget, byMember, `{"type":"text","text":"hi"}`, ""))
	ticket := ticketReport("zen:event-type:ticket.status_changed", `"current":"SOLVED"`)
	signed := func(secret string, at time.Time, change func(r *http.Request)) *http.Request {
		r := foxtrotfake.PostSigned(ctx, "/foxtrot/tickets", secret, at, ticket)
		if change != nil {
			change(r)
		}
		return r
	}
	return map[string]*http.Request{
		"another secret":            foxtrotfake.Post(ctx, "/foxtrot/desk", "another", body),
		"no secret":                 foxtrotfake.Post(ctx, "/foxtrot/desk", "", body),
		"an unknown account":        foxtrotfake.Post(ctx, "/foxtrot/none", webhookSecret, body),
		"the secret for a ticket":   foxtrotfake.Post(ctx, "/foxtrot/tickets", webhookSecret, ticket),
		"a ticket's another secret": signed("another", noon(), nil),
		"a ticket's old signature":  signed(webhookSecret, noon().Add(-6*time.Minute), nil),
		"a ticket's other body":     signed(webhookSecret, noon(), func(r *http.Request) { r.Body = http.NoBody }),
		"a ticket's other time": signed(webhookSecret, noon(), func(r *http.Request) {
			r.Header.Set("X-Zendesk-Webhook-Signature-Timestamp", noon().Add(time.Minute).UTC().Format(time.RFC3339))
		}),
		"a ticket's odd signature": signed(webhookSecret, noon(), func(r *http.Request) { r.Header.Set("X-Zendesk-Webhook-Signature", "!") }),
	}
}

func TestHandler_LikeAllHandlers(t *testing.T) {
	t.Parallel()
	receiver := connectortest.Receiver{
		Open: func(t *testing.T, lookUp connectortest.LookUp, bodyTime time.Duration) *connectortest.Box {
			t.Helper()
			return timedBox(t, connectortest.Find(lookUp, find), bodyTime).Box
		},
		Request: func(ctx context.Context, body string) *http.Request {
			return foxtrotfake.Post(ctx, "/foxtrot/desk", webhookSecret, []byte(body))
		},
		Report:    string(event("conversation:message", told(inWidget, byMember, `{"type":"text","text":"hi"}`, ""))),
		NoReports: []string{"[]", `{"events":`},
		Several: func(places ...string) string {
			var events []string
			for i, place := range places {
				events = append(events, fmt.Sprintf(`{"id":"e%d","type":"conversation:message","payload":{"conversation":{"id":%q},"message":{"id":"m%d",`+
					`"author":{"type":"user"},"content":{"type":"text","text":"hi"}}}}`, i, place, i+1))
			}
			return `{"events":[` + strings.Join(events, ",") + `]}`
		},
		Forge:  func(r *http.Request) { r.Header.Set("X-Api-Key", "another") },
		Forged: forged,
		Unusable: map[string]channel.Info{
			"another type": channel.DeltaInfo{},
			"no secret":    channel.OtherInfo{Hidden: channel.Hide(desk().Info.(channel.OtherInfo).Reveal().Without("webhookSecret"))},
		},
		NotFound: http.StatusServiceUnavailable,
		Failed:   http.StatusServiceUnavailable, // The helpdesk repeats no other answer.
	}
	receiver.Run(t)
}

func TestHandler_OldTicketIsNotRead(t *testing.T) {
	t.Parallel()
	r := foxtrotfake.PostSigned(t.Context(), "/foxtrot/tickets", webhookSecret, noon().Add(-6*time.Minute), []byte("{}"))
	connectortest.RequireUnread(t, newBox(t, find), r, http.StatusUnauthorized)
}

// A later message of another agent does not overtake one that is not accepted.
func TestHandler_OrderInARequest(t *testing.T) {
	t.Parallel()
	one := func(agent string) string {
		content := told(fmt.Sprintf(inRequest, ""), strings.ReplaceAll(byAgent, "Grace", agent), `{"type":"text","text":"hi"}`, "")
		return `{"id":"` + agent + `","type":"conversation:message","payload":{` + content + `}}`
	}
	b := newBox(t, find)
	b.Refuse = func(botctx.Inbound) error { return boterr.New(boterr.Unavailable, "", "the store does not answer") }
	require.Equal(t, http.StatusServiceUnavailable, b.report(t.Context(), []byte(`{"events":[`+one("Grace")+","+one("Bob")+"]}")))
	require.Len(t, b.Errs, 1)
}

func TestHandler_NoReport(t *testing.T) {
	t.Parallel()
	b := newBox(t, find)
	require.Equal(t, http.StatusBadRequest, b.report(t.Context(), []byte("[]")))
	require.EqualValues(t, 1, b.Dropped("report", send.DropInvalid))
}

func FuzzHandler(f *testing.F) {
	f.Add(string(event("conversation:message", told(inWidget, byMember, `{"type":"text","text":"hi"}`, ""))))
	f.Add(string(event("switchboard:passControl", fmt.Sprintf(inRequest, ""))))
	f.Add(string(ticketReport("zen:event-type:ticket.comment_added", `"comment":{"body":"hi","author":{"id":7}}`)))
	f.Add(`{"events":[{"type":"conversation:message","payload":{"conversation":{"id":"c","metadata":{"botTicketId":[]}},"message":[]}}],"detail":{"id":1e300}}`)
	f.Fuzz(func(t *testing.T, body string) {
		ctx := context.Background()
		for _, r := range []*http.Request{
			foxtrotfake.Post(ctx, "/foxtrot/desk", webhookSecret, []byte(body)),
			foxtrotfake.PostSigned(ctx, "/foxtrot/tickets", webhookSecret, noon(), []byte(body)),
		} {
			b := newBox(t, find)
			require.Contains(t, []int{http.StatusOK, http.StatusBadRequest}, b.Ask(r).Code)
			b.RequireComplete(t)
		}
	})
}
