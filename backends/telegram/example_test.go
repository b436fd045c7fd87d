package telegram_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"time"

	"github.com/botctx/go-sdk/backends/telegram"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/telegramfake"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store/memstore"
)

// A host polls an in-memory Telegram.
func Example() {
	ctx, stop := context.WithCancel(context.Background())
	const token = "123456:ABC-of-BotFather"
	fake := telegramfake.New()
	fake.AddBot(token, "chat")
	fake.AddUser(501, "Ada")
	api := httptest.NewServer(fake)
	defer api.Close()

	store := memstore.New()
	connector, _ := telegram.New(telegram.Config{Store: store, APIURL: api.URL}) // In production, leave APIURL out.
	rt, _ := botctx.New(botctx.Config{
		Store: store, Connectors: map[channel.Type]send.Connector{telegram.Type: telegram.Limited(connector)},
	})
	rt.HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
		return bot.Reply(ctx, send.Template("Hello {{firstName}}"))
	})
	_, _ = rt.SaveChannel(ctx, "shop", &channel.Channel{
		ID: "chat", Type: telegram.Type, On: true,
		Info: channel.OtherInfo{Hidden: channel.Hide(document.O("token", token))},
	})
	ended := make(chan error, 2)
	go func() { ended <- connector.Poll(ctx, "shop", "chat", rt.Accept) }()
	go func() { ended <- rt.Run(ctx) }()

	fake.Says(token, 501, "501", "hi")
	for {
		if shown, isThere := fake.Last("501"); isThere {
			fmt.Println(shown.Text)
			break
		}
		<-time.After(time.Millisecond)
	}
	stop()
	fmt.Println(<-ended, <-ended)
	// Output:
	// Hello Ada
	// <nil> <nil>
}
