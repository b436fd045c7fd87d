// Package safelog protects the SDK from a host's logger and terminals from log lines: panics of the
// logger are recovered, and hidden characters are escaped.
package safelog

import (
	"context"
	"log/slog"

	"github.com/botctx/go-sdk/internal/display"
)

var discarding = slog.New(slog.DiscardHandler)

// New returns a logger that passes lines, made safe by display.Visible, to the given logger and
// recovers its panics. For nil it returns a logger that drops everything. A logger returned by New
// is returned unchanged.
func New(logger *slog.Logger) *slog.Logger {
	if logger == nil || logger == discarding {
		return discarding
	}
	if _, isSafe := logger.Handler().(handler); isSafe {
		return logger
	}
	return slog.New(handler{logger.Handler()})
}

type handler struct{ unsafe slog.Handler }

// dropPanic ends a panic of the host's logger: there is no one to report it to.
func dropPanic() { _ = recover() }

func (h handler) Enabled(ctx context.Context, level slog.Level) (enabled bool) {
	defer dropPanic()
	return h.unsafe.Enabled(ctx, level)
}

func (h handler) Handle(ctx context.Context, line slog.Record) error {
	defer dropPanic()
	return h.unsafe.Handle(ctx, visible(line))
}

func (h handler) WithAttrs(attributes []slog.Attr) (with slog.Handler) {
	with = h //nolint:wastedassign // It is the result after a panic.
	defer dropPanic()
	return handler{h.unsafe.WithAttrs(visibleAttributes(attributes))}
}

func (h handler) WithGroup(name string) (with slog.Handler) {
	with = h //nolint:wastedassign // It is the result after a panic.
	defer dropPanic()
	return handler{h.unsafe.WithGroup(display.Visible(name))}
}
