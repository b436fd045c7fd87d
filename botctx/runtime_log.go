package botctx

import (
	"context"
	"errors"
	"log/slog"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/display"
	"github.com/botctx/go-sdk/internal/lease"
	"github.com/botctx/go-sdk/internal/record"
)

// place is where something happened, as far as it is known.
type place struct {
	scope record.Scope
	node  NodeRef
	op    Op
}

// attributes are what a line says of a place.
func (p place) attributes() []slog.Attr {
	attributes := appendScope(nil, p.scope)
	if p.node != (NodeRef{}) {
		attributes = append(attributes, slog.String("node", p.node.String()))
	}
	if p.op != "" {
		attributes = append(attributes, slog.String("op", string(p.op)))
	}
	return attributes
}

// orPanic returns err, or the error of a panic. It logs the panic that is behind the error, also one
// that a service has recovered from. cause is what recover returned.
func (r *Runtime) orPanic(ctx context.Context, where place, err error, cause any) error {
	if cause != nil {
		err = boterr.Recovered(cause)
	}
	r.logPanic(ctx, where, err)
	return err
}

// logPanic logs a panic that became an error, once.
func (r *Runtime) logPanic(ctx context.Context, where place, err error) {
	panicked, ok := errors.AsType[*boterr.PanicError](err)
	if !ok || !panicked.FirstSeen() || !r.config.Logger.Enabled(ctx, slog.LevelError) {
		return
	}
	r.config.Logger.LogAttrs(ctx, slog.LevelError, "botctx: panic", append(where.attributes(),
		slog.String("panic", display.Text(panicked.Cause)), slog.String("stack", string(panicked.Stack)))...)
}

// orPanic is that of the Runtime, for an operation.
func (c *Context) orPanic(ctx context.Context, op Op, err error, cause any) error {
	if err == nil && cause == nil {
		return nil
	}
	return c.runtime.orPanic(ctx, place{scope: c.scope, op: op}, err, cause)
}

// orPanic is that of the Runtime, for a part of a node.
func (r *run) orPanic(ctx context.Context, node NodeRef, err error, cause any) error {
	if err == nil && cause == nil {
		return nil
	}
	return r.runtime.orPanic(ctx, place{scope: r.bot.scope, node: node}, err, cause)
}

// logLostChanges logs that what a run changed of its member is not stored.
func (r *Runtime) logLostChanges(ctx context.Context, scope record.Scope, err error) {
	if err == nil || !r.config.Logger.Enabled(ctx, slog.LevelWarn) {
		return
	}
	r.config.Logger.LogAttrs(ctx, slog.LevelWarn, "botctx: member not written back",
		appendCode(place{scope: scope}.attributes(), err, outermost(err))...)
}

// logNotRemembered logs that a run which is tried again will send once more what it has sent.
func (r *Runtime) logNotRemembered(ctx context.Context, in *run, err error) {
	r.config.Logger.LogAttrs(ctx, slog.LevelWarn, "botctx: not remembered what was sent",
		appendCode(place{scope: in.bot.scope}.attributes(), err, outermost(err))...)
}

// logNotReleased logs that a member is kept from others until a lease has passed.
func (r *Runtime) logNotReleased(ctx context.Context, lane *lease.Turn, err error) {
	r.config.Logger.LogAttrs(ctx, slog.LevelWarn, "botctx: turn not released",
		slog.String("lane", lane.Lane()), slog.String("error", display.Text(err)))
}

// logRedirects logs that too many redirects have led to a step.
func (r *run) logRedirects(ctx context.Context, to *step) {
	logger := r.runtime.config.Logger
	if !logger.Enabled(ctx, slog.LevelWarn) {
		return
	}
	where := place{scope: r.bot.scope, node: to.node}
	logger.LogAttrs(ctx, slog.LevelWarn, "botctx: too many redirects", append(where.attributes(), slog.String("path", to.path()))...)
}

// logLateTap logs that an agent has tapped on a ticket too late.
func (r *run) logLateTap(ctx context.Context, err error) {
	logger := r.runtime.config.Logger
	if !logger.Enabled(ctx, slog.LevelInfo) {
		return
	}
	logger.LogAttrs(ctx, slog.LevelInfo, "botctx: tapped too late", appendCode(place{scope: r.bot.scope}.attributes(), err, outermost(err))...)
}

// logChoice logs what answers an event, and why.
func (r *Runtime) logChoice(ctx context.Context, choice Choice) {
	if !r.config.Logger.Enabled(ctx, slog.LevelDebug) {
		return
	}
	where := place{scope: choice.Scope, node: choice.Node}
	r.config.Logger.LogAttrs(ctx, slog.LevelDebug, "botctx: choice", append(where.attributes(),
		slog.String("answer", string(choice.Answer)), slog.String("why", choice.String()))...)
}
