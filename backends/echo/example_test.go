package echo_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/botctx/go-sdk/backends/echo"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/echofake"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store/memstore"
)

// A host stores its channels, sends for all of them with one connector, and passes the platform's reports to
// the runtime.
func Example() {
	platform := echofake.New(map[string]string{"wx1": "the account's secret"}, "oAda") // A host leaves APIURL out.
	api := httptest.NewServer(platform)
	defer api.Close()
	ctx := context.Background()

	var rt *botctx.Runtime
	database := memstore.New()
	accounts := map[string]string{"gh_1": "shop"} // Channels by account.
	connector, err := echo.New(echo.Config{
		APIURL: api.URL,
		Store:  database,
		FindChannel: func(ctx context.Context, account string) (*channel.Channel, error) {
			id, isKnown := accounts[account]
			if !isKnown {
				return nil, boterr.New(boterr.NotFound, "", "there is no channel for the account %s", account)
			}
			return rt.LoadChannel(ctx, "app-1", id)
		},
	})
	if err != nil {
		panic(err)
	}
	rt, err = botctx.New(botctx.Config{
		Store:      database,
		Connectors: map[channel.Type]send.Connector{channel.Echo: echo.Limited(connector)},
	})
	if err != nil {
		panic(err)
	}
	rt.HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
		if bot.MessageEvent.Text() == "" {
			return nil // An event without text, such as a new follower.
		}
		return bot.Reply(ctx, send.Text("You said: "+bot.MessageEvent.Text()))
	})
	_, err = rt.SaveChannel(ctx, "app-1", &channel.Channel{ID: "shop", Type: channel.Echo, On: true, Info: channel.EchoInfo{
		AppID: "wx1", Appsecret: channel.NewSecret("the account's secret"), BotOpenID: "gh_1",
		Further: channel.Further{Unknown: channel.Hide(document.O(
			"token", "a word of your own", "encodingAESKey", "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG",
		))},
	}})
	if err != nil {
		panic(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/echo/{account}", connector.Handler(rt.Accept)) // rt.Run, which runs the accepted events, is left out here.

	now := time.Now()
	webhook := echofake.Webhook{Token: "a word of your own", Key: "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG", AppID: "wx1"}
	answer := httptest.NewRecorder()
	mux.ServeHTTP(answer, webhook.Report(ctx, "/echo/gh_1", now, echofake.Text("oAda", "gh_1", "7", now, "hi")))
	if _, err := rt.RunNextEvent(ctx); err != nil {
		fmt.Println(err)
	}
	fmt.Println(answer.Body, platform.Sent()[0].Text())
	// Output: success You said: hi
}
