package platforms_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/foxtrot"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/foxtrotfake"
	"github.com/botctx/go-sdk/internal/graph/graphtest"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/send/sendtest"
)

const foxtrotFile = "sunshine-conversations-cut.json"

// foxtrotPath returns the OpenAPI path for the path of a call.
func foxtrotPath(path string) string {
	segments := strings.Split(path, "/")
	segments[2] = "{appId}"
	if len(segments) > 4 {
		segments[4] = "{conversationId}"
	}
	return "/" + strings.Join(segments, "/")
}

// foxtrotFits returns an error for a request or an answer that does not match the API.
func foxtrotFits(api *openAPI, x graphtest.Exchange) error {
	operation, err := api.operation(x.Method, foxtrotPath(x.Path))
	if err != nil {
		return err
	}
	if len(x.Request) > 0 {
		schema := schemaOf(operation.RequestBody.Value.Content.Get("application/json"))
		if err := api.check(schema, x.Request); err != nil {
			return err
		}
		if names := unknown(schema, x.Request); len(names) > 0 && len(schema.Properties) > 0 {
			return fmt.Errorf("the request has fields that the API does not define: %v", names)
		}
	}
	described := operation.Responses.Value(strconv.Itoa(x.Status))
	if described == nil {
		if x.Status < http.StatusBadRequest {
			return fmt.Errorf("the API has no answer %d", x.Status)
		}
		return nil
	}
	return api.check(schemaOf(described.Value.Content.Get("application/json")), x.Reply)
}

func foxtrotChannel(id, address string) *channel.Channel {
	return &channel.Channel{
		ID: id, App: "app-1", Type: channel.Foxtrot,
		Info: channel.OtherInfo{Hidden: channel.Hide(document.O(
			"appId", "app-of-all", "keyId", "key-of-"+id, "keySecret", "secret-of-"+id, "baseUrl", address,
		))},
		BroadcastGroups: []channel.BroadcastGroup{{Label: "default", Groups: []channel.BroadcastGroupMember{{ID: "support", Type: "foxtrot"}}}},
	}
}

// foxtrotHarness returns a helpdesk and a harness for it. The test fails for each request or answer that does not
// match the API.
func foxtrotHarness(t *testing.T, api *openAPI) (*foxtrotfake.Platform, *sendtest.Harness) {
	t.Helper()
	platform := foxtrotfake.New(map[string]string{"key-of-desk:secret-of-desk": "app-of-all", "key-of-shop:secret-of-shop": "app-of-all"})
	platform.AddConversation("app-of-all", "c1")
	platform.AddConversation("app-of-all", "c2")
	server := sendtest.NewServer(t, graphtest.Watched(platform, func(x graphtest.Exchange) {
		if err := foxtrotFits(api, x); err != nil {
			t.Errorf("%s %s %q -> %d %q: %v", x.Method, x.Path, x.Request, x.Status, x.Reply, err)
		}
	}), nil)
	connector, err := foxtrot.New(foxtrot.Config{HTTPClient: &http.Client{}})
	require.NoError(t, err)
	return platform, &sendtest.Harness{
		Connector: connector, Channel: foxtrotChannel("desk", server.URL), Other: foxtrotChannel("shop", server.URL),
		Members: []*member.Member{{ID: "m1", ExternalID: "c1"}, {ID: "m2", ExternalID: "c2"}},
		Arrived: func() []sendtest.Arrival {
			return platform.Arrivals(map[string]string{"key-of-desk:secret-of-desk": "desk", "key-of-shop:secret-of-shop": "shop"})
		},
		Fail: server.Fail,
	}
}

// TestFoxtrot_FitsTheAPI runs the connector suite and checks each request and answer.
func TestFoxtrot_FitsTheAPI(t *testing.T) {
	t.Parallel()
	api := openAPIIn(t, "foxtrot", foxtrotFile)
	sendtest.RunConnector(t, func(t *testing.T) *sendtest.Harness {
		t.Helper()
		_, h := foxtrotHarness(t, api)
		return h
	})
}

// TestFoxtrot_RequestsFitTheAPI checks the messages of a request for an agent, also a repeated one, and the reports.
func TestFoxtrot_RequestsFitTheAPI(t *testing.T) {
	t.Parallel()
	api := openAPIIn(t, "foxtrot", foxtrotFile)
	platform, h := foxtrotHarness(t, api)
	chat := "support"
	for _, response := range []send.Response{
		send.Text("Ada asks for a person.").With("requester", document.O("name", "Ada")), send.Text("Hello"), send.Image("https://x.test/a.png"),
		send.File("https://x.test/a.pdf"), send.Typing(1), send.Other(foxtrot.TypeMarkSeen, document.O()),
		send.Other(send.TypeMisc, document.O("text", "Look", "attachments", document.A(
			document.O("type", "location", "payload", document.O("coordinates", document.O("lat", 1.5, "long", 2.5)))))),
		send.Buttons("Now?", send.Postback("Yes", "y")), send.Other(foxtrot.TypeClose, document.O()),
	} {
		for range 2 {
			delivery, err := h.Connector.Send(t.Context(), send.Message{ID: "t1", Channel: h.Channel, To: chat, Response: response})
			require.NoError(t, err)
			if delivery.ChatID != "" && chat == "support" {
				chat = delivery.ChatID
				continue
			}
		}
	}
	for _, response := range []send.Response{
		send.Typing(1), send.Other(foxtrot.TypeMarkSeen, document.O()), send.QuickReplies("Where?", send.QuickReply{ContentType: "location"}),
		send.Other(foxtrot.TypePassControl, document.O("switchboardIntegration", "next")),
		send.Carousel(send.Card{Title: "A", Subtitle: "a", ImageURL: "https://x.test/a.png", Buttons: []send.Button{send.Postback("B", "b")}}),
	} {
		_, err := h.Connector.Send(t.Context(), send.Message{ID: "m1", Channel: h.Channel, To: "c1", Response: response})
		require.NoError(t, err)
	}
	platform.MemberSays("c1", "hi", "a")
	platform.AgentSays(chat, "Grace", "hi")
	reports := platform.Reports()
	require.Greater(t, len(reports), 10)
	for _, report := range reports {
		require.NoError(t, foxtrotReport(api, report.Body), "%s", report.Body)
	}
}

// foxtrotReport returns an error if a report about a message does not match the API.
func foxtrotReport(api *openAPI, body []byte) error {
	var report struct {
		Events []json.RawMessage `json:"events"`
	}
	if err := json.Unmarshal(body, &report); err != nil {
		return err
	}
	for _, event := range report.Events {
		if err := api.check(api.schemas["conversationMessageEvent"].Value, event); err != nil {
			return err
		}
	}
	return nil
}

// Each wrong request or report must be refused, or the check proves nothing.
func TestFoxtrot_APIRefuses(t *testing.T) {
	t.Parallel()
	api := openAPIIn(t, "foxtrot", foxtrotFile)
	const business = `"author":{"type":"business"}`
	for name, x := range map[string]graphtest.Exchange{
		"a user without an id":           {Path: "v2/apps/a/users", Request: []byte(`{"profile":{}}`)},
		"a conversation without a type":  {Path: "v2/apps/a/conversations", Request: []byte(`{"participants":[]}`)},
		"a message without an author":    {Path: "v2/apps/a/conversations/c/messages", Request: []byte(`{"content":{"type":"text","text":"x"}}`)},
		"an unknown author":              {Path: "v2/apps/a/conversations/c/messages", Request: []byte(`{"author":{"type":"bot"},"content":{"type":"text"}}`)},
		"an unknown content":             {Path: "v2/apps/a/conversations/c/messages", Request: []byte(`{` + business + `,"content":{"type":"poll"}}`)},
		"a long text":                    {Path: "v2/apps/a/conversations/c/messages", Request: []byte(`{` + business + `,"content":{"type":"text","text":"` + strings.Repeat("x", 4097) + `"}}`)},
		"a reply without a payload":      {Path: "v2/apps/a/conversations/c/messages", Request: []byte(`{` + business + `,"content":{"type":"text","actions":[{"type":"reply","text":"x"}]}}`)},
		"a card without buttons":         {Path: "v2/apps/a/conversations/c/messages", Request: []byte(`{` + business + `,"content":{"type":"carousel","items":[{"title":"x","actions":[]}]}}`)},
		"a picture without an address":   {Path: "v2/apps/a/conversations/c/messages", Request: []byte(`{` + business + `,"content":{"type":"image"}}`)},
		"an unknown field of a message":  {Path: "v2/apps/a/conversations/c/messages", Request: []byte(`{` + business + `,"content":{"type":"text"},"text":"x"}`)},
		"an unknown activity":            {Path: "v2/apps/a/conversations/c/activity", Request: []byte(`{` + business + `,"type":"typing"}`)},
		"control without an integration": {Path: "v2/apps/a/conversations/c/passControl", Request: []byte(`{"reason":"ticketClosed"}`)},
		"an unknown reason":              {Path: "v2/apps/a/conversations/c/passControl", Request: []byte(`{"switchboardIntegration":"next","reason":"x"}`)},
		"an unknown path":                {Path: "v2/apps/a/tickets", Request: []byte(`{}`)},
	} {
		x.Method, x.Status, x.Reply = http.MethodPost, http.StatusBadRequest, []byte(`{}`)
		require.Error(t, foxtrotFits(api, x), name)
	}
	require.Error(t, foxtrotReport(api, []byte(`{"events":[{"id":7}]}`)))
	require.Error(t, foxtrotReport(api, []byte(`{"events":[{"payload":{"message":{"author":{"type":"agent"}}}}]}`)))
}
