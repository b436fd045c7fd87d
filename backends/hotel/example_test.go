package hotel_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/botctx/go-sdk/backends/hotel"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/hotelfake"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store/memstore"
)

// A host stores its channels, sends for all of them with one connector, and passes the platform's activities to
// the runtime.
func Example() {
	app := hotelfake.App{ID: "the application's id", Password: "its secret", Tenant: "7d3a1c9e-8f42-4b6d-a1e0-6c5b4a392817"}
	platform := hotelfake.New(app) // In production, leave out the addresses and the clock.
	platform.AddUser("29:ada", "Ada Lovelace")
	api := httptest.NewServer(platform)
	defer api.Close()
	platform.ServiceURL = api.URL + "/teams/"
	ctx := context.Background()

	var rt *botctx.Runtime
	bots := map[string]string{"the application's id": "shop"} // Channels by application id.
	connector, err := hotel.New(hotel.Config{
		ServiceURL: api.URL + "/teams/", LoginURL: api.URL + "/login", KeysURL: api.URL + "/keys/openidconfiguration", Now: platform.Now,
		FindChannel: func(ctx context.Context, of hotel.Bot) (*channel.Channel, error) {
			id, isKnown := bots[of.AppID]
			if !isKnown {
				return nil, boterr.New(boterr.NotFound, "", "there is no channel for the bot %s", of.AppID)
			}
			return rt.LoadChannel(ctx, "app-1", id)
		},
	})
	if err != nil {
		panic(err)
	}
	rt, err = botctx.New(botctx.Config{
		Store:      memstore.New(),
		Connectors: map[channel.Type]send.Connector{channel.Hotel: hotel.Limited(connector)},
	})
	if err != nil {
		panic(err)
	}
	rt.HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
		if bot.MessageEvent.Text() == "" {
			return nil // An event without text, such as the installation of the bot.
		}
		return bot.Reply(ctx, send.Text("You said: "+bot.MessageEvent.Text()))
	})
	_, err = rt.SaveChannel(ctx, "app-1", &channel.Channel{ID: "shop", Type: channel.Hotel, On: true, Info: channel.OtherInfo{
		Hidden: channel.Hide(document.O(
			"appId", "the application's id", "appPassword", "its secret", "tenantId", "7d3a1c9e-8f42-4b6d-a1e0-6c5b4a392817",
		)),
	}})
	if err != nil {
		panic(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/hotel", connector.Handler(rt.Accept)) // rt.Run, which runs the accepted events, is left out here.

	answer := httptest.NewRecorder()
	mux.ServeHTTP(answer, platform.Report(ctx, "/hotel", app.ID, platform.Activity(app, "29:ada", "", document.O("text", "hi"))))
	if _, err := rt.RunNextEvent(ctx); err != nil {
		fmt.Println(err)
	}
	fmt.Println(answer.Code, platform.Messages()[0].Text())
	// Output: 200 You said: hi
}
