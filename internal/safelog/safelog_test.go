package safelog_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/internal/safelog"
)

// broken is a handler that panics in every method.
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

// secret is a value whose text the handler gets from LogValue.
type secret struct{ text string }

func (s secret) LogValue() slog.Value { return slog.StringValue(s.text) }

func TestLog_HiddenCharacters(t *testing.T) {
	t.Parallel()
	const hidden = "a\x1b[2J\u009b\u202e\x7fb"
	const shown = `a\\x1b[2J\\u009b\\u202e\\x7fb`
	var lines strings.Builder
	logger := safelog.New(slog.New(slog.NewJSONHandler(&lines, &slog.HandlerOptions{
		ReplaceAttr: func(_ []string, one slog.Attr) slog.Attr {
			if one.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return one
		},
	})))
	logger.With(hidden, hidden, "n", 1).WithGroup(hidden).Info(hidden, hidden, []string{hidden},
		"secret", secret{hidden}, "error", errors.New(hidden), "plain", []string{"a"}, slog.Group("g", "h", hidden, "i", 1.5))
	require.Equal(t, strings.ReplaceAll(`{"level":"INFO","msg":"X","X":"X","n":1,"X":{"X":"[X]",`+
		`"secret":"X","error":"X","plain":["a"],"g":{"h":"X","i":1.5}}}`, "X", shown)+"\n", lines.String())
}
