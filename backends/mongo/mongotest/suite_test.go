package mongotest_test

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/store/storetest"
)

func TestStore(t *testing.T) {
	t.Parallel()
	if !isStandIn() {
		storetest.RunStore(t, newStore)
		return
	}
	rules := storetest.Rules(lacks...)
	t.Logf("the stand-in lacks %q, and is not held to %d of %d rules", lacks, len(defects), len(rules))
	for _, rule := range rules {
		check := func(t *testing.T, to witnessed) { t.Helper(); rule.Check(to, newStore(t)) }
		t.Run(rule.Name, func(t *testing.T) {
			t.Parallel()
			hold(t, defects[rule.Name], check)
		})
	}
}

// witnessed is what a rule needs of a test.
type witnessed interface {
	Helper()
	Context() context.Context
	Errorf(format string, args ...any)
	FailNow()
}

// hold holds the stand-in to a rule, or to breaking it for the reason given.
func hold(t *testing.T, defect string, check func(t *testing.T, to witnessed)) {
	t.Helper()
	if defect == "" {
		check(t, t)
		return
	}
	t.Logf("the stand-in breaks this rule: %s", defect)
	seen, ended := &witness{T: t}, make(chan struct{})
	go func() { // FailNow ends the goroutine.
		defer close(ended)
		check(t, seen)
	}()
	<-ended
	require.True(t, seen.failed.Load(), "the stand-in keeps this rule now: remove it from the defects")
}

// witness is a test that keeps a failure to itself.
type witness struct {
	*testing.T

	failed atomic.Bool
}

// Context returns the context of the operations.
func (w *witness) Context() context.Context { return w.T.Context() }

// Errorf notes a failure.
func (w *witness) Errorf(format string, args ...any) {
	w.failed.Store(true)
	w.Logf("as expected: %s", fmt.Sprintf(format, args...))
}

// FailNow ends the goroutine.
func (w *witness) FailNow() {
	w.failed.Store(true)
	runtime.Goexit()
}
