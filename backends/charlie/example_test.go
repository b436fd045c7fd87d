package charlie_test

import (
	"context"
	"fmt"
	"net/http"

	"github.com/slack-go/slack/slacktest"

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
	tool := slacktest.NewTestServer() // A fake of the tool; a host leaves APIURL out.
	tool.Start()
	defer tool.Stop()
	ctx := context.Background()

	var rt *botctx.Runtime
	connector, err := charlie.New(charlie.Config{
		APIURL: tool.GetAPIURL(),
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
		fmt.Println(sent.Results[0].ChatID, document.Get(sent.Results[0].Reply, "text", ""))
		return nil
	})
	err = rt.Receive(ctx, botctx.Inbound{
		App: "app-1", Channel: "desk", Profile: member.Member{FirstName: "Ada"},
		Event: send.MessageEvent{From: "U1", Type: send.TypeText, Data: document.O("text", "hi")},
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: U1 Hello, Ada
}
