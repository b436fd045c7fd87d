package script

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/botctx/go-sdk/boterr"
)

// spent is what a run has used up of its limits, together with the scripts that run within its operations, such as those
// of a node to which it redirects. Each has an instance of its own.
type spent struct {
	depth int
	*shared
}

// shared is the part of spent that all of them share.
type shared struct{ calls, busy atomic.Int64 }

// spentKey is the key of spent in the context of operations.
type spentKey struct{}

// deepestNested is how deep scripts may run within operations of each other. Each takes the memory of a script.
const deepestNested = 8

// within makes the run share the limits of the run in whose operation it is, if there is one. The context is the one of
// its operations.
func (r *run) within(ctx context.Context) (context.Context, error) {
	outer, isNested := ctx.Value(spentKey{}).(spent)
	if !isNested {
		outer.shared = &shared{}
	}
	if outer.depth == deepestNested {
		return nil, boterr.New(boterr.ResourceExhausted, "",
			"scripts that call each other through operations are nested more than %d deep", deepestNested)
	}
	r.spent = spent{outer.depth + 1, outer.shared}
	return context.WithValue(ctx, spentKey{}, r.spent), nil
}

// computed is how long scripts have computed, as far as spend has counted it.
func (s spent) computed() time.Duration { return time.Duration(s.busy.Load()) }

// spend counts how long the script has computed since the last spend.
func (r *run) spend() {
	busy := r.in.Busy()
	r.busy.Add(int64(busy - r.counted))
	r.counted = busy
}

// sharing calls an operation. What scripts compute within it counts as what this one computes.
func (r *run) sharing(operation func()) {
	r.spend()
	before := r.computed()
	operation()
	others := r.computed() - before
	r.in.Charge(others)
	r.counted += others
}
