package foxtrot_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/botctx/go-sdk/backends/foxtrot"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/foxtrotfake"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store/memstore"
)

// A host stores its channels, sends for all of them with one connector, and passes the helpdesk's reports to
// the runtime. In this example the bot answers a member in the helpdesk's widget.
func Example() {
	platform := foxtrotfake.New(map[string]string{"the key's id:the key's secret": "app-1"})
	platform.AddConversation("app-1", "c1")
	api := httptest.NewServer(platform)
	defer api.Close()
	ctx := context.Background()

	var rt *botctx.Runtime
	apps := map[string]string{"app-1": "desk"} // Channels by the id of their application.
	connector, err := foxtrot.New(foxtrot.Config{
		HTTPClient: api.Client(), // Only in this example: the default client reaches no private address.
		FindChannel: func(ctx context.Context, account string) (*channel.Channel, error) {
			id, isKnown := apps[account]
			if !isKnown {
				return nil, boterr.New(boterr.NotFound, "", "there is no channel for the application %s", account)
			}
			return rt.LoadChannel(ctx, "app-1", id)
		},
	})
	if err != nil {
		panic(err)
	}
	rt, err = botctx.New(botctx.Config{
		Store:      memstore.New(),
		Connectors: map[channel.Type]send.Connector{channel.Foxtrot: foxtrot.Limited(connector)},
	})
	if err != nil {
		panic(err)
	}
	rt.HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
		if bot.MessageEvent.Text() == "" {
			return nil // An event without text, such as a receipt.
		}
		return bot.Reply(ctx, send.Text("You said: "+bot.MessageEvent.Text()))
	})
	_, err = rt.SaveChannel(ctx, "app-1", &channel.Channel{
		ID: "desk", Type: channel.Foxtrot, On: true,
		Info: channel.OtherInfo{Hidden: channel.Hide(document.O(
			"baseUrl", api.URL, // In production: "subdomain".
			"appId", "app-1", "keyId", "the key's id", "keySecret", "the key's secret", "webhookSecret", "the webhook's secret",
		))},
		BroadcastGroups: []channel.BroadcastGroup{
			{Label: "default", Groups: []channel.BroadcastGroupMember{{ID: "support", Type: "foxtrot"}}},
		},
	})
	if err != nil {
		panic(err)
	}
	mux := http.NewServeMux()
	mux.Handle("POST /foxtrot/{account}", connector.Handler(rt.Accept)) // rt.Run, which runs the accepted events, is left out here.

	platform.MemberSays("c1", "hi", "")
	answer := httptest.NewRecorder()
	mux.ServeHTTP(answer, foxtrotfake.Post(ctx, "/foxtrot/app-1", "the webhook's secret", platform.Reports()[0].Body))
	if _, err := rt.RunNextEvent(ctx); err != nil {
		fmt.Println(err)
	}
	fmt.Println(answer.Code, platform.Sent()[0].Text())
	// Output: 200 You said: hi
}
