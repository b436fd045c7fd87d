package mongotest_test

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document/documenttest"
)

func TestStore(t *testing.T) {
	t.Parallel()
	if !isStandIn() {
		documenttest.RunStore(t, newStore)
		return
	}
	rules := documenttest.Rules(lacks...)
	t.Logf("the stand-in lacks %q, and is not held to %d of %d rules", lacks, len(defects), len(rules))
	for _, rule := range rules {
		reason, isDefect := defects[rule.Name]
		t.Run(rule.Name, func(t *testing.T) {
			t.Parallel()
			if !isDefect {
				rule.Check(t, newStore(t))
				return
			}
			t.Logf("the stand-in breaks this rule: %s", reason)
			require.True(t, breaks(t, rule), "the stand-in keeps this rule now: remove it from the defects")
		})
	}
}

// breaks reports whether a rule is broken.
func breaks(t *testing.T, rule documenttest.Rule) bool {
	t.Helper()
	seen := &witness{T: t}
	store, ended := newStore(t), make(chan struct{})
	go func() { // FailNow ends the goroutine.
		defer close(ended)
		rule.Check(seen, store)
	}()
	<-ended
	return seen.failed.Load()
}

// witness is a documenttest.T that keeps a failure to itself.
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
