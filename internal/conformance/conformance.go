// Package conformance has the common parts of the conformance suites: store/storetest and botctx/botctxtest.
package conformance

import (
	"context"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"sync"
)

// T is the part of *testing.T that a rule needs.
type T interface {
	// Helper excludes the caller from the reported lines.
	Helper()
	// Context returns the context of the operations that rules call.
	Context() context.Context
	// Errorf reports a failure and continues.
	Errorf(format string, args ...any)
	// FailNow ends the goroutine that calls it.
	FailNow()
}

// NameOf returns the name of a rule that a function of a package checks: the function's own, in capitals.
func NameOf(check any) string {
	name := runtime.FuncForPC(reflect.ValueOf(check).Pointer()).Name()
	name = name[strings.LastIndexByte(name, '.')+1:]
	return strings.ToUpper(name[:1]) + name[1:]
}

// AtOnce runs work in a number of goroutines that start at the same instant, and returns the error of each.
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

// Violations returns the reports of a rule's check, for the tests of a suite. A panic of the check, which did
// not expect the result of a broken implementation, is also a report.
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
	ctx context.Context //nolint:containedctx // It takes the place of the context of a test.

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
