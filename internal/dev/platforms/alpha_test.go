package platforms_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/alpha"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/internal/alphafake"
	"github.com/botctx/go-sdk/internal/graph/graphtest"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/send/sendtest"
)

// alphaCall is a recorded request of another client of the platform, and the platform's answer.
type alphaCall struct {
	Title  string          `json:"title"`
	Method string          `json:"method"`
	Path   string          `json:"path"`
	Body   json.RawMessage `json:"body"`
	Reply  json.RawMessage `json:"reply"`
}

func alphaCalls(t *testing.T) []alphaCall {
	t.Helper()
	var calls []alphaCall
	require.NoError(t, json.Unmarshal(data(t, "alpha", "messaging-apis", "requests.json"), &calls))
	return calls
}

// alphaForms returns the keys of recorded answers, and of requests without a schema, by the last segment of their
// paths.
func alphaForms(t *testing.T) map[string]map[string]bool {
	t.Helper()
	forms := map[string]map[string]bool{}
	note := func(kind string, text []byte) {
		if forms[kind] == nil {
			forms[kind] = map[string]bool{}
		}
		forms[kind][form(text)] = true
	}
	for _, one := range alphaCalls(t) {
		path, _, _ := strings.Cut(one.Path, "?")
		edge := path[strings.LastIndex(path, "/")+1:]
		if len(one.Reply) > 0 {
			note("answer of "+edge, one.Reply)
		}
		if len(one.Body) > 0 && edge != "messages" {
			note("request of "+edge, one.Body)
		}
	}
	// alphaCalls has no calls of these edges.
	note("request of custom_labels", []byte(`{"page_label_name":"x"}`))
	note("answer of custom_labels", []byte(`{"id":1}`))
	note("answer of custom_labels", []byte(`{"data":[{"id":"1","page_label_name":"x"}]}`))
	note("answer of custom_labels", []byte(`{"data":[{"id":"1","page_label_name":"x"}],"paging":{"cursors":{"after":"1"},"next":"x"}}`))
	note("request of label", []byte(`{"user":"x"}`))
	note("answer of label", []byte(`{"success":true}`))
	note("request of pass_thread_control", []byte(`{"recipient":{"id":"1"},"target_app_id":7}`))
	return forms
}

// TestAlpha_FitsTheSchema runs the connector suite and checks each request and answer.
func TestAlpha_FitsTheSchema(t *testing.T) {
	t.Parallel()
	messages, forms := schemaIn(t, "alpha", "own", "send-api.schema.json"), alphaForms(t)
	newHarness := func(t *testing.T) *sendtest.Harness {
		t.Helper()
		platform := alphafake.New(map[string]string{"token-of-shop": "1900", "token-of-desk": "1901"}, "100", "101")
		for _, page := range []string{"1900", "1901"} {
			platform.AddLabel(page, 7001, "vip")
		}
		watched := graphtest.Watched(platform, func(x graphtest.Exchange) {
			edge := x.Path[strings.LastIndex(x.Path, "/")+1:]
			if edge == "messages" {
				if err := fits(messages, x.Request); err != nil {
					t.Errorf("%s %s %s: %v", x.Method, x.Path, x.Request, err)
				}
			} else if len(x.Request) > 0 && !forms["request of "+edge][form(x.Request)] {
				t.Errorf("the request %s %s %s has another form than %v", x.Method, x.Path, x.Request, forms["request of "+edge])
			}
			if x.Status == http.StatusOK && !forms["answer of "+edge][form(x.Reply)] {
				t.Errorf("the answer to %s %s has another form than %v: %s", x.Method, x.Path, forms["answer of "+edge], x.Reply)
			}
		})
		server := sendtest.NewServer(t, watched, alphafake.Faults())
		connector, err := alpha.New(alpha.Config{APIURL: server.URL + "/v23.0"})
		require.NoError(t, err)
		return &sendtest.Harness{
			Connector: connector, Channel: alphaChannel("shop", "1900"), Other: alphaChannel("desk", "1901"),
			Members: []*member.Member{{ID: "m1", ExternalID: "100"}, {ID: "m2", ExternalID: "101"}},
			Arrived: func() []sendtest.Arrival { return platform.Arrivals(map[string]string{"1900": "shop", "1901": "desk"}) },
			Fail:    server.Fail, Labels: platform.Labels, Thread: platform.Thread,
		}
	}
	for _, rule := range sendtest.Rules(newHarness(t)) {
		if rule.Name == "WhatOnePlatformAsksForArrives" {
			continue // The rule uses an invented messaging type and tag.
		}
		t.Run(rule.Name, func(t *testing.T) {
			t.Parallel()
			rule.Check(t, newHarness(t))
		})
	}
	t.Run("tags and recipients", func(t *testing.T) {
		t.Parallel()
		h := newHarness(t)
		message := send.Message{ID: "1", Channel: h.Channel, To: "100", Response: send.Text("Hello").With("notification_type", "NO_PUSH")}
		message.MessagingTag = "HUMAN_AGENT"
		_, err := h.Connector.Send(t.Context(), message)
		require.NoError(t, err)
		message.To = "user_ref:u-1"
		_, err = h.Connector.Send(t.Context(), message)
		require.NoError(t, err)
	})
}

func alphaChannel(id, page string) *channel.Channel {
	return &channel.Channel{ID: id, App: "app-1", Type: channel.Alpha, Info: channel.AlphaInfo{
		AccessToken: channel.NewSecret("token-of-" + id), PageID: page,
	}}
}

// The schema must accept another client's valid requests.
func TestAlpha_SchemaTakesAnotherClient(t *testing.T) {
	t.Parallel()
	messages, taken := schemaIn(t, "alpha", "own", "send-api.schema.json"), 0
	for _, one := range alphaCalls(t) {
		if strings.HasPrefix(one.Path, "/me/messages") && len(one.Body) > 0 {
			require.NoError(t, fits(messages, one.Body), one.Title)
			taken++
		}
	}
	require.Equal(t, 38, taken)
}

// Each wrong request must be refused, or the check proves nothing.
func TestAlpha_SchemaRefuses(t *testing.T) {
	t.Parallel()
	messages := schemaIn(t, "alpha", "own", "send-api.schema.json")
	buttons := `{"type":"postback","title":"A","payload":"a"}`
	for name, message := range map[string]string{
		"a long text":                  `"message":{"text":"` + strings.Repeat("x", 2001) + `"}`,
		"an empty message":             `"message":{}`,
		"a field of another kind":      `"message":{"text":"x","quickReplies":[]}`,
		"14 quick replies":             `"message":{"text":"x","quick_replies":[` + strings.Repeat(`{"content_type":"user_email"},`, 13) + `{"content_type":"user_email"}]}`,
		"a quick reply without text":   `"message":{"text":"x","quick_replies":[{"content_type":"text","title":"A"}]}`,
		"a file without an address":    `"message":{"attachment":{"type":"image"}}`,
		"a file that is not the web's": `"message":{"attachment":{"type":"image","payload":{"url":"data:x"}}}`,
		"a long text above buttons":    `"message":{"attachment":{"type":"template","payload":{"template_type":"button","text":"` + strings.Repeat("x", 641) + `","buttons":[` + buttons + `]}}}`,
		"four buttons":                 `"message":{"attachment":{"type":"template","payload":{"template_type":"button","text":"x","buttons":[` + strings.Repeat(buttons+",", 3) + buttons + `]}}}`,
		"a payload that is an object":  `"message":{"attachment":{"type":"template","payload":{"template_type":"button","text":"x","buttons":[{"type":"postback","title":"A","payload":{}}]}}}`,
		"a card with a title alone":    `"message":{"attachment":{"type":"template","payload":{"template_type":"generic","elements":[{"title":"A"}]}}}`,
		"a tag without its type":       `"messaging_type":"RESPONSE","tag":"HUMAN_AGENT","message":{"text":"x"}`,
		"an unknown action":            `"sender_action":"typing"`,
		"an action and a message":      `"sender_action":"typing_on","message":{"text":"x"}`,
	} {
		require.Error(t, fits(messages, []byte(`{"recipient":{"id":"100"},`+message+`}`)), name)
	}
	require.Error(t, fits(messages, []byte(`{"message":{"text":"x"}}`)), "nobody gets it")
	require.NotEqual(t, form([]byte(`{"success":true}`)), form([]byte(`{"success":"true"}`)), "forms have types")
	require.NotEqual(t, form([]byte(`{"data":[{"id":"1"}]}`)), form([]byte(`{"data":[{}]}`)))
}
