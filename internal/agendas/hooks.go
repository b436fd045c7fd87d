package agendas

import (
	"context"
	"log/slog"
	"runtime/debug"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/internal/display"
)

// call calls a hook, which may be nil.
func (s *Scheduler) call(ctx context.Context, name string, hook func(context.Context, agenda.Event), e agenda.Event) {
	if hook == nil {
		return
	}
	defer func() {
		if thrown := recover(); thrown != nil {
			s.log.LogAttrs(ctx, slog.LevelError, "agenda: hook panicked", slog.String("hook", name),
				slog.String("agenda", e.Run.Agenda.ID), slog.String("panic", display.Text(thrown)), slog.String("stack", string(debug.Stack())))
		}
	}()
	hook(ctx, e)
}

// tellClaimed tells that a run begins.
func (s *Scheduler) tellClaimed(ctx context.Context, e agenda.Event) {
	s.report(ctx, slog.LevelDebug, "agenda: claimed", e)
	s.call(ctx, "Claimed", s.hooks.Claimed, e)
	late := e.At.Sub(e.Run.ScheduledAt)
	if late <= s.lateAfter {
		return
	}
	s.report(ctx, slog.LevelWarn, "agenda: late", e, slog.Duration("late", late))
	s.call(ctx, "Late", s.hooks.Late, e)
}

// tellFinished tells that a run succeeded.
func (s *Scheduler) tellFinished(ctx context.Context, e agenda.Event) {
	s.report(ctx, slog.LevelDebug, "agenda: finished", e)
	s.call(ctx, "Finished", s.hooks.Finished, e)
}

// tellFailed tells that a run failed, where another attempt follows at the given level.
func (s *Scheduler) tellFailed(ctx context.Context, level slog.Level, e agenda.Event) {
	s.report(ctx, level, "agenda: failed", e, slog.String("error", display.Text(e.Err)))
	s.call(ctx, "Failed", s.hooks.Failed, e)
}

// report writes a line of the log.
func (s *Scheduler) report(ctx context.Context, level slog.Level, message string, e agenda.Event, more ...slog.Attr) {
	if !s.log.Enabled(ctx, level) {
		return
	}
	a := &e.Run.Agenda
	attributes := append([]slog.Attr{
		slog.String("agenda", a.ID), slog.String("app", a.App), slog.String("member", a.Member),
		slog.String("node", a.NodeCompositeID), slog.Time("scheduled", e.Run.ScheduledAt),
		slog.Int("attempt", e.Run.Attempt), slog.Int("missed", e.Run.Missed),
	}, more...)
	if !e.Next.IsZero() {
		attributes = append(attributes, slog.Time("next", e.Next))
	}
	s.log.LogAttrs(ctx, level, message, attributes...)
}
