package platforms_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/telegram"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/sends"
	"github.com/botctx/go-sdk/internal/telegramfake"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/send/sendtest"
)

const (
	telegramToken  = "7001:secret-of-tests"
	telegramUser   = int64(501)
	telegramUserID = "501"
	telegramForum  = int64(-100300)
)

// telegramWorld is a fake Telegram with bots, users, and a group that has a topic. All its requests, answers and
// updates are checked.
type telegramWorld struct {
	*telegramfake.Telegram

	topic string
}

func newTelegram(t *testing.T, a *telegramAPI) *telegramWorld {
	t.Helper()
	fake := telegramfake.New()
	a.watch(t, fake)
	fake.AddBot(telegramToken, "shop")
	fake.AddBot("7002:other-secret-of-tests", "desk")
	fake.AddUser(telegramUser, "Ada")
	fake.AddUser(502, "Bob")
	fake.AddForum(telegramForum, "Agents")
	fake.AddFile("F1", "content")
	return &telegramWorld{fake, fake.AddTopic(telegramForum, "Talk")}
}

func telegramChannel(id, token string) *channel.Channel {
	return &channel.Channel{
		ID: id, App: "app", Type: telegram.Type, Metadata: document.O("agentsChat", telegramForum),
		Info: channel.OtherInfo{Hidden: channel.Hide(document.O("token", token, "secretToken", "secret_1"))},
	}
}

func telegramTo(t *testing.T, url string) *telegram.Connector {
	t.Helper()
	connector, err := telegram.New(telegram.Config{APIURL: url, LoadChannel: func(context.Context, string, string) (*channel.Channel, error) {
		return telegramChannel("shop", telegramToken), nil
	}})
	require.NoError(t, err)
	return connector
}

// All requests of the connector suite must match the API.
func TestTelegram_SuiteFitsTheAPI(t *testing.T) {
	t.Parallel()
	a := telegramAPIIn(t)
	sendtest.RunConnector(t, func(t *testing.T) *sendtest.Harness {
		t.Helper()
		w := newTelegram(t, a)
		server := sendtest.NewServer(t, w, telegramfake.Faults())
		return &sendtest.Harness{
			Connector: telegramTo(t, server.URL), Channel: telegramChannel("shop", telegramToken), Other: telegramChannel("desk", "7002:other-secret-of-tests"),
			Members: []*member.Member{{ID: "m1", ExternalID: telegramUserID}, {ID: "m2", ExternalID: "502"}},
			Arrived: w.Arrivals, Fail: server.Fail, HasNoKeys: true, Group: w.topic,
		}
	})
}

// All kinds of requests of the connector, and all updates of the fake, must match the API.
func TestTelegram_EachRequestFitsTheAPI(t *testing.T) {
	t.Parallel()
	w := newTelegram(t, telegramAPIIn(t))
	server := httptest.NewServer(w)
	t.Cleanup(server.Close)
	connector, shop := telegramTo(t, server.URL), telegramChannel("shop", telegramToken)
	file := func(kind string) document.Object {
		return document.O("type", "file", "payload", document.O("attachment_id", "F1", "kind", kind))
	}
	for _, response := range []send.Response{
		send.Text("Hi"), send.Image("https://x.example/a"), send.Audio("https://x.example/a.ogg"), send.Audio("https://x.example/a.mp3"),
		send.Video("https://x.example/a"), send.File("https://x.example/a"), send.Typing(time.Second),
		send.QuickReplies("Again?", send.QuickReply{Title: "Yes"}),
		send.Buttons("Now?", send.Postback("Yes", "yes"), send.WebURL("Menu", "https://x.example")),
		send.Carousel(send.Card{Title: "Tea", ImageURL: "https://x.example/a", Buttons: []send.Button{send.Postback("Buy", "tea")}}, send.Card{Title: "b"}),
		send.Other(send.TypeMisc, document.O("text", "Look", "attachments", document.A(
			file("photo"), file("video"), file("animation"), file("video_note"), file("audio"), file("voice"), file("sticker"), file("document"),
			document.O("type", "location", "payload", document.O("coordinates", document.O("lat", 1, "long", 2.5)))))),
		send.Other(send.TypeMisc, document.O("attachments", document.A(
			document.O("type", "contact", "payload", document.O("phone_number", "+1", "first_name", "Ada"))))),
	} {
		for _, id := range []string{telegramUserID, w.topic} {
			_, err := connector.Send(t.Context(), send.Message{ID: "m", Channel: shop, To: id, Response: response})
			require.NoError(t, err, "%s to %s", response, id)
		}
	}
	made, err := connector.CreateGroup(t.Context(), shop, livechat.NewGroup{Name: "Ada", NeedsInvitationLink: true})
	require.NoError(t, err)
	require.NoError(t, connector.DisableInviteLink(t.Context(), shop, made.ExternalID))
	require.NoError(t, connector.SetGroupIcon(t.Context(), shop, made.ExternalID, livechat.Picture{ContentType: "image/png", Bytes: []byte("x")}))
	content, err := connector.Open(t.Context(), shop, "F1")
	require.NoError(t, err)
	require.NoError(t, content.Close())

	menu := w.Messages()[0]
	for _, message := range w.Messages() {
		if message.Text == "Again?" && message.Chat == telegramUserID {
			menu = message
		}
	}
	_, err = connector.UpdateMessage(t.Context(), shop, send.MessageUpdate{ConversationID: telegramUserID, MessageID: fmt.Sprintf("501:%d", menu.ID-1), Text: "x"})
	require.ErrorIs(t, err, boterr.NotFound)
	w.Says(telegramToken, telegramUser, telegramUserID, "hello")
	w.Says(telegramToken, telegramUser, w.topic, "hello")
	w.Taps(telegramToken, telegramUser, menu, "Yes")
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
	defer stop()
	heard := 0
	require.NoError(t, connector.Poll(ctx, "app", "shop", func(context.Context, botctx.Inbound) error {
		heard++
		if heard == 3 {
			stop()
		}
		return nil
	}))
	require.Equal(t, 3, heard)
	require.Contains(t, w.Calls(), "editMessageReplyMarkup")
	ticket := livechat.Ticket{MessageID: fmt.Sprintf("501:%d", menu.ID), ChatID: telegramUserID}
	require.NoError(t, connector.ShowTaken(t.Context(), shop, ticket, "Taken"))
	require.NoError(t, connector.RecallTicket(t.Context(), shop, ticket))
	require.NoError(t, connector.SetWebhook(t.Context(), shop, "https://bots.example.com"))
	require.NoError(t, connector.SetWebhook(t.Context(), shop, ""))
}

// The connector must give Telegram's known errors the expected codes.
func TestTelegram_KnownErrors(t *testing.T) {
	t.Parallel()
	var known []struct {
		Code        int    `json:"error_code"`
		Description string `json:"description"`
		Means       string `json:"means"`
	}
	require.NoError(t, json.Unmarshal(data(t, "telegram", "errors.json"), &known))
	checked := 0
	for _, one := range known {
		meaning, _, _ := strings.Cut(strings.NewReplacer(",", " ", ";", " ").Replace(one.Means), " ")
		if meaning == "no" && strings.HasPrefix(one.Means, "no code") {
			meaning = string(boterr.Unavailable)
		}
		isCode := false
		for _, code := range boterr.Codes() {
			isCode = isCode || string(code) == meaning
		}
		if !isCode {
			continue // The error is about another method or about polling.
		}
		checked++
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			telegramfake.Refuses(one.Code, one.Description)(w, r)
		}))
		_, err := telegramTo(t, server.URL).Send(t.Context(), send.Message{
			ID: "m", Channel: telegramChannel("shop", telegramToken), To: telegramUserID, Response: send.Text("Hi"),
		})
		server.Close()
		require.Equal(t, meaning, string(boterr.CodeOf(sends.PlatformError(t.Context(), telegram.Type, err))), "%d %s: %v", one.Code, one.Description, err)
	}
	require.Greater(t, checked, 12)
}
