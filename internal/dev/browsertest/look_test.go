package browsertest_test

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/fakes/simulator"
)

// changing is a bot that logs what it hears, and that can be changed while it runs.
type changing struct {
	log simulator.Log
	// isBroken tells that the next look finds something wrong, isLooked that the last change was found.
	isBroken, isLooked atomic.Bool
}

func (c *changing) look() ([]*botctx.Node, bool, error) {
	if c.isLooked.Swap(true) {
		return nil, false, nil
	}
	if c.isBroken.Load() {
		return nil, true, boterr.Invalid("", "2 problems:\n  order.js:2:4: Unexpected \";\"\n  nodes.json:4:3: there is no node menue")
	}
	logger := slog.New(c.log.Handler())
	return append(nodes(), &botctx.Node{
		ID: "log", Global: botctx.GlobalInTree, Trigger: botctx.TextIs("log"),
		Pre: botctx.Do(func(ctx context.Context, bot *botctx.Context) error {
			logger.InfoContext(ctx, "it heard "+bot.MessageEvent.Text(), "script", "order.js:2")
			logger.WarnContext(ctx, "and fails")
			return boterr.New(boterr.Unavailable, "", "order.js:3:7: the till does not answer")
		}),
	}), true, nil
}

// breaks lets the next look find something wrong.
func (c *changing) breaks() {
	c.isBroken.Store(true)
	c.isLooked.Store(false)
}

func TestPage_ShowsWhatIsLoggedAndWhatIsBroken(t *testing.T) {
	t.Parallel()
	var bot changing
	p := openWith(t, simulator.Simulator{Reload: bot.look, Log: &bot.log})
	p.says("log")
	p.sees(".panel .lines", "it heard log script order.js:2")
	p.sees(".panel .problem", "order.js:3:7: the till does not answer")
	bot.breaks()
	p.sees(".problems", "The bot stays as it was.")
	p.says("hi")
	p.sees(".log", "Hello Ada!")
	p.goes(p.url + "?view=why")
	for _, look := range looks(t) {
		p.looksAs(look)
		p.keepsNobodyOut(axe(t), "broken", look)
	}
}
