package safelog_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/internal/safelog"
)

// broken is a handler that panics in all that it does.
type broken struct{}

func (broken) Enabled(context.Context, slog.Level) bool  { panic("enabled") }
func (broken) Handle(context.Context, slog.Record) error { panic("handle") }
func (broken) WithAttrs([]slog.Attr) slog.Handler        { panic("with") }
func (broken) WithGroup(string) slog.Handler             { panic("group") }

func TestLog_LoggerBreaks(t *testing.T) {
	t.Parallel()
	logger := safelog.New(slog.New(broken{}))
	require.NotPanics(t, func() {
		logger.With("a", 1).WithGroup("b").Error("lost")
		_ = logger.Handler().Handle(t.Context(), slog.Record{})
	})
}

func TestLog_LoggerWorks(t *testing.T) {
	t.Parallel()
	var lines strings.Builder
	safelog.New(slog.New(slog.NewTextHandler(&lines, nil))).With("a", 1).WithGroup("b").Info("said", "c", 2)
	require.Contains(t, lines.String(), "msg=said a=1 b.c=2")
}

func TestLog_NoLogger(t *testing.T) {
	t.Parallel()
	require.False(t, safelog.New(nil).Enabled(t.Context(), slog.LevelError))
}

func TestLog_SafeLoggerAsItIs(t *testing.T) {
	t.Parallel()
	for name, logger := range map[string]*slog.Logger{"none": nil, "one that breaks": slog.New(broken{})} {
		safe := safelog.New(logger)
		require.Same(t, safe, safelog.New(safe), name)
	}
}
