// Command hello is the smallest bot: it greets everyone who writes to it, in the terminal.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/fakes/console"
)

// nodes returns the bot: its triggers and responses.
func nodes() []*botctx.Node {
	return []*botctx.Node{
		{
			ID: "greeting", Global: botctx.GlobalInChannel, Trigger: botctx.TextIs("hi"),
			Responses: botctx.Say("Hello {{firstName}}!"),
		},
		{
			ID: "other", Global: botctx.GlobalInChannel, Trigger: botctx.AnyEvent(), Priority: botctx.FallbackPriority,
			Responses: botctx.Say("Say hi."),
		},
	}
}

func main() {
	talk := console.Console{Welcome: "Say hi. /help lists what else there is, Ctrl-D ends it."}
	if err := talk.Run(context.Background(), nodes()...); err != nil {
		fmt.Fprintln(os.Stderr, "hello:", err)
		os.Exit(1)
	}
}
