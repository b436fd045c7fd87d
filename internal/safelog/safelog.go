// Package safelog keeps a host's logger from ending what writes to it.
package safelog

import (
	"context"
	"log/slog"
)

// discarding is the logger that drops all.
var discarding = slog.New(slog.DiscardHandler)

// New returns a logger that writes to another one, and drops the lines at which that one
// panics. For nil it returns one that drops all; what New has returned is returned as it is.
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

// Enabled implements slog.Handler.
func (h handler) Enabled(ctx context.Context, level slog.Level) (enabled bool) {
	defer func() { _ = recover() }() // A logger has nobody whom it could tell.
	return h.unsafe.Enabled(ctx, level)
}

// Handle implements slog.Handler.
func (h handler) Handle(ctx context.Context, line slog.Record) error {
	defer func() { _ = recover() }()
	return h.unsafe.Handle(ctx, line)
}

// WithAttrs implements slog.Handler.
func (h handler) WithAttrs(attributes []slog.Attr) (with slog.Handler) {
	defer func() {
		if recover() != nil {
			with = h
		}
	}()
	return handler{h.unsafe.WithAttrs(attributes)}
}

// WithGroup implements slog.Handler.
func (h handler) WithGroup(name string) (with slog.Handler) {
	defer func() {
		if recover() != nil {
			with = h
		}
	}()
	return handler{h.unsafe.WithGroup(name)}
}
