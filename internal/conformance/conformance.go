// Package conformance has the shared parts of conformance suites such as store/storetest and botctx/botctxtest.
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
	// Helper marks the calling function as a helper, as in testing.TB.
	Helper()
	// Context returns the context for operations.
	Context() context.Context
	// Errorf reports a failure and continues.
	Errorf(format string, args ...any)
	// FailNow ends the calling goroutine.
	FailNow()
}

// NameOf returns the name of a rule: the name of the function that checks it, with a capital first letter.
func NameOf(check any) string {
	name := runtime.FuncForPC(reflect.ValueOf(check).Pointer()).Name()
	name = name[strings.LastIndexByte(name, '.')+1:]
	return strings.ToUpper(name[:1]) + name[1:]
}

// AtOnce runs work in several goroutines that start at the same time. It returns the error of each.
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

// Violations returns the failures that a rule's check reports. It is for tests of suites. If the check panics because
// of an unexpected result, the panic is a failure, too.
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
