package platforms_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi2"
	"github.com/getkin/kin-openapi/openapi2conv"
	"github.com/getkin/kin-openapi/openapi3"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/hotel"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/graph/graphtest"
	"github.com/botctx/go-sdk/internal/hotelfake"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/send/sendtest"
)

const hotelTeam = "19:team-general@thread.tacv2"

// hotelAPI is the Bot Connector's API and the schema of cards.
type hotelAPI struct {
	*openAPI

	activity, account *openapi3.Schema
	cards             *jsonschema.Schema
}

func hotelAPIIn(t *testing.T) *hotelAPI {
	t.Helper()
	var old openapi2.T
	require.NoError(t, json.Unmarshal(data(t, "hotel", "ConnectorAPI.json"), &old))
	file, err := openapi2conv.ToV3(&old)
	require.NoError(t, err)
	require.NoError(t, openapi3.NewLoader().ResolveRefsIn(file, nil))
	return &hotelAPI{
		openAPI: &openAPI{paths: file.Paths.Map()}, activity: file.Components.Schemas["Activity"].Value,
		account: file.Components.Schemas["ChannelAccount"].Value, cards: schemaIn(t, "hotel", "adaptive-card-1.5.0.json"),
	}
}

// fits returns an error if a request or its answer does not match the API, or if a card does not match its schema.
// The API has no required fields, so fits refuses unknown fields.
func (a *hotelAPI) fits(x graphtest.Exchange) error {
	path, isOurs := hotelPath(x.Escaped)
	if !isOurs {
		return nil // The file does not describe logins, keys, directory and teams.
	}
	if len(x.Request) > 0 {
		schema, err := a.request(x.Method, path)
		if err != nil {
			return err
		}
		if err := a.exactly(schema, x.Request); err != nil {
			return err
		}
		if err := a.fitsCards(x.Request); err != nil {
			return err
		}
	}
	if x.Method == http.MethodGet && strings.HasSuffix(path, "/{memberId}") && x.Status == http.StatusOK {
		return a.exactly(a.account, x.Reply) // This request is newer than the file.
	}
	operation, err := a.operation(x.Method, path)
	if err != nil || len(x.Reply) == 0 {
		return err
	}
	response := operation.Responses.Value(strconv.Itoa(x.Status))
	if response == nil {
		response = operation.Responses.Default()
	}
	if response == nil || response.Value.Content == nil {
		return nil
	}
	return a.exactly(schemaOf(response.Value.Content.Get("application/json")), x.Reply)
}

// exactly returns an error if an object does not match a schema or has unknown fields. Accounts of the team chat may
// have more fields.
func (a *hotelAPI) exactly(schema *openapi3.Schema, text []byte) error {
	if err := a.check(schema, text); err != nil {
		return err
	}
	if names := unknown(schema, text, "givenName", "surname", "email"); len(names) > 0 {
		return fmt.Errorf("the API has no %v", names)
	}
	return nil
}

// fitsCards checks the cards of an activity.
func (a *hotelAPI) fitsCards(text []byte) error {
	var activity document.Object
	if err := activity.UnmarshalJSON(text); err != nil {
		return err
	}
	for _, attachment := range document.Get(activity, "attachments", []document.Object(nil)) {
		if document.Get(attachment, "contentType", "") != "application/vnd.microsoft.card.adaptive" {
			continue
		}
		card, _ := attachment.Field("content")
		content, isObject := card.(document.Object)
		if !isObject {
			return errors.New("the card has no content")
		}
		if err := fits(a.cards, []byte(content.String())); err != nil {
			return err
		}
	}
	return nil
}

// hotelPath returns the OpenAPI path for the path of a request. ok is false for requests to other parts of the
// platform.
func hotelPath(escaped string) (string, bool) {
	path, isOurs := strings.CutPrefix(escaped, "/teams/v3/")
	segments := strings.Split(path, "/")
	if !isOurs || segments[0] == "teams" || segments[0] == "attachments" {
		return "", false
	}
	for i, name := range []string{1: "{conversationId}", 3: "{activityId}"} {
		if name != "" && len(segments) > i {
			if segments[2] == "members" && i == 3 {
				name = "{memberId}"
			}
			segments[i] = name
		}
	}
	return "/v3/" + strings.Join(segments, "/"), true
}

// watched wraps a platform. The test fails for each exchange that does not match the API.
func (a *hotelAPI) watched(t *testing.T, platform http.Handler) http.Handler {
	t.Helper()
	return graphtest.Watched(platform, func(x graphtest.Exchange) {
		if err := a.fits(x); err != nil {
			t.Errorf("%s %s %s -> %d %s: %v", x.Method, x.Escaped, x.Request, x.Status, x.Reply, err)
		}
	})
}

func hotelApp(id string) hotelfake.App {
	return hotelfake.App{ID: "app-of-" + id, Password: "secret-of-" + id, Tenant: "7d3a1c9e-8f42-4b6d-a1e0-6c5b4a392817", Channel: id}
}

func hotelChannel(id string) *channel.Channel {
	app := hotelApp(id)
	return &channel.Channel{ID: id, App: "app-1", Type: channel.Hotel, On: true, Info: channel.OtherInfo{Hidden: channel.Hide(document.O(
		"appId", app.ID, "appPassword", app.Password, "tenantId", app.Tenant,
	))}}
}

func hotelPlatform() *hotelfake.Platform {
	platform := hotelfake.New(hotelApp("shop"), hotelApp("desk"))
	for id, name := range map[string]string{"29:ada": "Ada Lovelace", "29:bob": "Bob Martin", "29:grace": "Grace Hopper"} {
		platform.AddUser(id, name)
	}
	platform.AddGroup(hotelTeam, "The team", "29:ada", "29:bob")
	return platform
}

func hotelConfig(address string, platform *hotelfake.Platform) hotel.Config {
	return hotel.Config{
		ServiceURL: address + "/teams/", LoginURL: address + "/login", GraphURL: address + "/graph/v1.0",
		KeysURL: address + "/keys/openidconfiguration", Now: func() time.Time { return platform.Now() },
	}
}

func (a *hotelAPI) harness(t *testing.T) (*hotel.Connector, *sendtest.Harness) {
	t.Helper()
	platform := hotelPlatform()
	server := sendtest.NewServer(t, a.watched(t, platform), platform.Faults())
	connector, err := hotel.New(hotelConfig(server.URL, platform))
	require.NoError(t, err)
	return connector, &sendtest.Harness{
		Connector: connector, Channel: hotelChannel("shop"), Other: hotelChannel("desk"),
		Members: []*member.Member{{ID: "m1", ExternalID: "29:ada"}, {ID: "m2", ExternalID: "29:bob"}},
		Arrived: platform.Arrivals, Fail: server.Fail, HasNoKeys: true, Group: hotelTeam,
	}
}

// TestHotel_FitsTheAPI runs the connector suite and checks each request and answer.
func TestHotel_FitsTheAPI(t *testing.T) {
	t.Parallel()
	api := hotelAPIIn(t)
	sendtest.RunConnector(t, func(t *testing.T) *sendtest.Harness {
		t.Helper()
		_, h := api.harness(t)
		return h
	})
}

// TestHotel_EachRequestFitsTheAPI checks the requests that the suite does not make.
func TestHotel_EachRequestFitsTheAPI(t *testing.T) {
	t.Parallel()
	api := hotelAPIIn(t)
	connector, h := api.harness(t)
	var replies []send.QuickReply
	for i := range send.MaxQuickReplies {
		replies = append(replies, send.QuickReply{Title: fmt.Sprintf("T%d", i)})
	}
	attachment := func(kind string) document.Object {
		return document.O("type", kind, "payload", document.O("url", "https://x.example/f.bin"), "title", "A file")
	}
	for _, response := range []send.Response{
		send.QuickReplies("Which?\n\nAll *of* them", replies...),
		send.Carousel(send.Card{Title: "Tea", Subtitle: "green\nor black", ImageURL: "https://x.example/a", Buttons: []send.Button{send.WebURL("See", "https://x.example")}}),
		send.Audio("https://x.example/a.mp3"), send.Video("https://x.example/"), send.Typing(time.Second),
		send.Other(send.TypeMisc, document.O("text", "Look", "attachments", document.A(attachment("image"), attachment("audio"), attachment("file")))),
		send.Text("Hi").With("entities", document.A(document.O("type", "mention"))).With("summary", "s").
			With("attachments", document.A(document.O("contentType", "image/png", "contentUrl", "https://x.example/a"))),
	} {
		_, err := connector.Send(t.Context(), send.Message{ID: "1", Channel: h.Channel, To: hotelTeam + ";messageid=17", Response: response})
		require.NoError(t, err, "%s", response)
	}
	_, err := connector.Members(t.Context(), h.Channel, hotelTeam)
	require.NoError(t, err)
	_, err = connector.Profile(t.Context(), h.Channel, "29:ada")
	require.NoError(t, err)
	reply, err := connector.CreateChannel(t.Context(), h.Channel, hotelTeam, "Orders")
	require.NoError(t, err)
	require.NotEmpty(t, document.Get(reply, "id", ""))
	require.NoError(t, connector.RecallTicket(t.Context(), h.Channel, livechat.Ticket{
		ChatID: h.Arrived()[0].To, MessageID: "1700000000002",
	}))
}

// TestHotel_ActivitiesFitTheAPI checks the activities of the fake.
func TestHotel_ActivitiesFitTheAPI(t *testing.T) {
	t.Parallel()
	api, platform := hotelAPIIn(t), hotelPlatform()
	for _, group := range []string{"", hotelTeam} {
		activity := platform.Activity(hotelApp("shop"), "29:ada", group, document.O("text", "Hi"))
		require.NoError(t, api.exactly(api.activity, []byte(activity.String())))
	}
}

// hotelRecorded is a recorded request of another client, with the platform's answer.
type hotelRecorded struct {
	Method   string          `json:"method"`
	URI      string          `json:"uri"`
	Request  json.RawMessage `json:"request"`
	Status   int             `json:"status"`
	Response json.RawMessage `json:"response"`
}

// The check must accept another client's valid requests, and the platform's real answers.
func TestHotel_APITakesAnotherClient(t *testing.T) {
	t.Parallel()
	api := hotelAPIIn(t)
	var all []hotelRecorded
	require.NoError(t, json.Unmarshal(data(t, "hotel", "botconnector-recorded.json"), &all))
	taken := 0
	for _, one := range all {
		if !bytes.HasPrefix(one.Request, []byte("{")) || !bytes.HasPrefix(one.Response, []byte("{")) || one.Status >= 300 {
			continue
		}
		at, err := url.Parse(one.URI)
		require.NoError(t, err)
		// The recordings are from another channel of the platform, which has more paths and fields.
		if slices.Contains([]string{"attachments", "members"}, at.Path[strings.LastIndex(at.Path, "/")+1:]) {
			continue
		}
		require.NoError(t, api.fits(graphtest.Exchange{
			Method: one.Method, Escaped: "/teams" + at.EscapedPath(), Request: one.Request, Reply: one.Response, Status: one.Status,
		}), one.URI)
		taken++
	}
	require.Greater(t, taken, 20)
}

// Each wrong request must be refused, or the check proves nothing.
func TestHotel_APIRefuses(t *testing.T) {
	t.Parallel()
	api := hotelAPIIn(t)
	post, card := "/teams/v3/conversations/a%3A1/activities", func(content string) string {
		return `{"type":"message","attachments":[{"contentType":"application/vnd.microsoft.card.adaptive","content":` + content + `}]}`
	}
	const head = `"type":"AdaptiveCard","version":"1.5"`
	for name, x := range map[string]graphtest.Exchange{
		"another path":              {Method: "POST", Escaped: "/teams/v3/conversations/a%3A1/messages", Request: []byte(`{}`)},
		"another method":            {Method: "PATCH", Escaped: post, Request: []byte(`{}`)},
		"no JSON":                   {Method: "POST", Escaped: post, Request: []byte(`{`)},
		"a text of another kind":    {Method: "POST", Escaped: post, Request: []byte(`{"type":"message","text":7}`)},
		"an unknown field":          {Method: "POST", Escaped: post, Request: []byte(`{"type":"message","texts":"x"}`)},
		"attachments are no list":   {Method: "POST", Escaped: post, Request: []byte(`{"type":"message","attachments":{}}`)},
		"members are no accounts":   {Method: "POST", Escaped: "/teams/v3/conversations", Request: []byte(`{"members":["29:ada"]}`)},
		"an unknown field of it":    {Method: "POST", Escaped: "/teams/v3/conversations", Request: []byte(`{"tenant":"x"}`)},
		"an id that is no text":     {Method: "POST", Escaped: post, Request: []byte(`{"type":"typing"}`), Reply: []byte(`{"id":7}`), Status: 201},
		"an odd answer":             {Method: "POST", Escaped: post, Request: []byte(`{"type":"typing"}`), Reply: []byte(`{"ids":"7"}`), Status: 200},
		"a card without content":    {Method: "POST", Escaped: post, Request: []byte(card(`null`))},
		"an unknown element":        {Method: "POST", Escaped: post, Request: []byte(card(`{` + head + `,"body":[{"type":"Hologram"}]}`))},
		"an element of no text":     {Method: "POST", Escaped: post, Request: []byte(card(`{` + head + `,"body":[{"type":"TextBlock"}]}`))},
		"rich text of another kind": {Method: "POST", Escaped: post, Request: []byte(card(`{` + head + `,"body":[{"type":"RichTextBlock","inlines":"x"}]}`))},
		"a picture without address": {Method: "POST", Escaped: post, Request: []byte(card(`{` + head + `,"body":[{"type":"Image","src":"x"}]}`))},
		"an action of no address":   {Method: "POST", Escaped: post, Request: []byte(card(`{` + head + `,"actions":[{"type":"Action.OpenUrl","title":"x"}]}`))},
		"an action of another kind": {Method: "POST", Escaped: post, Request: []byte(card(`{` + head + `,"actions":[{"type":"Action.Submit","payload":"x"}]}`))},
		"data of another kind":      {Method: "POST", Escaped: post, Request: []byte(card(`{` + head + `,"actions":[{"type":"Action.Submit","data":7}]}`))},
		"an unknown field of cards": {Method: "POST", Escaped: post, Request: []byte(card(`{` + head + `,"buttons":[]}`))},
		"a version of another kind": {Method: "POST", Escaped: post, Request: []byte(card(`{"type":"AdaptiveCard","version":1.5}`))},
	} {
		require.Error(t, api.fits(x), name)
	}
	require.NoError(t, api.fits(graphtest.Exchange{Method: "POST", Escaped: post, Request: []byte(card(`{` + head + `,"body":[]}`)), Reply: []byte(`{"id":"7"}`), Status: 201}))
}
