package mongotest_test

import (
	"context"
	"testing"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/botctx/botctxtest"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/fakestest"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/store"
)

// The operations know of a store what its suite says. So the usual tests hold the store to that, and the
// thorough ones the operations over it to theirs.
func TestConformance(t *testing.T) {
	t.Parallel()
	rounds.OnlyThorough(t)
	if !isStandIn() {
		botctxtest.RunConformance(t, newHarness)
		return
	}
	requireAllButDefects(t)
}

// The stand-in is slow, and what is between Call and a store is the same for all:
// TestServer_LacksNothing runs this.
func TestConformance_OverCall(t *testing.T) {
	t.Parallel()
	if isStandIn() {
		t.Skip("it runs on the server that lacks nothing, and on one that " + uriVariable + " names")
	}
	rounds.OnlyThorough(t)
	botctxtest.RunConformance(t, botctxtest.OverCall(newHarness))
}

// requireAllButDefects holds the operations on the stand-in to all rules but those that it is
// known to break.
func requireAllButDefects(t *testing.T) {
	t.Helper()
	rules := botctxtest.Rules(operationLacks...)
	t.Logf("the stand-in lacks %q, and is not held to %d of %d rules", operationLacks, len(operationDefects), len(rules))
	for _, rule := range rules {
		check := func(t *testing.T, to witnessed) {
			t.Helper()
			h := newHarness(t)
			h.Lacks = operationLacks
			rule.Check(to, h)
		}
		t.Run(rule.Name, func(t *testing.T) {
			t.Parallel()
			hold(t, operationDefects[rule.Name], check)
		})
	}
}

// newHarness lets the suite reach a platform over a store. The platform panics where a
// set-up fails, so that a witness sees what the stand-in breaks.
func newHarness(t *testing.T) *botctxtest.Harness {
	t.Helper()
	return fakestest.Harness(fakes.New(fakes.Config(func(c *botctx.Config) {
		c.Store = clocked{Store: newStore(t), now: c.Now}
	})))
}

// clocked is a store whose clock is that of a test.
type clocked struct {
	store.Store

	now func() time.Time
}

// Now returns the time of the test.
func (c clocked) Now(context.Context) (time.Time, error) { return c.now(), nil }
