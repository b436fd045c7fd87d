package inbox

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"runtime/debug"
	"strings"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/display"
	"github.com/botctx/go-sdk/store/query"
)

// ErrShutdown is the context.Cause of a run for which an inbox, told to end, does not wait any
// longer: the event is handled again, and that is no failure.
var ErrShutdown = boterr.New(boterr.Canceled, "", "the inbox ends: the event will be handled again")

// ErrNeverCameBack is the failure of a start that never came back.
var ErrNeverCameBack = boterr.New(boterr.Internal, "",
	"the run of the event began and never came back: its process ended, or lost the turn")

// neverCameBackText is how that failure is kept.
var neverCameBackText = textOf(ErrNeverCameBack)

// errGoroutineEnded is the failure of a handler that does not return.
var errGoroutineEnded = boterr.New(boterr.Internal, "", "the handler ended its goroutine: return an error instead")

// IsMistake reports whether an error says that handling the event again cannot help: something is
// wrong with the event or with the bot, and not with what was going on. Such are the codes
// InvalidArgument, NotFound, AlreadyExists, FailedPrecondition and Unsupported.
func IsMistake(err error) bool {
	switch boterr.CodeOf(err) {
	case boterr.InvalidArgument, boterr.NotFound, boterr.AlreadyExists, boterr.FailedPrecondition, boterr.Unsupported:
		return true
	default:
		return false
	}
}

// The default pauses after failures.
const (
	firstPause  = time.Second
	pauseGrowth = 4
	maxPause    = time.Minute
)

// growing is the default back-off.
func growing(failures int) time.Duration {
	pause := firstPause
	for ; failures > 1 && pause < maxPause; failures-- {
		pause *= pauseGrowth
	}
	return min(pause, maxPause)
}

// jittered takes a random part of a pause, at least half of it, so that what failed together is
// not tried again together.
func jittered(pause time.Duration) time.Duration {
	return pause - rand.N(pause/2+1) //nolint:gosec // Spreading load needs no secrecy.
}

// whole takes a pause as it is.
func whole(pause time.Duration) time.Duration { return pause }

// pauseAfter returns the pause after that many failures: the host's, or the default one where the
// host's function panics.
func (b *Inbox) pauseAfter(ctx context.Context, failures int, part func(time.Duration) time.Duration) (chosen time.Duration) {
	if b.config.Backoff == nil {
		return part(growing(failures))
	}
	defer func() {
		if thrown := recover(); thrown != nil {
			b.log.LogAttrs(ctx, slog.LevelError, "inbox: back-off panicked",
				slog.String("panic", display.Text(thrown)), slog.String("stack", string(debug.Stack())))
			chosen = growing(failures)
		}
	}()
	return max(0, b.config.Backoff(failures))
}

// maxErrorSize is the number of bytes that are kept of the text of a failure.
const maxErrorSize = 1000

// textOf returns the text of a failure as it is kept: without credentials, and cut where it is long.
func textOf(failure error) string {
	text := strings.ToValidUTF8(display.Text(failure), "�")
	if len(text) > maxErrorSize {
		text = strings.ToValidUTF8(text[:maxErrorSize], "")
	}
	return text
}

// isEnded reports whether a run failed because its context was ended, which says nothing about
// the event.
func isEnded(ctx context.Context, failure error) bool {
	return failure != nil && ctx.Err() != nil && !errors.Is(failure, errGoroutineEnded)
}

// postponement is the error of a handler that could not begin.
type postponement struct{ pause time.Duration }

// Error implements error.
func (p *postponement) Error() string { return "postponed by " + p.pause.String() }

// Postpone returns an error for a Handler that cannot handle an event yet, such as where something else
// of its member is under way: it is given the event again after a pause, and that is no failure. Its
// lane waits.
func Postpone(pause time.Duration) error { return &postponement{pause: max(0, pause)} }

// isPostponed reports whether a handler returned what Postpone gave it.
func isPostponed(failure error) bool {
	_, ok := errors.AsType[*postponement](failure)
	return ok
}

// postpone stores when an event is tried that could not be.
func (b *Inbox) postpone(ctx context.Context, e stored, failure error) (outcome, error) {
	p, _ := errors.AsType[*postponement](failure)
	now, err := b.turns.Roughly(ctx)
	if err != nil {
		return outcome{}, err
	}
	filter, err := query.CompileFilter(asClaimed(e))
	if err != nil {
		return outcome{}, err
	}
	b.report(ctx, slog.LevelDebug, "inbox: postponed", e, failure)
	at := now.Add(p.pause)
	set := document.O(fieldRetryAt, int64(document.TimestampOf(at)), fieldPausedAt, int64(document.TimestampOf(now)))
	changed, err := b.setAll(ctx, filter, set, document.O(fieldBegun, true))
	if err != nil {
		return outcome{}, err
	}
	return outcome{isPostponed: true, retryAt: at}, wasLost(changed)
}
