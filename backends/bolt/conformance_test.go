package bolt_test

import (
	"testing"

	"github.com/botctx/go-sdk/backends/bolt"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/botctx/botctxtest"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/fakestest"
	"github.com/botctx/go-sdk/internal/rounds"
)

// The operations of a platform whose records are in a file obey the rules that those of
// one in memory obey.
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

func newHarness(t *testing.T) *botctxtest.Harness {
	t.Helper()
	return fakestest.Harness(fakes.New(fakes.For(t), fakes.Config(func(c *botctx.Config) {
		c.Store = open(t, newPath(t), bolt.WithNow(c.Now))
	})))
}
