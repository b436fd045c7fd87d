package webhook_test

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/botctx/go-sdk/backends/webhook"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/send/sendtest"
)

func TestConnector_KeepsTheContract(t *testing.T) {
	t.Parallel()
	for name, client := range map[string]func(t *testing.T) outbound.Doer{
		"guarded": func(t *testing.T) outbound.Doer { t.Helper(); return loopback(t) },
		"plain":   func(*testing.T) outbound.Doer { return &http.Client{} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sendtest.RunConnector(t, func(t *testing.T) *sendtest.Harness {
				t.Helper()
				return newHarness(t, client(t))
			})
		})
	}
}

func newHarness(t *testing.T, client outbound.Doer) *sendtest.Harness {
	t.Helper()
	pages := &site{secrets: map[string]string{"c1": secret, "c2": newSecret}}
	server := sendtest.NewServer(t, pages, nil)
	connector := newConnector(t, webhook.Config{HTTP: client, Now: clock, Retry: webhook.Retry{First: 1, Longest: 1}})
	const inPath, inQuery = "T0KENinThePath", "T0KENinTheQuery"
	address := server.URL + "/hook/" + inPath + "?key=" + inQuery
	first, other := webchat(address, pages.secrets["c1"]), webchat(address, pages.secrets["c2"])
	other.ID = "c2"
	return &sendtest.Harness{
		Connector: connector, Channel: first, Other: other,
		Members: []*member.Member{{ID: "m1", ExternalID: "ada"}, {ID: "m2", ExternalID: "bob"}},
		Arrived: pages.arrived, Fail: server.Fail,
		Secrets: []string{inPath, inQuery},
		Odd:     func() []sendtest.Reception { return oddRequests(t) },
	}
}

// oddRequests gives a handler signed requests that it does not understand.
func oddRequests(t *testing.T) []sendtest.Reception {
	t.Helper()
	var all []sendtest.Reception
	for name, event := range map[string]string{
		"an event of a new kind":     `{"type":"POLL","from":"ada","data":{"votes":[1,2]}}`,
		"an event that says nothing": `{}`,
		"a text of a new form":       `{"type":"TEXT","from":"ada","data":{"text":{"html":"hi"}}}`,
		"a tap of a new form":        `{"type":"PAYLOAD","from":"ada","data":{"payload":7}}`,
		"an event of nobody":         `{"type":"POLL"}`,
		"no event":                   `7`,
	} {
		d, drops := &desk{}, &send.Drops{Logger: slog.New(slog.DiscardHandler)}
		one := sendtest.Reception{Name: name}
		one.Status, _ = serve(handling(t, d, webhook.Config{Drops: drops}),
			arrives("msg_1", now, []byte(`{"app":"a1","channel":"c1","messageEvent":`+event+`}`)))
		for _, received := range d.got {
			one.Accepted = append(one.Accepted, received.Event)
		}
		for _, drop := range drops.Counts() {
			one.Dropped += drop.Count
		}
		all = append(all, one)
	}
	return all
}

// site is a program that shows messages on pages, each of one id once.
type site struct {
	// secrets are those of the channels.
	secrets map[string]string

	mu    sync.Mutex
	shown []sendtest.Arrival
}

func (s *site) arrived() []sendtest.Arrival {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.shown)
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var posted struct {
		ID       string          `json:"id"`
		Channel  string          `json:"channel"`
		To       string          `json:"to"`
		Response json.RawMessage `json:"response"`
	}
	if err := json.Unmarshal(body, &posted); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if webhook.Verify(r.Header, body, clock(), time.Minute, channel.NewSecret(s.secrets[posted.Channel])) != nil {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	var response document.Object
	if err := response.UnmarshalJSON(posted.Response); err != nil {
		w.WriteHeader(http.StatusUnprocessableEntity)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.ContainsFunc(s.shown, func(known sendtest.Arrival) bool { return known.Key == posted.ID }) {
		return
	}
	s.shown = append(s.shown, sendtest.Arrival{
		Channel: posted.Channel, To: posted.To, Key: posted.ID, Text: send.Raw(response).Text(), Body: string(body),
	})
}
