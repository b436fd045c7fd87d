// Package safelog recovers panics of a host's logger, and escapes hidden characters in log lines.
package safelog

import (
	"context"
	"log/slog"
	"sync"

	"github.com/botctx/go-sdk/internal/display"
)

var discarding = slog.New(slog.DiscardHandler)

// New returns a logger that passes lines to the given logger after escaping them with display.Visible. It recovers
// the logger's panics. For nil, it returns a logger that discards everything. A logger from New is returned
// unchanged.
func New(logger *slog.Logger) *slog.Logger {
	if logger == nil || logger == discarding {
		return discarding
	}
	if _, isSafe := logger.Handler().(handler); isSafe {
		return logger
	}
	return slog.New(handler{logger.Handler()})
}

// maxOnce is the number of errors that a Once logs and remembers.
const maxOnce = 1000

// Once logs errors that come back with each reading, such as the errors of stored records. It logs each of the first
// thousand different errors once. Log and Message are required. It is safe for concurrent use.
type Once struct {
	Log     *slog.Logger
	Message string

	mu     sync.Mutex
	logged map[string]bool
}

// Warn logs an error with the message, at warn.
func (o *Once) Warn(ctx context.Context, err error) {
	if text := display.Text(err); o.isNew(text) {
		o.Log.LogAttrs(ctx, slog.LevelWarn, o.Message, slog.String("error", text))
	}
}

func (o *Once) isNew(text string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.logged[text] || len(o.logged) == maxOnce {
		return false
	}
	if o.logged == nil {
		o.logged = map[string]bool{}
	}
	o.logged[text] = true
	return true
}

type handler struct{ unsafe slog.Handler }

// dropPanic recovers a panic of the host's logger. It cannot be reported anywhere.
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
