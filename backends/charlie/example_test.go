package charlie_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/botctx/go-sdk/backends/charlie"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store/memstore"
)

// A host stores its channels, sends for all of them with one connector, and passes the tool's reports to the
// runtime.
func Example() {
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { // A host leaves APIURL out.
		fmt.Printf("%s to %s: %s\n", r.URL.Path, r.FormValue("channel"), r.FormValue("text"))
		_, _ = io.WriteString(w, `{"ok":true,"channel":"D1","ts":"1700000000.000100"}`)
	}))
	defer api.Close()
	ctx := context.Background()

	var rt *botctx.Runtime
	connector, err := charlie.New(charlie.Config{
		APIURL: api.URL,
		// A host with several workspaces looks up its channels by from.TeamID.
		FindChannel: func(ctx context.Context, _ charlie.Workspace) (*channel.Channel, error) {
			return rt.LoadChannel(ctx, "app-1", "desk")
		},
		OnError: func(_ context.Context, inbound botctx.Inbound, err error) {
			fmt.Println("a message of", inbound.Event.From, "was refused:", err)
		},
	})
	if err != nil {
		panic(err)
	}
	rt, err = botctx.New(botctx.Config{
		Store:      memstore.New(),
		Connectors: map[channel.Type]send.Connector{channel.Charlie: connector},
	})
	if err != nil {
		panic(err)
	}
	http.Handle("POST /charlie", connector.Handler(rt.Accept)) // rt.Run, which runs the accepted events, is left out here.

	_, err = rt.SaveChannel(ctx, "app-1", &channel.Channel{ID: "desk", Type: channel.Charlie, Info: channel.CharlieInfo{
		BotAccessToken: channel.NewSecret("the bot's token"),
		SigningSecret:  channel.NewSecret("what the tool signs with"),
		TeamID:         "T1",
	}})
	if err != nil {
		panic(err)
	}
	rt.HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
		sent, err := bot.SendResponse(ctx, send.SendResponseParams{Response: send.Template("Hello, {{firstName}}")})
		if err != nil {
			return err
		}
		fmt.Println("sent in", sent.Results[0].ChatID)
		return nil
	})
	err = rt.Receive(ctx, botctx.Inbound{
		App: "app-1", Channel: "desk", Profile: member.Member{FirstName: "Ada"},
		Event: send.MessageEvent{From: "U1", Type: send.TypeText, Data: document.O("text", "hi")},
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// /chat.postMessage to U1: Hello, Ada
	// sent in D1
}
