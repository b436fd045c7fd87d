package explore

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/botctx/go-sdk/fakes"
)

// T is the test of one run of a property: a failure ends only that run, not the surrounding test. It can be
// passed to fakes.For, and to assertion packages such as testify's require. It is safe for concurrent use.
type T struct {
	name     string
	ctx      context.Context //nolint:containedctx // Context returns it.
	platform *fakes.Platform
	schedule *schedule

	mu       sync.Mutex
	failures []string
	logged   []string
	isOver   bool
	atEnd    []func()
	turns    []turn
	// outages are the planned outages for which Settle has not waited.
	outages []*fakes.Injected
}

type turn struct {
	name string
	run  func()
}

var _ fakes.TB = (*T)(nil)

// Helper marks the caller as a test helper.
func (*T) Helper() {}

// Name returns the name of the test around it.
func (t *T) Name() string { return t.name }

// Context returns a context that ends with the run.
func (t *T) Context() context.Context { return t.ctx }

// Errorf reports that the property does not hold.
func (t *T) Errorf(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failures = append(t.failures, strings.TrimRight(fmt.Sprintf(format, args...), "\n"))
}

// FailNow ends the run with a failure: it ends the calling goroutine, and Wait ends the property's own.
func (t *T) FailNow() {
	t.mu.Lock()
	t.isOver = true
	if len(t.failures) == 0 {
		t.failures = append(t.failures, "FailNow was called")
	}
	t.mu.Unlock()
	runtime.Goexit()
}

// abandonf reports an error of a goroutine that FailNow cannot end: Wait ends the run.
func (t *T) abandonf(format string, args ...any) {
	t.Errorf(format, args...)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.isOver = true
}

// Fatalf is Errorf and FailNow.
func (t *T) Fatalf(format string, args ...any) {
	t.Errorf(format, args...)
	t.FailNow()
}

// Logf adds to the output of a failing run.
func (t *T) Logf(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.logged = append(t.logged, fmt.Sprintf(format, args...))
}

// Failed reports whether the property has failed so far.
func (t *T) Failed() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.failures) > 0
}

// Cleanup registers a function to be called when the run has ended, the last one first.
func (t *T) Cleanup(f func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.atEnd = append(t.atEnd, f)
}

// settlings bounds the tries of Settle.
const settlings = 20

// Settle lets the bot recover and retry failures: it waits for the end of an outage, restarts a crashed
// process, and moves the time, until a move succeeds. Most assertions of a property belong after it. Settle
// ignores an error that persists: the property must hold all the same.
func (t *T) Settle(by time.Duration) {
	t.outages = slices.DeleteFunc(t.outages, func(one *fakes.Injected) bool {
		if one.Met() {
			_ = t.platform.TryAdvance(outage)
		}
		return one.Met()
	})
	for range settlings {
		if t.platform.IsDown() {
			t.platform.Restart()
		}
		if err := t.platform.TryAdvance(by); err == nil && !t.platform.IsDown() {
			return
		}
	}
}

// guarded calls a function, and records its panic as a failure, with its origin.
func (t *T) guarded(f func()) {
	defer func() {
		if thrown := recover(); thrown != nil {
			t.Errorf("panic: %v\n%s", thrown, debug.Stack())
		}
	}()
	f()
}

// end calls the functions registered by Cleanup. Each has its own goroutine, which it may end.
func (t *T) end() {
	for {
		t.mu.Lock()
		count := len(t.atEnd)
		if count == 0 {
			t.mu.Unlock()
			return
		}
		last := t.atEnd[count-1]
		t.atEnd = t.atEnd[:count-1]
		t.mu.Unlock()
		done := make(chan struct{})
		go func() {
			defer close(done)
			t.guarded(last)
		}()
		<-done
	}
}

func (t *T) text() (failures, logged string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Join(t.failures, "\n"), strings.Join(t.logged, "\n")
}
