package alpha_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/botctx/go-sdk/backends/alpha"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/alphafake"
	"github.com/botctx/go-sdk/internal/graph/graphtest"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store/memstore"
)

// A host stores its channels, sends for all of them with one connector, and passes the platform's reports to
// the runtime.
func Example() {
	platform := alphafake.New(map[string]string{"the page's token": "1900"}, "100") // A host leaves APIURL out.
	api := httptest.NewServer(platform)
	defer api.Close()
	ctx := context.Background()

	var rt *botctx.Runtime
	pages := map[string]string{"1900": "shop"} // Channels by page.
	connector, err := alpha.New(alpha.Config{
		APIURL:      api.URL + "/v23.0",
		AppSecret:   channel.NewSecret("the application's secret"),
		VerifyToken: channel.NewSecret("a word of your own"),
		AppID:       "the application's id",
		FindChannel: func(ctx context.Context, pageID string) (*channel.Channel, error) {
			id, isKnown := pages[pageID]
			if !isKnown {
				return nil, boterr.New(boterr.NotFound, "", "there is no channel for the page %s", pageID)
			}
			return rt.LoadChannel(ctx, "app-1", id)
		},
	})
	if err != nil {
		panic(err)
	}
	rt, err = botctx.New(botctx.Config{
		Store:      memstore.New(),
		Connectors: map[channel.Type]send.Connector{channel.Alpha: alpha.Limited(connector)},
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
	_, err = rt.SaveChannel(ctx, "app-1", &channel.Channel{ID: "shop", Type: channel.Alpha, On: true, Info: channel.AlphaInfo{
		AccessToken: channel.NewSecret("the page's token"), PageID: "1900",
	}})
	if err != nil {
		panic(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/alpha", connector.Handler(rt.Accept)) // rt.Run, which runs the accepted events, is left out here.

	answer := httptest.NewRecorder()
	mux.ServeHTTP(answer, graphtest.Report(ctx, "/alpha", "the application's secret", []byte(
		`{"object":"page","entry":[{"id":"1900","messaging":[{"sender":{"id":"100"},"recipient":{"id":"1900"},"timestamp":1700000000000,`+
			`"message":{"mid":"m_1","text":"hi"}}]}]}`)))
	if _, err := rt.RunNextEvent(ctx); err != nil {
		fmt.Println(err)
	}
	fmt.Println(answer.Code, document.Get(platform.Sent()[0].Content, "text", ""))
	// Output: 200 You said: hi
}
