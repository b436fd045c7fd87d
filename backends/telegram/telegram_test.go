package telegram_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/telegram"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/connectortest"
	"github.com/botctx/go-sdk/internal/telegramfake"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/send/sendtest"
)

// Bots, users and groups of the tests.
const (
	token       = "7001:shop-secret-of-tests"
	otherToken  = "7002:desk-secret-of-tests"
	secretToken = "secret_of_the_webhook-1"

	ada    = int64(501)
	bob    = int64(502)
	grace  = int64(503)
	group  = int64(-100200)
	forum  = int64(-100300)
	adaID  = "501"
	bobID  = "502"
	graces = "503"
)

// world is a fake Telegram with the bots, users and groups of the tests.
type world struct {
	*telegramfake.Telegram

	topic string
}

func newWorld() *world {
	t := telegramfake.New()
	t.AddBot(token, "shop")
	t.AddBot(otherToken, "desk")
	for id, name := range map[int64]string{ada: "Ada", bob: "Bob", grace: "Grace"} {
		t.AddUser(id, name)
	}
	t.AddGroup(group, "Friends")
	t.AddForum(forum, "Agents")
	return &world{t, t.AddTopic(forum, "General talk")}
}

// start returns a connector that calls the world over HTTP.
func (w *world) start(t *testing.T) *telegram.Connector {
	t.Helper()
	return newConnector(t, telegram.Config{APIURL: connectortest.Serve(t, w)})
}

// direct returns a connector that calls a handler without a network. A synctest bubble cannot wait for a
// network.
func direct(t *testing.T, to http.Handler, config telegram.Config) *telegram.Connector {
	t.Helper()
	config.HTTPClient = &http.Client{Transport: connectortest.Directly{Handler: to}}
	return newConnector(t, config)
}

func newConnector(t *testing.T, config telegram.Config) *telegram.Connector {
	t.Helper()
	if config.LoadChannel == nil {
		config.LoadChannel = loads(shop(), desk())
	}
	return connectortest.New(t, telegram.New, config)
}

func shop() *channel.Channel { return newChannel("shop", token) }

func desk() *channel.Channel { return newChannel("desk", otherToken) }

func newChannel(id, token string) *channel.Channel {
	return &channel.Channel{
		ID: id, App: "app-1", Type: telegram.Type, On: true, Metadata: document.O("agentsChat", forum),
		Info: channel.OtherInfo{Hidden: channel.Hide(document.O("token", token, "secretToken", secretToken))},
	}
}

// loads returns a function for Config.LoadChannel that knows these channels.
func loads(known ...*channel.Channel) func(context.Context, string, string) (*channel.Channel, error) {
	return func(_ context.Context, app, id string) (*channel.Channel, error) {
		for _, one := range known {
			if one.App == app && one.ID == id {
				return one, nil
			}
		}
		return nil, boterr.New(boterr.NotFound, "", "there is no channel %q", id)
	}
}

func to(id string, response send.Response) send.Message {
	return send.Message{ID: "m1", Channel: shop(), To: id, Response: response}
}

func (w *world) last(t *testing.T, chat string) telegramfake.Message {
	t.Helper()
	shown, isThere := w.Last(chat)
	require.True(t, isThere, "nothing was sent to %s", chat)
	return shown
}

// routed serves a handler at the path of all channels.
func routed(handler http.Handler) http.Handler {
	return connectortest.Routed("/telegram/{app}/{channel}", handler)
}

const (
	shopPath = "/telegram/app-1/shop"
	deskPath = "/telegram/app-1/desk"
)

func silent() *slog.Logger { return slog.New(slog.DiscardHandler) }

func TestConnector_KeepsTheContract(t *testing.T) {
	t.Parallel()
	sendtest.RunConnector(t, newHarness)
}

func newHarness(t *testing.T) *sendtest.Harness {
	t.Helper()
	w := newWorld()
	server := sendtest.NewServer(t, w, telegramfake.Faults())
	return &sendtest.Harness{
		Connector: newConnector(t, telegram.Config{APIURL: server.URL, Logger: silent()}),
		Channel:   shop(), Other: desk(),
		Members:   []*member.Member{{ID: "m1", ExternalID: adaID}, {ID: "m2", ExternalID: bobID}},
		Arrived:   w.Arrivals,
		Fail:      server.Fail,
		HasNoKeys: true,
		Group:     w.topic,
		Odd:       func() []sendtest.Reception { return oddUpdates(t, w) },
	}
}

// oddUpdates posts updates of unknown kinds to the handler, and returns how it handled each.
func oddUpdates(t *testing.T, w *world) []sendtest.Reception {
	t.Helper()
	user := document.O("id", ada, "is_bot", false, "first_name", "Ada")
	return connectortest.Receptions(map[string]string{
		"a kind of the future":   document.O("update_id", 1, "thought", document.O("from", user, "of", "tea")).String(),
		"a message of nothing":   document.O("update_id", 2, "message", w.MessageOf(ada, adaID)).String(),
		"an empty text":          document.O("update_id", 3, "message", w.MessageOf(ada, adaID).With("text", "")).String(),
		"a tap without data":     document.O("update_id", 4, "callback_query", document.O("id", "q", "from", user)).String(),
		"nobody":                 document.O("update_id", 5, "channel_post", document.O("message_id", 7)).String(),
		"a bot":                  document.O("update_id", 6, "message", document.O("from", user.With("is_bot", true))).String(),
		"only a number":          `{"update_id": 8}`,
		"no number":              `{"message": {"text": "hi"}}`,
		"nothing":                `{}`,
		"values of other types":  `{"update_id": "x", "message": [1]}`,
		"a list":                 `[]`,
		"no JSON":                `<html>`,
		"a message of odd parts": `{"update_id": 9, "message": {"from": {"id": 501}, "chat": 7, "text": {}, "photo": {}, "location": 3}}`,
	}, func(body string) (*connectortest.Box, int) {
		box := connectortest.NewBox()
		handler := routed(direct(t, w, telegram.Config{Drops: box.Drops, Logger: silent()}).Handler(box.Accept))
		return box, postUpdate(handler, shopPath, body).Code
	})
}

// postUpdate posts an update to a handler, like Telegram.
func postUpdate(handler http.Handler, path, body string) *httptest.ResponseRecorder {
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, newUpdate(context.Background(), path, secretToken, body))
	return answer
}
