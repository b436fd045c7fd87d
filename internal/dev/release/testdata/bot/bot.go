// Package bot is a bot of a user who imports the SDK.
package bot

import (
	"context"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/send"
)

// Echo repeats what it is told.
func Echo(ctx context.Context, bot *botctx.Context) error {
	return bot.Reply(ctx, send.Text("You said: "+bot.MessageEvent.Text()))
}
