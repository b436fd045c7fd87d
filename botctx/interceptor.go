package botctx

import (
	"context"
	"slices"

	"github.com/botctx/go-sdk/boterr"
)

// Call is one call of an operation, as interceptors see it.
type Call struct {
	Op Op
	// Params is the operation's params struct, such as member.GetMemberParams. An
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

// operation is an operation of a part, such as that of the members.
type operation[S, P, R any] struct {
	op   Op
	part S
	call func(S, context.Context, P) (R, error)
}

// operationOf returns an operation of a part, by the method of its interface.
func operationOf[S, P, R any](op Op, part S, call func(S, context.Context, P) (R, error)) operation[S, P, R] {
	return operation[S, P, R]{op: op, part: part, call: call}
}

// invoke calls an operation through the interceptors. Errors get the operation's
// name, panics become errors, and beside an error the result is the zero value.
func invoke[S, P, R any](ctx context.Context, c *Context, params P, of operation[S, P, R]) (R, error) {
	result, err := intercepted(ctx, c, params, of)
	if err == nil {
		return result, nil
	}
	if kept, ok := any(result).(outcomes); !ok || !kept.HasOutcomes() {
		var zero R
		result = zero
	}
	return result, failureOf(of.op, err)
}

// failureOf gives an error the name of the operation that bot logic called, also where
// it comes from one that was called inside, such as that of a host's own part.
func failureOf(op Op, err error) error {
	e, ok := err.(*boterr.Error) //nolint:errorlint // Only the outermost error carries the operation.
	if !ok || e.Op == "" {
		return boterr.Wrap(string(op), err)
	}
	named := *e
	named.Op = string(op)
	return &named
}

// intercepted goes through the interceptors, and straight to the operation where
// there is none.
func intercepted[S, P, R any](ctx context.Context, c *Context, params P, of operation[S, P, R]) (result R, err error) {
	if len(c.runtime.config.Interceptors) == 0 {
		return guarded(ctx, c, params, of)
	}
	defer func() { err = c.orPanic(ctx, of.op, err, recover()) }()
	call := &Call{Op: of.op, Params: params, Context: c}
	next := func(ctx context.Context) (any, error) {
		params, ok := call.Params.(P)
		if !ok {
			return nil, boterr.New(boterr.Internal, "", "an interceptor made the params a %T", call.Params)
		}
		return guarded(ctx, c, params, of)
	}
	answer, err := chain(c.runtime.config.Interceptors, call, next)(ctx)
	return resultOf[R](answer, err)
}

// chain returns the call of the first interceptor, which goes on to the others.
func chain(interceptors []Interceptor, call *Call, last Next) Next {
	next := last
	for _, interceptor := range slices.Backward(interceptors) {
		inner := next
		next = func(ctx context.Context) (any, error) { return interceptor(ctx, call, inner) }
	}
	return next
}

// resultOf gives what interceptors returned its type.
func resultOf[R any](answer any, err error) (R, error) {
	result, ok := answer.(R)
	if !ok && err == nil {
		return result, boterr.New(boterr.Internal, "", "an interceptor answered with a %T", answer)
	}
	return result, err
}

// guarded calls an operation unless ctx has ended, or the run was left behind.
func guarded[S, P, R any](ctx context.Context, c *Context, params P, of operation[S, P, R]) (result R, err error) {
	defer func() { err = c.orPanic(ctx, of.op, err, recover()) }()
	if err := ctx.Err(); err != nil {
		return result, boterr.New(boterr.Canceled, "", "%w", err)
	}
	if err := c.run.Refusal(); err != nil {
		return result, err
	}
	if of.op.changesLiveChats() {
		if err := c.run.keepChoice(ctx); err != nil {
			return result, err
		}
	}
	return of.call(of.part, ctx, params)
}
