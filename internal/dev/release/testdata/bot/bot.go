// Package bot is a bot of an SDK user.
package bot

import (
	"context"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/send"
)

// Echo repeats what the member says.
func Echo(ctx context.Context, bot *botctx.Context) error {
	return bot.Reply(ctx, send.Text("You said: "+bot.MessageEvent.Text()))
}
