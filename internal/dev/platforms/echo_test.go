package platforms_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/echo"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/echofake"
	"github.com/botctx/go-sdk/internal/graph/graphtest"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/send/sendtest"
)

// echoForms has the keys of answers, and of requests without a schema, by path.
func echoForms() map[string]string {
	done := form([]byte(`{"errcode":0,"errmsg":"ok"}`))
	return map[string]string{
		"request of " + echofake.PathToken:  form([]byte(`{"grant_type":"client_credential","appid":"x","secret":"x","force_refresh":false}`)),
		"answer of " + echofake.PathToken:   form([]byte(`{"access_token":"x","expires_in":7200}`)),
		"answer of " + echofake.PathSend:    done,
		"request of " + echofake.PathTyping: form([]byte(`{"touser":"x","command":"Typing"}`)),
		"answer of " + echofake.PathTyping:  done,
		"request of " + echofake.PathTag:    form([]byte(`{"openid_list":["x"],"tagid":134}`)),
		"answer of " + echofake.PathTag:     done,
		"answer of " + echofake.PathUpload:  form([]byte(`{"type":"x","media_id":"x","created_at":123456789}`)),
	}
}

// onePicture is a web server that serves a picture at every address.
type onePicture struct{}

func (onePicture) Do(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader("a picture"))}, nil
}

func echoChannel(id string) *channel.Channel {
	return &channel.Channel{ID: id, App: "app-1", Type: channel.Echo, Info: channel.EchoInfo{
		AppID: "wx-" + id, Appsecret: channel.NewSecret("secret-of-" + id),
	}}
}

// TestEcho_FitsTheSchema runs the connector suite and checks each request and answer.
func TestEcho_FitsTheSchema(t *testing.T) {
	t.Parallel()
	messages, forms := schemaIn(t, "echo", "custom-send.schema.json"), echoForms()
	sendtest.RunConnector(t, func(t *testing.T) *sendtest.Harness {
		t.Helper()
		platform := echofake.New(map[string]string{"wx-shop": "secret-of-shop", "wx-desk": "secret-of-desk"}, "oAda", "oBob")
		watched := graphtest.Watched(platform, func(x graphtest.Exchange) {
			path := "/" + x.Path
			switch {
			case path == echofake.PathSend:
				if err := fits(messages, x.Request); err != nil {
					t.Errorf("%s %s: %v", path, x.Request, err)
				}
			case path != echofake.PathUpload && form(x.Request) != forms["request of "+path]:
				t.Errorf("the request %s %s has another form than %s", path, x.Request, forms["request of "+path])
			}
			if form(x.Reply) != forms["answer of "+path] && !bytes.Contains(x.Reply, []byte(`"errcode":4`)) {
				t.Errorf("the answer to %s has another form than %s: %s", path, forms["answer of "+path], x.Reply)
			}
		})
		server := sendtest.NewServer(t, watched, echofake.Faults())
		connector, err := echo.New(echo.Config{APIURL: server.URL, Files: onePicture{}})
		require.NoError(t, err)
		h := &sendtest.Harness{
			Connector: connector, Channel: echoChannel("shop"), Other: echoChannel("desk"),
			Members: []*member.Member{{ID: "m1", ExternalID: "oAda"}, {ID: "m2", ExternalID: "oBob"}},
			Arrived: func() []sendtest.Arrival {
				return platform.Arrivals(map[string]string{"wx-shop": "shop", "wx-desk": "desk"})
			},
			Fail: server.Fail, HasNoKeys: true, Lacks: []sendtest.Fault{sendtest.RateLimited}, // The end of a rate limit depends on the clock.
			Tags: func(to string) []int64 { return platform.Tags("wx-shop", to) },
		}
		for _, in := range []*channel.Channel{h.Channel, h.Other} { // Fetch access tokens first: the faults are only for messages.
			_, err := connector.Send(t.Context(), send.Message{Channel: in, To: "oAda", Response: send.Typing(1)})
			require.NoError(t, err)
		}
		return h
	})
}

// TestEcho_OwnMessagesFitTheSchema checks messages that the suite does not send or that the connector refuses in the
// suite.
func TestEcho_OwnMessagesFitTheSchema(t *testing.T) {
	t.Parallel()
	messages := schemaIn(t, "echo", "custom-send.schema.json")
	platform := echofake.New(map[string]string{"wx-shop": "secret-of-shop"}, "oAda")
	server := sendtest.NewServer(t, platform, nil)
	connector, err := echo.New(echo.Config{APIURL: server.URL, Files: onePicture{}})
	require.NoError(t, err)
	link := send.WebURL("Buy", "https://x.test")
	for _, response := range []send.Response{
		send.Buttons("Now?", link), send.Buttons("Now?", link, send.Postback("Later", "later")),
		send.Carousel(send.Card{Title: "Tea", Subtitle: "green", ImageURL: "https://x.test/a.png", Buttons: []send.Button{link}}),
		send.Carousel(send.Card{Title: "Tea", Buttons: []send.Button{link}}), send.News(send.Article{Title: "Tea", URL: "https://x.test"}),
		send.Attachment(send.TypeVideo, "1").With("title", "Tea").With("description", "green").With("thumb_media_id", "2"),
		send.Text("Hi").With("customservice", document.O("kf_account", "grace@shop")),
		send.Other("CARD", document.O("message", document.O("msgtype", "wxcard", "wxcard", document.O("card_id", "1")))),
	} {
		_, err := connector.Send(t.Context(), send.Message{Channel: echoChannel("shop"), To: "oAda", Response: response})
		require.NoError(t, err)
	}
	for _, sent := range platform.Sent() {
		require.NoError(t, fits(messages, []byte(sent.Body.String())), sent.Body)
	}
	require.Len(t, platform.Sent(), 8)
}

// Each wrong request must be refused, or the check proves nothing.
func TestEcho_SchemaRefuses(t *testing.T) {
	t.Parallel()
	messages := schemaIn(t, "echo", "custom-send.schema.json")
	for name, message := range map[string]string{
		"no kind":                    `"text":{"content":"x"}`,
		"a kind of another platform": `"msgtype":"file","file":{"media_id":"1"}`,
		"a kind without content":     `"msgtype":"text"`,
		"an empty text":              `"msgtype":"text","text":{"content":""}`,
		"a picture by address":       `"msgtype":"image","image":{"url":"https://x.test"}`,
		"a recording without an id":  `"msgtype":"voice","voice":{"media_id":""}`,
		"a video without an id":      `"msgtype":"video","video":{"title":"x"}`,
		"two articles":               `"msgtype":"news","news":{"articles":[{"title":"x","url":"x"},{"title":"x","url":"x"}]}`,
		"an article without a link":  `"msgtype":"news","news":{"articles":[{"title":"x"}]}`,
		"a menu without lines":       `"msgtype":"msgmenu","msgmenu":{"head_content":"x","list":[]}`,
		"a line without an id":       `"msgtype":"msgmenu","msgmenu":{"head_content":"x","list":[{"content":"x"}]}`,
		"an unknown field":           `"msgtype":"text","text":{"content":"x"},"payload":"x"`,
	} {
		require.Error(t, fits(messages, []byte(`{"touser":"oAda",`+message+`}`)), name)
	}
	require.Error(t, fits(messages, []byte(`{"msgtype":"text","text":{"content":"x"}}`)), "there is no recipient")
	require.NotEqual(t, form([]byte(`{"errcode":0}`)), form([]byte(`{"errcode":"0"}`)), "forms have types")
}
