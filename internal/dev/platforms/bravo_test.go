package platforms_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/bravo"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/bravofake"
	"github.com/botctx/go-sdk/internal/graph/graphtest"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/send/sendtest"
)

const (
	bravoFile    = "whatsapp-cloud-cut.json"
	bravoWebhook = "/whatsapp/webhooks"
	bravoSends   = "/{Version}/{Phone-Number-ID}/messages"
	bravoGroup   = "/{Version}/{group_id}"
)

// bravoPath returns the OpenAPI path for the path of a call.
func bravoPath(path string) string {
	first, edge, _ := strings.Cut(path, "/")
	switch {
	case edge == "messages" || edge == "groups":
		return "/{Version}/{Phone-Number-ID}/" + edge
	case edge != "":
		return bravoGroup + "/" + edge
	case strings.HasPrefix(first, "Y2Fw"), strings.HasPrefix(first, "90"):
		return bravoGroup
	default:
		return "/{Version}/{Media-ID}"
	}
}

// watched wraps a platform. The test fails for each request or answer that does not match the API.
func watched(t *testing.T, api *openAPI, platform http.Handler) http.Handler {
	t.Helper()
	return graphtest.Watched(platform, func(x graphtest.Exchange) {
		if err := fitsCall(api, x); err != nil {
			t.Errorf("%s %s %q -> %d %q: %v", x.Method, x.Path, x.Request, x.Status, x.Reply, err)
		}
	})
}

func fitsCall(api *openAPI, x graphtest.Exchange) error {
	if strings.HasPrefix(x.Path, "files/") {
		return nil // the download of a file
	}
	path := bravoPath(x.Path)
	if len(x.Request) > 0 {
		schema, err := api.request(x.Method, path)
		if err != nil {
			return err
		}
		if strings.HasPrefix(x.Kind, "multipart/") {
			return fitsForm(x)
		}
		text, err := withoutCallback(x.Request)
		if err != nil {
			return err
		}
		if err := api.check(schema, text); err != nil {
			return err
		}
	}
	if x.Status != http.StatusOK {
		return nil
	}
	schema, err := api.answer(x.Method, path)
	if err != nil {
		return err
	}
	if err := api.check(schema, x.Reply); err != nil {
		return err
	}
	// The file's example of an answer to a read mark has the field success, but its schema does not.
	if names := unknown(schema, x.Reply, "success"); len(names) > 0 {
		return fmt.Errorf("the answer has %v", names)
	}
	return nil
}

// withoutCallback returns a message without biz_opaque_callback_data, which the API file only mentions in statuses.
func withoutCallback(text []byte) ([]byte, error) {
	var body document.Object
	if err := body.UnmarshalJSON(text); err != nil {
		return nil, err
	}
	value, isThere := body.Field("biz_opaque_callback_data")
	if data, isText := value.(string); isThere && (!isText || len(data) > 512) {
		return nil, fmt.Errorf("biz_opaque_callback_data is %v", value)
	}
	return []byte(body.Without("biz_opaque_callback_data").String()), nil
}

// fitsForm checks the upload form of an icon.
func fitsForm(x graphtest.Exchange) error {
	_, params, err := mime.ParseMediaType(x.Kind)
	if err != nil {
		return err
	}
	var names []string
	for reader := multipart.NewReader(bytes.NewReader(x.Request), params["boundary"]); ; {
		part, err := reader.NextPart()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		names = append(names, part.FormName()+" "+part.Header.Get("Content-Type"))
	}
	if want := []string{"messaging_product ", "file image/jpeg"}; !slices.Equal(want, names) {
		return fmt.Errorf("the form has %q, and not %q", names, want)
	}
	return nil
}

func bravoChannel(id, number string) *channel.Channel {
	return &channel.Channel{ID: id, App: "app-1", Type: channel.Bravo, Info: channel.BravoInfo{
		AdminAuthToken: channel.NewSecret("token-of-" + id), WaID: number,
	}}
}

func bravoHarness(t *testing.T, api *openAPI) (*bravofake.Platform, *sendtest.Harness) {
	t.Helper()
	platform := bravofake.New(map[string]string{"token-of-shop": "106", "token-of-desk": "107"}, "16505551234", "16505551235")
	platform.AddGroup("106", "Y2FwaV9ncm91cDox", "a group")
	server := sendtest.NewServer(t, watched(t, api, platform), bravofake.Faults())
	connector, err := bravo.New(bravo.Config{APIURL: server.URL + "/v23.0", GroupTimeout: 3 * time.Second})
	require.NoError(t, err)
	return platform, &sendtest.Harness{
		Connector: connector, Channel: bravoChannel("shop", "106"), Other: bravoChannel("desk", "107"),
		Members: []*member.Member{{ID: "m1", ExternalID: "16505551234"}, {ID: "m2", ExternalID: "16505551235"}},
		Arrived: func() []sendtest.Arrival { return platform.Arrivals(map[string]string{"106": "shop", "107": "desk"}) },
		Fail:    server.Fail, Group: "Y2FwaV9ncm91cDox",
	}
}

// TestBravo_FitsTheAPI runs the connector suite and checks each request and answer.
func TestBravo_FitsTheAPI(t *testing.T) {
	t.Parallel()
	api := openAPIIn(t, "bravo", bravoFile)
	sendtest.RunConnector(t, func(t *testing.T) *sendtest.Harness {
		t.Helper()
		_, h := bravoHarness(t, api)
		return h
	})
}

// TestBravo_OwnMessagesFitTheAPI checks messages that the suite does not send, and the platform's reports.
func TestBravo_OwnMessagesFitTheAPI(t *testing.T) {
	t.Parallel()
	api := openAPIIn(t, "bravo", bravoFile)
	platform, h := bravoHarness(t, api)
	platform.AddFile("77", "a picture")
	reports := make(chan []byte, 10)
	platform.Report = func(body []byte) { reports <- body }
	var list []send.QuickReply
	for i := range 10 {
		list = append(list, send.QuickReply{Title: fmt.Sprintf("T%d", i), Unknown: document.O("description", "more")})
	}
	for _, response := range []send.Response{
		send.QuickReplies("Which?", list...), send.QuickReplies("Where?", send.QuickReply{ContentType: "location"}),
		send.Buttons("Now?", send.WebURL("Menu", "https://x.test")), send.Typing(1).With("message_id", "wamid.1"),
		send.Other("MARK_SEEN", document.O("message_id", "wamid.1")), send.Image("https://x.test/a.png").With("caption", "A"),
		send.File("https://x.test/a.pdf").With("filename", "a.pdf"), send.Text("x").With("context", document.O("message_id", "w")),
		send.Other("LOCATION", document.O("location", document.O("latitude", 1.5, "longitude", 2.5))),
		send.Other("REACTION", document.O("reaction", document.O("message_id", "w", "emoji", "x"))),
	} {
		_, err := h.Connector.Send(t.Context(), send.Message{ID: "1", Channel: h.Channel, To: "16505551234", Response: response})
		require.NoError(t, err)
	}
	platform.IsLate = true
	_, err := h.Connector.Send(t.Context(), send.Message{ID: "2", Channel: h.Channel, To: "16505551234", Response: send.Text("late")})
	require.NoError(t, err)
	creator := h.Connector.(livechat.GroupCreator)
	_, err = creator.CreateGroup(t.Context(), h.Channel, livechat.NewGroup{Key: "k", Name: "Ada", NeedsInvitationLink: true})
	require.NoError(t, err)
	file, err := h.Connector.(*bravo.Connector).Open(t.Context(), h.Channel, "77")
	require.NoError(t, err)
	require.NoError(t, file.Close())

	schema, err := api.request(http.MethodPost, bravoWebhook)
	require.NoError(t, err)
	all := append(platform.Reports(), <-reports)
	require.Len(t, all, 10, "nine messages and a group")
	for _, body := range all {
		require.NoError(t, api.check(schema, body), "%s", body)
	}
}

// The check must accept the examples in the platform's documentation.
func TestBravo_ExamplesFitTheAPI(t *testing.T) {
	t.Parallel()
	api := openAPIIn(t, "bravo", bravoFile)
	for path, count := range map[string]int{bravoSends: 47, bravoWebhook: 16} {
		operation, err := api.operation(http.MethodPost, path)
		require.NoError(t, err)
		schema, err := api.request(http.MethodPost, path)
		require.NoError(t, err)
		examples := operation.RequestBody.Value.Content.Get("application/json").Examples
		require.Len(t, examples, count)
		for name, example := range examples {
			text, err := json.Marshal(example.Value.Value)
			require.NoError(t, err)
			require.NoError(t, api.check(schema, text), name)
		}
	}
}

// Each wrong request must be refused, or the check proves nothing.
func TestBravo_APIRefuses(t *testing.T) {
	t.Parallel()
	api := openAPIIn(t, "bravo", bravoFile)
	button := `{"type":"reply","reply":{"id":"a","title":"A"}}`
	row := `{"id":"a","title":"A"}`
	long := strings.Repeat("x", 1025)
	for name, c := range map[string]struct{ method, path, body string }{
		"no type":             {"POST", "106/messages", `"text":{"body":"x"}`},
		"no text":             {"POST", "106/messages", `"type":"text","text":{}`},
		"another recipient":   {"POST", "106/messages", `"recipient_type":"team","type":"text","text":{"body":"x"}`},
		"a field too many":    {"POST", "106/messages", `"type":"text","text":{"body":"x"},"tag":"x"`},
		"a link and an id":    {"POST", "106/messages", `"type":"image","image":{"link":"https://x.test","id":"7"}`},
		"a long caption":      {"POST", "106/messages", `"type":"image","image":{"id":"7","caption":"` + long + `"}`},
		"a long body":         {"POST", "106/messages", `"type":"interactive","interactive":{"type":"button","body":{"text":"` + long + `"},"action":{"buttons":[` + button + `]}}`},
		"four buttons":        {"POST", "106/messages", `"type":"interactive","interactive":{"type":"button","body":{"text":"x"},"action":{"buttons":[` + strings.Repeat(button+",", 3) + button + `]}}`},
		"eleven rows":         {"POST", "106/messages", `"type":"interactive","interactive":{"type":"list","body":{"text":"x"},"action":{"button":"B","sections":[{"rows":[` + strings.Repeat(row+",", 10) + row + `]}]}}`},
		"a template unnamed":  {"POST", "106/messages", `"type":"template","template":{"language":{"code":"en"}}`},
		"a mark of another":   {"POST", "106/messages", `"status":"seen","message_id":"w"`},
		"a group unnamed":     {"POST", "106/groups", `"description":"x"`},
		"a long subject":      {"POST", "106/groups", `"subject":"` + strings.Repeat("x", 129) + `"`},
		"a link of a product": {"POST", "Y2Fw/invite_link", `"messaging_product":"other"`},
		"no such operation":   {"PUT", "Y2Fw/invite_link", `"messaging_product":"whatsapp"`},
	} {
		body := `{"messaging_product":"whatsapp","to":"1",` + c.body + `}`
		if !strings.HasSuffix(c.path, "messages") {
			body = `{"messaging_product":"whatsapp",` + c.body + `}`
		}
		require.Error(t, fitsCall(api, graphtest.Exchange{Method: c.method, Path: c.path, Request: []byte(body), Kind: "application/json"}), name)
	}
	require.Error(t, fitsCall(api, graphtest.Exchange{
		Method: "POST", Path: "Y2Fw", Kind: "multipart/form-data; boundary=x", Request: []byte("--x\r\nContent-Disposition: form-data; name=\"icon\"\r\n\r\n\r\n--x--\r\n"),
	}), "another form")
	require.Error(t, fitsCall(api, graphtest.Exchange{Method: "GET", Path: "106/groups", Status: 200, Reply: []byte(`{"data":{"groups":[{"id":7}]}}`)}), "an answer")
	require.Error(t, fitsCall(api, graphtest.Exchange{Method: "GET", Path: "106/groups", Status: 200, Reply: []byte(`{"groups":[]}`)}), "an answer of another form")
	webhook, err := api.request(http.MethodPost, bravoWebhook)
	require.NoError(t, err)
	for _, report := range []string{`{"object":"x"}`, `{"object":"x","entry":[{"id":"1","changes":[{"field":"other","value":{}}]}]}`} {
		require.Error(t, api.check(webhook, []byte(report)), report)
	}
}
