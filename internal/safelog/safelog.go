// Package safelog stands before a host's logger: a logger that panics ends nothing, and no character that
// members wrote does something to a terminal, whatever the host's handler escapes.
package safelog

import (
	"context"
	"log/slog"

	"github.com/botctx/go-sdk/internal/display"
)

// discarding is the logger that drops all.
var discarding = slog.New(slog.DiscardHandler)

// New returns a logger that writes to another one what display.Visible makes of each line, and drops the lines
// at which that one panics. For nil it returns one that drops all; what New has returned is returned as it is.
func New(logger *slog.Logger) *slog.Logger {
	if logger == nil || logger == discarding {
		return discarding
	}
	if _, isSafe := logger.Handler().(handler); isSafe {
		return logger
	}
	return slog.New(handler{logger.Handler()})
}

// handler is a handler whose panics end nothing.
type handler struct{ unsafe slog.Handler }

func (h handler) Enabled(ctx context.Context, level slog.Level) (enabled bool) {
	defer func() { _ = recover() }() // A logger has nobody whom it could tell.
	return h.unsafe.Enabled(ctx, level)
}

func (h handler) Handle(ctx context.Context, line slog.Record) error {
	defer func() { _ = recover() }()
	return h.unsafe.Handle(ctx, visible(line))
}

func (h handler) WithAttrs(attributes []slog.Attr) (with slog.Handler) {
	defer func() {
		if recover() != nil {
			with = h
		}
	}()
	return handler{h.unsafe.WithAttrs(visibleAttributes(attributes))}
}

func (h handler) WithGroup(name string) (with slog.Handler) {
	defer func() {
		if recover() != nil {
			with = h
		}
	}()
	return handler{h.unsafe.WithGroup(display.Visible(name))}
}
