// Package conformance contains the code that the conformance suites storetest and botctxtest share.
package conformance

import (
	"context"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"sync"
)

// T is the part of *testing.T that the checks of rules need.
type T interface {
	// Helper marks the calling function as a helper, as in testing.TB.
	Helper()
	// Context returns the context for the operations that a check calls.
	Context() context.Context
	// Errorf reports a failure and continues.
	Errorf(format string, args ...any)
	// FailNow ends the calling goroutine.
	FailNow()
}

// NameOf returns the name of the rule that the function check checks: the function's own name with an
// upper-case first letter.
func NameOf(check any) string {
	name := runtime.FuncForPC(reflect.ValueOf(check).Pointer()).Name()
	name = name[strings.LastIndexByte(name, '.')+1:]
	return strings.ToUpper(name[:1]) + name[1:]
}

// AtOnce starts all workers at the same time and returns the error of each. It calls work in a goroutine
// for each number from 0 to workers-1.
func AtOnce(workers int, work func(worker int) error) []error {
	var group sync.WaitGroup
	start, errs := make(chan struct{}), make([]error, workers)
	for worker := range workers {
		group.Go(func() {
			<-start
			errs[worker] = work(worker)
		})
	}
	close(start)
	group.Wait()
	return errs
}

// Violations runs check and returns the failures that it reports, for the tests of a suite. If the check
// panics, for example because a broken implementation returns nil, the panic is also a failure.
func Violations(ctx context.Context, check func(T)) []string {
	r := &recorder{ctx: ctx}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if thrown := recover(); thrown != nil {
				r.Errorf("the check panicked: %v", thrown)
			}
		}()
		check(r)
	}()
	<-done
	return r.reports
}

// recorder is a T that records reports.
type recorder struct {
	ctx context.Context //nolint:containedctx // The result of the method Context.

	mu      sync.Mutex
	reports []string
}

func (*recorder) Helper()                    {}
func (r *recorder) Context() context.Context { return r.ctx }
func (*recorder) FailNow()                   { runtime.Goexit() }

func (r *recorder) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reports = append(r.reports, fmt.Sprintf(format, args...))
}
