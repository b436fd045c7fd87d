package webhook_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/botctx/go-sdk/backends/webhook"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store/memstore"
)

// The chat pages of this host are served by another program. In this example, both run in one process.
func Example() {
	ctx := context.Background()
	secret := channel.NewSecret("keep-this-in-a-vault-and-not-here")
	said := make(chan string, 1)
	pages := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if webhook.Verify(r.Header, body, time.Now(), time.Minute, secret) == nil {
			response, _ := document.ParseJSON(body)
			said <- document.Get(response.(document.Object), "response.text", "")
		}
	}))
	defer pages.Close()

	store := memstore.New()
	client, _ := outbound.New(outbound.Config{Allow: []string{"127.0.0.1"}, MaxRedirects: new(0)})
	web, _ := webhook.New(webhook.Config{LoadChannel: webhook.Stored(store), HTTP: client})
	rt, _ := botctx.New(botctx.Config{Store: store, Connectors: map[channel.Type]send.Connector{channel.Webchat: web}})
	rt.HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
		return bot.Reply(ctx, send.Template("Hello {{firstName}}"))
	})
	_, _ = rt.SaveChannel(ctx, "shop", &channel.Channel{
		ID: "chat", Type: channel.Webchat, On: true,
		Metadata: document.O("webhookUrl", pages.URL),
		Info:     channel.OtherInfo{Hidden: channel.Hide(document.O("webhookSecret", secret.Reveal()))},
	})
	mux := http.NewServeMux()
	mux.Handle("POST /inbound", web.Handler(rt.Accept))
	bot := httptest.NewServer(mux)
	defer bot.Close()
	running, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- rt.Run(running) }() // This runs the bot for accepted events.

	// The program of the chat pages makes this request when a member writes.
	body := `{"app":"shop","channel":"chat","messageEvent":{"type":"TEXT","from":"ada","data":{"text":"hi"}},"profile":{"firstName":"Ada"}}`
	req, _ := http.NewRequestWithContext(ctx, http.MethodPost, bot.URL+"/inbound", strings.NewReader(body))
	req.Header.Set("Content-Type", "application/json")
	_ = webhook.Sign(req.Header, "msg_1", time.Now(), []byte(body), secret)
	resp, err := client.Do(req)
	if err != nil {
		panic(err)
	}
	defer resp.Body.Close() //nolint:errcheck // The body is not needed.
	fmt.Println(resp.Status)
	fmt.Println("bot:", <-said)
	stop()
	fmt.Println(<-ended)
	// Output:
	// 200 OK
	// bot: Hello Ada
	// <nil>
}

// Sign sets the headers of a request.
func ExampleSign() {
	header := http.Header{}
	secret := channel.NewSecret("0123456789abcdef0123456789abcdef")
	if err := webhook.Sign(header, "msg_1", time.Unix(1_700_000_000, 0), []byte(`{"text":"hi"}`), secret); err != nil {
		fmt.Println(err)
	}
	fmt.Println(header.Get(webhook.HeaderID), header.Get(webhook.HeaderTimestamp), header.Get(webhook.HeaderSignature))
	// Output: msg_1 1700000000 v1,2/96Fi6DIQTE6/TEWuTaEuvSHZqEolGKLGsjVHiG26Q=
}
