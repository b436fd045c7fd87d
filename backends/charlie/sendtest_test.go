package charlie_test

import (
	"encoding/json"
	"html"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/charlie"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send/sendtest"
)

func TestConnector_KeepsTheContract(t *testing.T) {
	t.Parallel()
	sendtest.RunConnector(t, newHarness)
}

func newHarness(t *testing.T) *sendtest.Harness {
	t.Helper()
	const otherToken = "xoxb-2-secret"
	s := newTool()
	s.channels[otherToken] = "other"
	for _, user := range []string{"1", "2"} {
		s.conversations["D"+user] = &conversation{messages: map[string]url.Values{}}
	}
	server := sendtest.NewServer(t, s, toolFaults())
	connector, err := charlie.New(charlie.Config{APIURL: server.URL})
	require.NoError(t, err)
	other := workspace()
	other.ID, other.Info = "other", channel.CharlieInfo{BotAccessToken: channel.NewSecret(otherToken)}
	return &sendtest.Harness{
		Connector: connector, Channel: workspace(), Other: other,
		Members: []*member.Member{{ID: "m1", ExternalID: "U1"}, {ID: "m2", ExternalID: "U2"}},
		Arrived: s.arrived, Fail: server.Fail,
		HasNoKeys: true,
		Odd:       func() []sendtest.Reception { return oddReports(t) },
		Group:     "C1",
		Archived: func(id string) bool {
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.conversations[id].isArchived
		},
	}
}

// oddReports gives a handler reports that it does not understand.
func oddReports(t *testing.T) []sendtest.Reception {
	t.Helper()
	var all []sendtest.Reception
	for name, r := range map[string]*http.Request{
		"an event of a new kind":        wrote("E1", `{"type":"of_a_new_kind","user":"U1","channel":"C1"}`),
		"a message of a new kind":       wrote("E1", `{"type":"message","subtype":"of_a_new_kind","user":"U1","channel":"C1","ts":"1.1"}`),
		"a message that says nothing":   wrote("E1", `{"type":"message","user":"U1","channel":"C1","ts":"1.1","blocks":[{"type":"of_a_new_kind"}]}`),
		"an event that says nothing":    wrote("E1", `{}`),
		"an interaction of a new kind":  interacted(document.O("type", "of_a_new_kind")),
		"an action of a new kind":       tapped(`[{"type":"of_a_new_kind","action_id":"pick"}]`),
		"a report of a new kind":        signed("application/json", `{"type":"of_a_new_kind","team_id":"T1"}`),
		"an interaction without action": tapped(`[]`),
	} {
		box := newInbox(t, charlie.Config{})
		one := sendtest.Reception{Name: name, Status: ask(box, r).Code}
		for _, received := range box.all() {
			one.Accepted = append(one.Accepted, received.Event)
		}
		for _, drop := range box.drops.Counts() {
			one.Dropped += drop.Count
		}
		all = append(all, one)
	}
	return all
}

// toolFaults are the faults that the tool tells by a word, with the status 200.
func toolFaults() map[sendtest.Fault]http.HandlerFunc {
	word := func(word string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			form, _ := url.ParseQuery(string(body))
			_ = json.NewEncoder(w).Encode(reply{
				"ok": false, "error": word,
				"response_metadata": reply{"messages": []string{"[ERROR] not with token " + form.Get("token"), sendtest.Repeated(r, body)}},
			})
		}
	}
	return map[sendtest.Fault]http.HandlerFunc{
		sendtest.BadCredentials:   word("invalid_auth"),
		sendtest.UnknownRecipient: word("channel_not_found"),
		sendtest.Blocked:          word("cannot_dm_bot"),
		sendtest.Rejected:         word("invalid_arguments"),
	}
}

// arrived returns the messages as they show now.
func (s *tool) arrived() []sendtest.Arrival {
	s.mu.Lock()
	defer s.mu.Unlock()
	var arrivals []sendtest.Arrival
	for _, sent := range s.posted {
		_, isThere := s.conversations[sent.conversation].messages[sent.ts]
		var body strings.Builder
		for field, values := range sent.form {
			body.WriteString(field + "=" + strings.Join(values, " ") + "\n")
		}
		arrivals = append(arrivals, sendtest.Arrival{
			Channel: s.channels[sent.form.Get("token")], To: sent.form.Get("channel"),
			Text: html.UnescapeString(sent.form.Get("text")), Body: body.String(), IsRecalled: !isThere,
		})
	}
	return arrivals
}
