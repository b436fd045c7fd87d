package explore

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/botctx/go-sdk/fakes"
)

// T is the test of one run of a property: a failure in it ends that run, and not the test around it.
// fakes.For takes it, and so do packages of assertions such as testify's require. It is safe for concurrent
// use.
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
}

type turn struct {
	name string
	run  func()
}

var _ fakes.TB = (*T)(nil)

// Helper marks the caller as no place to report.
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

// FailNow ends the run as one in which the property does not hold: the goroutine that calls it, and after
// Wait the property's own.
func (t *T) FailNow() {
	t.mu.Lock()
	t.isOver = true
	if len(t.failures) == 0 {
		t.failures = append(t.failures, "FailNow was called")
	}
	t.mu.Unlock()
	runtime.Goexit()
}

// abandonf is Errorf if the goroutine is none that could end: Wait ends the run.
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

// Logf adds to the output if the property does not hold.
func (t *T) Logf(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.logged = append(t.logged, fmt.Sprintf(format, args...))
}

// Failed reports whether the property does not hold, as far as is known.
func (t *T) Failed() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.failures) > 0
}

// Cleanup calls a function when the run has ended, the last one first.
func (t *T) Cleanup(f func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.atEnd = append(t.atEnd, f)
}

// settlings bounds the tries of Settle.
const settlings = 20

// Settle lets what failed be tried again, as a bot recovers: it starts the process where it has crashed,
// and moves the time, until a move goes well. What a property states is mostly stated after it. An error
// that stays is none of the property's: it states what must hold all the same.
func (t *T) Settle(by time.Duration) {
	for range settlings {
		if t.platform.IsDown() {
			t.platform.Restart()
		}
		if err := t.platform.TryAdvance(by); err == nil && !t.platform.IsDown() {
			return
		}
	}
}

// guarded calls a function, and keeps its panic as a failure, with where it arose.
func (t *T) guarded(f func()) {
	defer func() {
		if thrown := recover(); thrown != nil {
			t.Errorf("panic: %v\n%s", thrown, debug.Stack())
		}
	}()
	f()
}

// end calls what Cleanup was given. Each function has a goroutine, which it may end.
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
