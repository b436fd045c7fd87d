package botctxtest

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
)

var everyOperationRules = []Rule{
	{
		Name:  "EndedContextIsCanceled",
		Text:  "where the context has ended before the call, an operation answers Canceled and changes nothing",
		check: endedContextIsCanceled,
	},
	{
		Name:  "PassedDeadlineIsCanceled",
		Text:  "where the deadline has passed before the call, an operation answers Canceled and changes nothing",
		check: passedDeadlineIsCanceled,
	},
	{
		Name:  "OperationsAreSafeForConcurrentUse",
		Text:  "one value of Operations serves many goroutines at once",
		check: operationsAreSafeForConcurrentUse,
	},
}

// errorOf is the error of an operation.
func errorOf[R any](_ R, err error) error { return err }

func endedContextIsCanceled(t *trial) {
	requireCanceled(t, func() (context.Context, context.CancelFunc) {
		ended, end := context.WithCancel(t.ctx())
		end()
		return ended, end
	})
}

func passedDeadlineIsCanceled(t *trial) {
	requireCanceled(t, func() (context.Context, context.CancelFunc) { return context.WithDeadline(t.ctx(), time.Unix(0, 0)) })
}

// requireCanceled checks that every operation refuses to be called in vain.
func requireCanceled(t *trial, ended func() (context.Context, context.CancelFunc)) {
	t.Helper()
	offered := t.offered()
	for _, o := range offered {
		o.in(t, t.home)
	}
	before := t.state()
	for _, o := range offered {
		t.try(string(o.op), func(t *trial) {
			ctx, release := ended()
			defer release()
			t.requireError(o.op, boterr.Canceled, "", o.try(ctx, o.in(t, t.home)))
		})
	}
	require.Equal(t, before, t.state(), "calls that are canceled change nothing")
}

func operationsAreSafeForConcurrentUse(t *trial) {
	var group sync.WaitGroup
	offered := slices.DeleteFunc(t.offered(), func(o operation) bool { return o.isOnce })
	const rounds = 4
	places := make([]*place, len(offered))
	for i, o := range offered {
		places[i] = o.in(t, t.home)
	}
	failures := make([]error, rounds*len(offered))
	for i := range failures {
		one := i % len(offered)
		group.Go(func() { failures[i] = offered[one].try(t.ctx(), places[one]) })
	}
	group.Wait()
	for i, err := range failures {
		require.NoError(t, err, "%s", offered[i%len(offered)].op)
	}
}
