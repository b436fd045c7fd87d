package botctx

import (
	"context"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/timelimit"
)

// limitRun returns a ctx that ends once what is done in it has taken longer than Config.MaxRun. Callers must
// call End. While a run waits for another run of its member the limit is paused, since MaxWait bounds that.
func (r *Runtime) limitRun(ctx context.Context) (context.Context, *timelimit.Limit) {
	if r.config.MaxRun < 0 {
		return ctx, nil
	}
	l := r.runRule.Begin(ctx)
	return l, l
}

// runRule returns the limit of a run.
func (c Config) runRule() timelimit.Rule {
	if c.MaxRun < 0 {
		return timelimit.Rule{}
	}
	return timelimit.Rule{Most: c.MaxRun, Over: boterr.New(boterr.Unavailable, "", "the run took longer than Config.MaxRun (%v): "+
		"have it do less, leave what takes long to an agenda, or raise the limit", c.MaxRun)}
}
