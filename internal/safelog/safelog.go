// Package safelog recovers panics of a host's logger, and escapes hidden characters in log lines.
package safelog

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/botctx/go-sdk/boterr"
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

// Recovered recovers from a panic of the host's code, logs it with the stack, and sets *err unless err is nil. Defer
// Recovered itself.
func Recovered(ctx context.Context, logger *slog.Logger, message string, err *error, about ...slog.Attr) {
	thrown := recover()
	if thrown == nil {
		return
	}
	logger.LogAttrs(ctx, slog.LevelError, message, append(about,
		slog.String("panic", display.Text(thrown)), slog.String("stack", string(debug.Stack())))...)
	if err != nil {
		*err = boterr.Recovered(thrown)
	}
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

// visible returns a line with hidden characters escaped.
func visible(line slog.Record) slog.Record {
	isVisible := line.Message == display.Visible(line.Message)
	line.Attrs(func(one slog.Attr) bool {
		isVisible = isVisible && isVisibleAttribute(one)
		return isVisible
	})
	if isVisible {
		return line
	}
	shown := slog.NewRecord(line.Time, line.Level, display.Visible(line.Message), line.PC)
	line.Attrs(func(one slog.Attr) bool {
		shown.AddAttrs(visibleAttribute(one))
		return true
	})
	return shown
}

func visibleAttributes(attributes []slog.Attr) []slog.Attr {
	if !slices.ContainsFunc(attributes, func(one slog.Attr) bool { return !isVisibleAttribute(one) }) {
		return attributes
	}
	shown := make([]slog.Attr, 0, len(attributes))
	for _, one := range attributes {
		shown = append(shown, visibleAttribute(one))
	}
	return shown
}

func isVisibleAttribute(one slog.Attr) bool {
	if one.Key != display.Visible(one.Key) {
		return false
	}
	switch one.Value.Kind() {
	case slog.KindString:
		text := one.Value.String()
		return text == display.Visible(text)
	case slog.KindAny:
		text := fmt.Sprintf("%+v", one.Value.Any())
		return text == display.Visible(text)
	case slog.KindGroup, slog.KindLogValuer:
		return false
	default: // A number, a time or a bool.
		return true
	}
}

// visibleAttribute returns an attribute with hidden characters escaped. A value that is not a string becomes a string
// if its text has such characters.
func visibleAttribute(one slog.Attr) slog.Attr {
	one.Key, one.Value = display.Visible(one.Key), one.Value.Resolve()
	switch {
	case one.Value.Kind() == slog.KindGroup:
		one.Value = slog.GroupValue(visibleAttributes(one.Value.Group())...)
	case !isVisibleAttribute(one):
		one.Value = slog.StringValue(display.Visible(fmt.Sprintf("%+v", one.Value.Any())))
	}
	return one
}
