package telegram_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/telegram"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/explore"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// Telegram shows a response in the same way as package fakes shows it on a webchat, except for the differences
// in docs/guides/telegram.md.
func TestFakes_ShowTheSame(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 100)
	for name, c := range map[string]struct {
		response        send.Response
		fakes, telegram string
	}{
		"text":          {send.Text("Hi *you*"), `"Hi *you*"`, `"Hi *you*"`},
		"image":         {send.Image(site), `IMAGE https://files.example.com/`, `sendPhoto https://files.example.com/`},
		"file by id":    {send.Attachment(send.TypeFile, "F1"), `FILE F1`, `sendDocument F1`},
		"buttons":       {send.Buttons("Now?", send.Postback("Yes", "yes"), send.PostbackValue("Two", "two", 2)), `"Now?" [Yes: "yes"] [Two: {"payload":"two","value":2}]`, `"Now?" [Yes: "yes"] [Two: {"payload":"two","value":2}]`},
		"quick replies": {send.QuickReplies("Again?", send.QuickReply{Title: "Yes"}), `"Again?" [Yes: "Yes"]`, `"Again?" [Yes: "Yes"]`},
		"carousel": {
			send.Carousel(send.Card{Title: "Tea", Subtitle: "green", Buttons: []send.Button{send.Postback("Buy", "tea")}}, send.Card{Title: "Coffee"}),
			`CAROUSEL "Tea" "Coffee" [Buy: "tea"]`, `"Tea\ngreen" [Buy: "tea"] | "Coffee"`, // Each card is a message.
		},
		"typing":       {send.Typing(time.Second), ``, ``},
		"long payload": {send.Buttons("Now?", send.Postback("Yes", long)), `"Now?" [Yes: "` + long + `"]`, `InvalidArgument response.buttons[0].payload`},
		"news":         {send.News(send.Article{Title: "a"}), `Unsupported response.type`, `Unsupported response.type`},
		"template":     {send.BravoTemplate("a", "en"), `Unsupported response.type`, `Unsupported response.type`},
		"unknown":      {send.Other("HOLOGRAM", document.O("angle", 45)), `HOLOGRAM `, `Unsupported response.type`},
		"button of another kind": {
			send.Other(send.TypeButton, document.O("text", "Call", "buttons", document.A(document.O("type", "phone_number", "title", "Dial", "payload", "1")))),
			`"Call" [Dial: "1"]`, `Unsupported response.buttons[0].type`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := fakes.New(fakes.For(t))
			shown := onFakes(t, p, c.response)
			require.Equal(t, c.fakes, shown)
			require.Equal(t, c.telegram, onTelegram(t, c.response))
		})
	}
}

func onFakes(t *testing.T, p *fakes.Platform, response send.Response) string {
	t.Helper()
	var failed error
	p.HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
		failed = bot.Reply(ctx, response)
		return nil
	})
	guest := p.AddMember(member.Member{FirstName: "Ada"})
	guest.Says("hi")
	if failed != nil {
		return refusal(failed)
	}
	var parts []string
	for _, message := range guest.Messages() {
		if message.Type() == send.TypeTyping {
			continue
		}
		switch text := message.Text(); {
		case text != "":
			parts = append(parts, fmt.Sprintf("%q", text))
		default:
			parts = append(parts, string(message.Type()))
			for _, card := range message.Cards() {
				parts = append(parts, fmt.Sprintf("%q", card.Title))
			}
			if len(message.Cards()) == 0 {
				parts = append(parts, document.Get(message, "url", document.Get(message, "attachment_id", "")))
			}
		}
		for _, one := range guest.Tappables() {
			parts = append(parts, tappable(one.Title, one.Payload))
		}
	}
	return strings.Join(parts, " ")
}

// onTelegram prints the messages for a response, with the payloads of their buttons.
func onTelegram(t *testing.T, response send.Response) string {
	t.Helper()
	h := newHost(t, graces, nil)
	var failed error
	var payload any
	require.NoError(t, h.runtime.Handle(&botctx.Node{ID: "echo", Global: botctx.GlobalInChannel, Trigger: botctx.TextIs("hi"), Pre: botctx.Do(
		func(ctx context.Context, bot *botctx.Context) error {
			failed = bot.Reply(ctx, response)
			return nil
		},
	)}, &botctx.Node{ID: "taps", Global: botctx.GlobalInChannel, Trigger: botctx.When(func(bot *botctx.Context) bool {
		payload, _ = bot.MessageEvent.Data.Field("payload")
		return bot.MessageEvent.Type == send.TypePayload
	})}))
	h.Says(token, ada, adaID, "hi")
	h.runs(token, shopPath)
	if failed != nil {
		return refusal(failed)
	}
	var messages []string
	for _, message := range h.Messages() {
		parts := []string{fmt.Sprintf("%q", message.Text)}
		if message.Text == "" {
			value, _ := message.Sent.Field(strings.ToLower(strings.TrimPrefix(message.Method, "send")))
			parts = []string{message.Method, fmt.Sprint(value)}
		}
		for _, button := range message.Buttons {
			h.Taps(token, ada, message, button.Text)
			h.runs(token, shopPath)
			parts = append(parts, tappable(button.Text, payload))
		}
		messages = append(messages, strings.Join(parts, " "))
	}
	return strings.Join(messages, " | ")
}

func tappable(title string, payload any) string {
	text := strings.TrimSuffix(strings.TrimPrefix(document.O("p", payload).String(), `{"p":`), "}")
	return "[" + title + ": " + text + "]"
}

func refusal(err error) string {
	found, _ := boterr.AsError(err)
	return string(found.Code) + " " + found.Field
}

// In spite of faults in the store and in operations, an update is handled once and answered. Telegram repeats
// it until it is accepted.
func TestExplore_UpdateIsAnsweredUnderFaults(t *testing.T) {
	t.Parallel()
	var w *world
	var connector *telegram.Connector
	onTelegram := fakes.Config(func(c *botctx.Config) {
		w = newWorld()
		connector = newConnector(t, telegram.Config{HTTPClient: &http.Client{Transport: inProcess{w.Telegram}}, Logger: silent()})
		c.Connectors[telegram.Type] = connector
	})
	explore.Faults(t, rounds.Of(t, 200, 2000), func(t *explore.T, p *fakes.Platform) {
		p.AddChannel(*shop())
		p.Handle(&botctx.Node{
			ID: "order", Global: botctx.GlobalInChannel, Trigger: botctx.PayloadIs("tea"),
			Pre: botctx.Do(func(ctx context.Context, bot *botctx.Context) error {
				_, err := bot.UpsertDataToDataSource(ctx, datasource.UpsertParams{
					DataSourceID: "orders", Data: []document.Object{document.O("_id", bot.MessageEvent.MessageID, "of", bot.Member.FirstName)},
				})
				return err
			}),
			Responses: []send.Response{send.Text("Your tea comes.")},
		})
		handler := routed(connector.Handler(func(ctx context.Context, event botctx.Inbound) error { return p.Runtime().Accept(ctx, event) }))
		_, err := connector.Send(t.Context(), to(adaID, send.QuickReplies("What would you like?", send.QuickReply{Title: "Tea", Payload: "tea"})))
		require.NoError(t, err)
		require.NoError(t, connector.SetWebhook(t.Context(), shop(), "https://bots.example.com"+shopPath))
		menu, _ := w.Last(adaID)
		w.Taps(token, ada, menu, "Tea")
		for range 10 { // Telegram repeats an update until it is accepted.
			if statuses := w.Push(t.Context(), token, handler, shopPath, 1); len(statuses) == 0 {
				break
			}
			t.Settle(time.Hour)
		}
		require.Empty(t, w.Push(t.Context(), token, handler, shopPath, 1), "Telegram still has the update")
		require.Len(t, p.Data("orders"), 1)
		last, _ := w.Last(adaID)
		require.Equal(t, "Your tea comes.", last.Text)
	}, explore.PlatformOptions(fakes.WithInbox(), onTelegram))
}

// A ticket's payload fits into the 64 bytes of a button.
func TestTicket_FitsAButton(t *testing.T) {
	t.Parallel()
	w := newWorld()
	ticket := send.Buttons("x", send.PostbackValue("Take", livechat.TakePayload, "01234567-89ab-cdef-0123-456789abcdef"))
	_, err := w.start(t).Send(t.Context(), send.Message{ID: "m", Channel: shop(), To: adaID, Response: ticket})
	require.NoError(t, err)
}
