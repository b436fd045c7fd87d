package lease

import (
	"context"
	"time"
)

// LastWait is how long Serve waits for runs whose contexts it has ended.
const LastWait = 5 * time.Second

// Serve has work done in real time until ctx ends, and then waits for it: after within, runs ends
// with a cause, and LastWait later Serve returns false, although work goes on. It returns true when
// work has returned. runs has the values of ctx, but does not end with it; work is to begin nothing
// more when ctx has ended.
func Serve(ctx context.Context, within time.Duration, cause error, work func(runs context.Context)) bool {
	runs, endRuns := context.WithCancelCause(context.WithoutCancel(ctx))
	defer endRuns(nil)
	done := make(chan struct{})
	go func() {
		defer close(done)
		work(runs)
	}()
	<-ctx.Done()
	if isClosedWithin(done, within) {
		return true
	}
	endRuns(cause)
	return isClosedWithin(done, LastWait)
}

// isClosedWithin waits for a channel to be closed.
func isClosedWithin(done <-chan struct{}, most time.Duration) bool {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}
