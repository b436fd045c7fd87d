package botctx

import (
	"context"
	"slices"

	"github.com/botctx/go-sdk/boterr"
)

// Call is one call of an operation, as interceptors see it.
type Call struct {
	Op Op
	// Params is the operation's params struct, such as member.GetParams. An
	// interceptor may put another value of the same type in its place before it
	// goes on.
	Params any
	// Context is the context on which the operation was called.
	Context *Context
}

// Next goes on with a call: to the next interceptor, and at last to the operation.
type Next func(ctx context.Context) (any, error)

// Interceptor stands around every operation that bot logic calls, the sending of a node's
// responses included, but not around what operations call inside. It may look at the call, change its params, fail it,
// repeat it, or answer it without going on; what it returns is the operation's
// result, of the operation's result type.
//
//	func counted(calls *atomic.Int64) botctx.Interceptor {
//		return func(ctx context.Context, call *botctx.Call, next botctx.Next) (any, error) {
//			calls.Add(1)
//			return next(ctx)
//		}
//	}
//
// Logged is one.
type Interceptor func(ctx context.Context, call *Call, next Next) (any, error)

// outcomes is implemented by results that are returned together with an error: those
// of a send to several members.
type outcomes interface{ HasOutcomes() bool }

// invoke calls an operation of a domain, such as the members, through the interceptors. Errors get the
// operation's name, a panic of the operation becomes an error, and with an error the result is the zero
// value.
func invoke[S, P, R any]( //nolint:revive // What is called, of what, and with what are six.
	ctx context.Context, c *Context, op Op, part S, operation func(S, context.Context, P) (R, error), params P,
) (result R, err error) {
	defer func() {
		if err == nil {
			return
		}
		if kept, ok := any(result).(outcomes); !ok || !kept.HasOutcomes() {
			var zero R
			result = zero
		}
		err = failureOf(op, err)
	}()
	if len(c.runtime.config.Interceptors) == 0 {
		return guarded(ctx, c, op, part, operation, params)
	}
	call := &Call{Op: op, Params: params, Context: c}
	answer, err := throughInterceptors(ctx, call, func(ctx context.Context) (any, error) {
		params, ok := call.Params.(P)
		if !ok {
			return nil, boterr.New(boterr.Internal, "", "an interceptor made the params a %T", call.Params)
		}
		return guarded(ctx, c, op, part, operation, params)
	})
	result, ok := answer.(R)
	if !ok && err == nil {
		return result, boterr.New(boterr.Internal, "", "an interceptor answered with a %T", answer)
	}
	return result, err
}

// guarded calls an operation unless ctx has ended, or the run was left behind.
func guarded[S, P, R any]( //nolint:revive // What is called, of what, and with what are six.
	ctx context.Context, c *Context, op Op, part S, operation func(S, context.Context, P) (R, error), params P,
) (result R, err error) {
	defer func() { err = c.orPanic(ctx, op, err, recover()) }()
	if err := ctx.Err(); err != nil {
		return result, boterr.New(boterr.Canceled, "", "%w", err)
	}
	if err := c.run.Refusal(); err != nil {
		return result, err
	}
	if op.changesLiveChats() {
		if err := c.run.keepChoice(ctx); err != nil {
			return result, err
		}
	}
	return operation(part, c.within(ctx), params)
}

// throughInterceptors calls the first interceptor, which goes on to the others and at last to the operation.
func throughInterceptors(ctx context.Context, call *Call, operation Next) (any, error) {
	next := operation
	for _, interceptor := range slices.Backward(call.Context.runtime.config.Interceptors) {
		inner := next
		next = func(ctx context.Context) (any, error) { return interceptor(ctx, call, inner) }
	}
	return next(ctx)
}

// failureOf gives an error the name of the operation that bot logic called, even if it comes from an
// operation that was called inside, such as by a host's own implementation.
func failureOf(op Op, err error) error {
	e, ok := err.(*boterr.Error) //nolint:errorlint // Only the outermost error carries the operation.
	if !ok || e.Op == "" {
		return boterr.Wrap(string(op), err)
	}
	named := *e
	named.Op = string(op)
	return &named
}
