package webchat_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/botctx/go-sdk/backends/webchat"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store/memstore"
)

// A host serves a chat. ask makes the requests of a browser with the widget.
func Example() {
	ctx, stop := context.WithCancel(context.Background())
	store := memstore.New()
	chat, _ := webchat.New(webchat.Config{Store: store})
	rt, _ := botctx.New(botctx.Config{
		Store: store, Connectors: map[channel.Type]send.Connector{channel.Webchat: chat},
	})
	rt.HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
		return bot.Reply(ctx, send.Text("You said: "+bot.MessageEvent.Text()))
	})
	_, _ = rt.SaveChannel(ctx, "shop", &channel.Channel{
		ID: "chat", Type: channel.Webchat, On: true,
		Metadata: document.O("origins", document.A("https://shop.example")),
		Info:     channel.OtherInfo{Hidden: channel.Hide(document.O("webchatSecret", "make-it-from-32-random-bytes-please"))},
	})
	mux := http.NewServeMux()
	mux.Handle("/chat/", chat.Handler(rt.Accept))
	server := httptest.NewServer(mux)
	server.Config.RegisterOnShutdown(chat.Close) // Otherwise open streams would delay the shutdown.
	ended := make(chan error, 1)
	go func() { ended <- rt.Run(ctx) }()

	token := document.Get(ask(server.URL+"/chat/session", "", `{"channel":"chat"}`), "token", "")
	sent := ask(server.URL+"/chat/messages", token, `{"clientId":"1","type":"TEXT","text":"hi"}`)
	seq := document.Get(sent, "seq", int64(0))
	for {
		answer := ask(fmt.Sprintf("%s/chat/stream?wait=25&after=%d", server.URL, seq), token, "")
		if text := document.Get(answer, "events.0.response.text", ""); text != "" {
			fmt.Println(text)
			break
		}
	}
	stop()
	fmt.Println(<-ended)
	server.Close()
	// Output:
	// You said: hi
	// <nil>
}

// ask sends a request like a page of the shop.
func ask(address, token, body string) (answer document.Object) {
	method := http.MethodPost
	if body == "" {
		method = http.MethodGet
	}
	r, _ := http.NewRequestWithContext(context.Background(), method, address, strings.NewReader(body))
	r.Header.Set("Origin", "https://shop.example")
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+token)
	got, err := new(http.Client).Do(r)
	if err != nil {
		return document.O("error", err.Error())
	}
	defer got.Body.Close() //nolint:errcheck // The body has been read.
	text, _ := io.ReadAll(got.Body)
	_ = json.Unmarshal(text, &answer)
	return answer
}

// The host's server signs a token for the page of a signed-in user.
func ExampleSignUser() {
	secret := channel.NewSecret("make-it-from-32-random-bytes-please")
	token, err := webchat.SignUser(secret, webchat.User{
		ID: "customer-7", Expires: time.Now().Add(5 * time.Minute),
		FirstName: "Ada", Email: "ada@shop.example", Locale: "en",
	})
	fmt.Println(token[:3], err)
	// Output: u1. <nil>
}
