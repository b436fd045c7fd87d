package mongo_test

import (
	"context"
	"testing"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/botctx/botctxtest"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/fakestest"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/storetest"
)

func TestStore(t *testing.T) {
	t.Parallel()
	storetest.RunStore(t, newStore)
}

// The operations know of a store what its suite says. So the usual tests hold the store to that, and the
// thorough ones the operations over it to theirs.
func TestConformance(t *testing.T) {
	t.Parallel()
	rounds.OnlyThorough(t)
	botctxtest.RunConformance(t, newHarness)
}

func TestConformance_FromCaller(t *testing.T) {
	t.Parallel()
	rounds.OnlyThorough(t)
	botctxtest.RunConformance(t, botctxtest.FromCaller(newHarness))
}

// newHarness lets the suite reach a platform over a store.
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
