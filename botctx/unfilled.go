package botctx

import (
	"context"
	"log/slog"

	"github.com/botctx/go-sdk/send"
)

// tellUnfilled tells those who ask for it which placeholders of a response the member has nothing for.
func (c *Context) tellUnfilled(ctx context.Context, response send.Response) {
	config := &c.runtime.config
	isLogged := config.Logger.Enabled(ctx, slog.LevelDebug)
	if config.OnUnfilled == nil && !isLogged {
		return
	}
	where := place{scope: c.scope, node: c.Node}
	defer func() { _ = c.runtime.orPanic(ctx, where, nil, recover()) }()
	for _, path := range send.Unfilled(response, c.Member) {
		if isLogged {
			config.Logger.LogAttrs(ctx, slog.LevelDebug, "botctx: filled with nothing", append(where.attributes(), slog.String("path", path))...)
		}
		if config.OnUnfilled != nil {
			config.OnUnfilled(ctx, c.scope, path)
		}
	}
}
