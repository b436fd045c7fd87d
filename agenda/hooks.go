package agenda

import (
	"context"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/botctx/go-sdk/internal/display"
)

// Hooks are called with what a scheduler does; those that are nil are left out. They are
// called by the worker that runs the agenda, which waits for them. One that panics is
// logged, and changes nothing.
type Hooks struct {
	// Claimed is called before a run.
	Claimed func(ctx context.Context, e Event)
	// Late is called after Claimed where the run begins more than
	// SchedulerConfig.LateAfter after its scheduled time.
	Late func(ctx context.Context, e Event)
	// Finished is called after a run that succeeded, and Failed after one that did not:
	// once what follows from it is stored. Where it cannot be stored, or the worker has
	// lost its claim, Failed is called, and another attempt follows.
	Finished func(ctx context.Context, e Event)
	Failed   func(ctx context.Context, e Event)
}

// Event tells what happened to a run.
type Event struct {
	Run Run
	// At is when it happened, by the store's clock.
	At time.Time
	// Err is why the run failed.
	Err error
	// Next is when the agenda runs next: its next attempt, or its next occurrence. It is
	// zero where none is known.
	Next time.Time
}

// call calls a hook, which may be nil.
func (s *Scheduler) call(ctx context.Context, name string, hook func(context.Context, Event), e Event) {
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
func (s *Scheduler) tellClaimed(ctx context.Context, e Event) {
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
func (s *Scheduler) tellFinished(ctx context.Context, e Event) {
	s.report(ctx, slog.LevelDebug, "agenda: finished", e)
	s.call(ctx, "Finished", s.hooks.Finished, e)
}

// tellFailed tells that a run failed, where another attempt follows at the given level.
func (s *Scheduler) tellFailed(ctx context.Context, level slog.Level, e Event) {
	s.report(ctx, level, "agenda: failed", e, slog.String("error", display.Text(e.Err)))
	s.call(ctx, "Failed", s.hooks.Failed, e)
}

// report writes a line of the log.
func (s *Scheduler) report(ctx context.Context, level slog.Level, message string, e Event, more ...slog.Attr) {
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
