package inbox

import (
	"context"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/display"
)

// Hooks let a host see what an inbox does, such as in spans and metrics. Those that are nil are left
// out.
type Hooks struct {
	// AroundAccept and AroundHandler return what is called in the place of Accept and of the
	// Handler, which they are given and call in turn. They are called once, by New.
	AroundAccept  func(Acceptor) Acceptor
	AroundHandler func(Handler) Handler
	// Settled is called with what came of an attempt, once that is stored, by the worker, which waits
	// for it. A start that never came back is an attempt, too. One that panics is logged, and
	// changes nothing.
	Settled func(ctx context.Context, s Settled)
}

// Acceptor is Inbox.Accept, or what calls it.
type Acceptor func(ctx context.Context, e Event) (Accepted, error)

// Settled tells what came of an attempt to handle an event. Without Err it is done; with Err it is a
// dead letter, or tried again.
type Settled struct {
	// ID is the event's id in the inbox.
	ID    string
	Event Event
	// Attempt counts the attempts, from 1 on.
	Attempt int
	// AcceptedAt is when the event was accepted, and At when the attempt ended: each by the clock of
	// the process that did it.
	AcceptedAt, At time.Time
	// Err is why the attempt failed. IsDead tells that the event was given up.
	Err    error
	IsDead bool
}

// withHook returns what a host's hook returns for inner, inner itself where it has none. Where the hook
// panics or returns nothing, that is the error, at a field.
func withHook[F any](field string, hook func(F) F, inner F, isMissing func(F) bool) (around F, err error) {
	defer func() {
		if panicked := boterr.Recovered(recover()); panicked != nil {
			err = boterr.PrefixField(field, panicked)
		}
	}()
	if hook == nil {
		return inner, nil
	}
	if around = hook(inner); isMissing(around) {
		return around, boterr.Invalid(field, "gave no function: return one that calls the function that it is given")
	}
	return around, nil
}

// addHooks puts the host's hooks around what they are for.
func (b *Inbox) addHooks() (err error) {
	hooks := b.config.Hooks
	b.config.Handler, err = withHook("hooks.aroundHandler", hooks.AroundHandler, b.config.Handler,
		func(h Handler) bool { return h == nil })
	if err != nil {
		return err
	}
	b.acceptor, err = withHook("hooks.aroundAccept", hooks.AroundAccept, b.accept,
		func(a Acceptor) bool { return a == nil })
	return err
}

// tellSettled calls the hook with what came of an attempt.
func (b *Inbox) tellSettled(ctx context.Context, e stored, failure error, isDead bool) {
	hook := b.config.Hooks.Settled
	if hook == nil {
		return
	}
	defer func() {
		if thrown := recover(); thrown != nil {
			b.log.LogAttrs(ctx, slog.LevelError, "inbox: hook panicked", slog.String("event", e.id),
				slog.String("panic", display.Text(thrown)), slog.String("stack", string(debug.Stack())))
		}
	}()
	hook(ctx, Settled{
		ID: e.id, Event: e.Event, Attempt: int(e.attempts()) + 1, Err: failure, IsDead: isDead,
		AcceptedAt: document.Timestamp(e.acceptedAt).Time(), At: b.config.Env.Now(),
	})
}
