package botctx

import (
	"context"
	"slices"

	"github.com/botctx/go-sdk/boterr"
)

// Call is a call of an operation, for interceptors.
type Call struct {
	Op Op
	// Params is the operation's params struct, such as member.GetParams. An interceptor may replace it with
	// another value of the same type before it calls Next.
	Params any
	// Context is the context on which the operation was called.
	Context *Context
}

// Next continues a call with the next interceptor, and finally with the operation.
type Next func(ctx context.Context) (any, error)

// Interceptor wraps every operation that bot logic calls, including the sending of a node's responses, but
// not calls made inside operations. It may inspect the call, change its params, fail it, repeat it, or answer
// it without calling next. Its result becomes the operation's, and must have the operation's result type.
//
//	func counted(calls *atomic.Int64) botctx.Interceptor {
//		return func(ctx context.Context, call *botctx.Call, next botctx.Next) (any, error) {
//			calls.Add(1)
//			return next(ctx)
//		}
//	}
//
// Logged returns one.
type Interceptor func(ctx context.Context, call *Call, next Next) (any, error)

// outcomes is implemented by results that are returned together with an error: the results of a send to
// several members.
type outcomes interface{ HasOutcomes() bool }

// invoke calls an operation of a domain, such as the members, through the interceptors. It adds the
// operation's name to errors, turns a panic of the operation into an error, and returns the zero value with
// an error.
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
	var next Next = func(ctx context.Context) (any, error) {
		params, ok := call.Params.(P)
		if !ok {
			return nil, boterr.New(boterr.Internal, "", "an interceptor replaced the params by a %T", call.Params)
		}
		return guarded(ctx, c, op, part, operation, params)
	}
	for _, interceptor := range slices.Backward(c.runtime.config.Interceptors) {
		inner := next
		next = func(ctx context.Context) (any, error) { return interceptor(ctx, call, inner) }
	}
	answer, err := next(ctx)
	result, ok := answer.(R)
	if !ok && err == nil {
		return result, boterr.New(boterr.Internal, "", "an interceptor replaced the result by a %T", answer)
	}
	return result, err
}

// guarded calls an operation unless ctx has ended or the run was abandoned.
func guarded[S, P, R any]( //nolint:revive // What is called, of what, and with what are six.
	ctx context.Context, c *Context, op Op, part S, operation func(S, context.Context, P) (R, error), params P,
) (result R, err error) {
	defer c.recovered(ctx, op, &err)
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

// failureOf sets an error's operation to the one that bot logic called, even if the error comes from another
// operation called inside it, such as by a host's own implementation.
func failureOf(op Op, err error) error {
	e, ok := err.(*boterr.Error) //nolint:errorlint // Only the outermost error carries the operation.
	if !ok || e.Op == "" {
		return boterr.Wrap(string(op), err)
	}
	named := *e
	named.Op = string(op)
	return &named
}
