// Package background runs the work of a process that no call waits for.
//   - To run a goroutine that must not end early, use [Go].
//   - To repeat a task, use [Every].
//   - To wait for current work at a shutdown, use [Serve].
package background

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/botctx/go-sdk/internal/safelog"
)

// Go calls work in a goroutine of a group. If a store or a handler panics, or ends the goroutine with runtime.Goexit,
// Go calls work again. It logs the panic with message.
func Go(group *sync.WaitGroup, log *slog.Logger, message string, work func()) {
	group.Go(func() {
		done := false
		defer func() {
			if !done {
				Go(group, log, message, work)
			}
		}()
		defer safelog.Recovered(context.Background(), log, message, nil)
		work()
		done = true
	})
}

// Every calls task at once, and then at intervals until ctx ends.
func Every(ctx context.Context, interval time.Duration, task func()) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for ctx.Err() == nil {
		task()
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
}

// LastWait is the time that Serve waits for runs after it has ended their contexts.
const LastWait = 5 * time.Second

// Serve runs work until ctx ends, and then waits for it to return. Work must start nothing new once ctx has
// ended. Its context, runs, has the values of ctx but outlives it: if work has not returned after within,
// Serve cancels runs with cause. Serve returns true once work has returned, or false if work still continues
// LastWait after that. The durations are real time.
func Serve(ctx context.Context, within time.Duration, cause error, work func(runs context.Context)) bool {
	runs, endRuns := context.WithCancelCause(context.WithoutCancel(ctx))
	defer endRuns(nil)
	done := make(chan struct{})
	go func() {
		defer close(done)
		work(runs)
	}()
	<-ctx.Done()
	if IsClosedWithin(done, within) {
		return true
	}
	endRuns(cause)
	return IsClosedWithin(done, LastWait)
}

// IsClosedWithin waits until a channel is closed, or for at most the duration most. It reports whether the channel is
// closed.
func IsClosedWithin(done <-chan struct{}, most time.Duration) bool {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}
