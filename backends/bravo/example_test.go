package bravo_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/botctx/go-sdk/backends/bravo"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/bravofake"
	"github.com/botctx/go-sdk/internal/graph/graphtest"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store/memstore"
)

// A host stores its channels, sends for all of them with one connector, and passes the platform's reports to
// the runtime.
func Example() {
	platform := bravofake.New(map[string]string{"the system user's token": "106540352242922"}, "16505551234") // A host leaves APIURL out.
	api := httptest.NewServer(platform)
	defer api.Close()
	ctx := context.Background()

	var rt *botctx.Runtime
	numbers := map[string]string{"106540352242922": "shop"} // Channels by phone number id.
	connector, err := bravo.New(bravo.Config{
		APIURL:      api.URL + "/v23.0",
		AppSecret:   channel.NewSecret("the application's secret"),
		VerifyToken: channel.NewSecret("a word of your own"),
		FindChannel: func(ctx context.Context, phoneNumberID string) (*channel.Channel, error) {
			id, isKnown := numbers[phoneNumberID]
			if !isKnown {
				return nil, boterr.New(boterr.NotFound, "", "there is no channel for the number %s", phoneNumberID)
			}
			return rt.LoadChannel(ctx, "app-1", id)
		},
	})
	if err != nil {
		panic(err)
	}
	rt, err = botctx.New(botctx.Config{
		Store:      memstore.New(),
		Connectors: map[channel.Type]send.Connector{channel.Bravo: bravo.Limited(connector)},
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
	_, err = rt.SaveChannel(ctx, "app-1", &channel.Channel{ID: "shop", Type: channel.Bravo, On: true, Info: channel.BravoInfo{
		AdminAuthToken: channel.NewSecret("the system user's token"), WaID: "106540352242922",
	}})
	if err != nil {
		panic(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/bravo", connector.Handler(rt.Accept)) // rt.Run, which runs the accepted events, is left out here.

	answer := httptest.NewRecorder()
	mux.ServeHTTP(answer, graphtest.Report(ctx, "/bravo", "the application's secret", []byte(
		`{"object":"whatsapp_business_account","entry":[{"id":"1","changes":[{"field":"messages","value":{"messaging_product":"whatsapp",`+
			`"metadata":{"phone_number_id":"106540352242922"},"messages":[{"from":"16505551234","id":"wamid.1","timestamp":"1700000000",`+
			`"type":"text","text":{"body":"hi"}}]}}]}]}`)))
	if _, err := rt.RunNextEvent(ctx); err != nil {
		fmt.Println(err)
	}
	fmt.Println(answer.Code, document.Get(platform.Sent()[0].Body, "text.body", ""))
	// Output: 200 You said: hi
}
