package botctx

import (
	"context"
	"slices"

	"github.com/botctx/go-sdk/boterr"
)

// Call describes a call of an operation to an Interceptor.
type Call struct {
	Op Op
	// Params is the operation's params struct, such as member.GetParams. Before calling Next, an interceptor may
	// replace it with another value of the same type.
	Params any
	// Context is the context on which the operation was called.
	Context *Context
}

// Next calls the next interceptor or, after the last one, the operation.
type Next func(ctx context.Context) (any, error)

// Interceptor wraps every operation that bot logic calls, including the sends of a node's responses, but not the
// calls that operations make. It may inspect the call, change its params, return an error, call next several times,
// or return a result without calling next. The result must have the result type of the operation. If next is called
// again after an error, messages and other requests have the same ids as before (Context.SendID), so that receivers
// recognise what already arrived.
//
//	func counted(calls *atomic.Int64) botctx.Interceptor {
//		return func(ctx context.Context, call *botctx.Call, next botctx.Next) (any, error) {
//			calls.Add(1)
//			return next(ctx)
//		}
//	}
//
// The function Logged returns an Interceptor.
type Interceptor func(ctx context.Context, call *Call, next Next) (any, error)

// outcomes is implemented by results that may accompany an error, such as the results of a send to several members.
type outcomes interface{ HasOutcomes() bool }

// invoke calls an operation of part, the service of a domain, through the interceptors. It adds the operation's
// name to errors and turns panics into errors. With an error, it returns the zero value, unless the result has
// outcomes.
func invoke[S, P, R any]( //nolint:revive // A struct for these parameters would not be clearer.
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
	interceptors := c.runtime.config.Interceptors
	if len(interceptors) == 0 {
		return guarded(ctx, c, op, part, operation, params)
	}
	call := &Call{Op: op, Params: params, Context: c}
	var next Next = func(ctx context.Context) (any, error) {
		params, ok := call.Params.(P)
		if !ok {
			return nil, boterr.New(boterr.Internal, "", "an interceptor replaced the params by a %T: it must keep the type %T", call.Params, params)
		}
		return guarded(ctx, c, op, part, operation, params)
	}
	for _, interceptor := range slices.Backward(interceptors[1:]) {
		inner := next
		next = func(ctx context.Context) (any, error) { return interceptor(ctx, call, repeatable(inner)) }
	}
	answer, err := interceptors[0](ctx, call, repeatable(next))
	result, ok := answer.(R)
	if !ok && err == nil {
		return result, boterr.New(boterr.Internal, "", "an interceptor replaced the result by a %T: it must return a %T", answer, result)
	}
	return result, err
}

// guarded calls an operation unless ctx has ended or the run was abandoned.
func guarded[S, P, R any]( //nolint:revive // The same parameters as invoke.
	ctx context.Context, c *Context, op Op, part S, operation func(S, context.Context, P) (R, error), params P,
) (result R, err error) {
	defer c.runtime.recovered(ctx, place{scope: c.scope, op: op}, &err)
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
// operation that this one called. A host's own implementation may do that.
func failureOf(op Op, err error) error {
	e, ok := err.(*boterr.Error) //nolint:errorlint // Only the outermost error carries the operation.
	if !ok || e.Op == "" {
		return boterr.Wrap(string(op), err)
	}
	named := *e
	named.Op = string(op)
	return &named
}
