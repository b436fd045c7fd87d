package hostile

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// Found is a call and what it took.
type Found struct {
	Call Call
	Cost Cost
}

// Report says what a search found.
type Report struct {
	Tried           int
	Slowest, Widest Found
	// Broken are the calls that took more than is allowed, each time that they were tried.
	Broken []Found
}

// String shows the worst calls.
func (r *Report) String() string {
	text := fmt.Sprintf("%d calls tried\nslowest: %v, %s\nwidest: %d MiB, %s",
		r.Tried, r.Slowest.Cost.Time.Round(time.Millisecond), r.Slowest.Call, r.Widest.Cost.Memory>>20, r.Widest.Call)
	for _, found := range r.Broken {
		text += fmt.Sprintf("\nBEYOND THE BOUNDS: %v, %d MiB, %s",
			found.Cost.Time.Round(time.Millisecond), found.Cost.Memory>>20, found.Call)
	}
	return text
}

// Search tries the known calls, and then calls that are like the worst so far, until a
// duration has passed. Each world is used until a call has changed it; open makes the store
// of the next one.
func Search(ctx context.Context, open func() document.Store, seed uint64, duration time.Duration) (*Report, error) {
	s := &search{open: open, mutator: newMutator(seed), report: &Report{}}
	end := time.Now().Add(duration)
	for _, call := range seeds() {
		if err := s.try(ctx, call); err != nil {
			return s.report, err
		}
		if ctx.Err() != nil {
			return s.report, ctx.Err()
		}
	}
	for time.Now().Before(end) {
		parent := s.pool[s.mutator.random.IntN(len(s.pool))]
		if err := s.try(ctx, s.mutator.mutated(parent.Call)); err != nil {
			return s.report, err
		}
	}
	return s.report, nil
}

type search struct {
	open    func() document.Store
	mutator *mutator
	report  *Report
	world   *World
	// pool are the worst calls so far.
	pool []Found
}

// poolSize is the number of calls that the search goes on from.
const poolSize = 60

// attempts is how often a call is tried before it counts as beyond the bounds.
const attempts = 3

// try runs a call and remembers it.
func (s *search) try(ctx context.Context, call Call) error {
	cost, err := s.cost(ctx, call)
	for again := 1; err == nil && cost.fitness() > 1 && again < attempts; again++ {
		var next Cost
		if next, err = s.cost(ctx, call); next.fitness() < cost.fitness() {
			cost = next
		}
	}
	if err != nil {
		return err
	}
	s.report.take(Found{Call: call, Cost: cost})
	s.keep(Found{Call: call, Cost: cost})
	return nil
}

// cost runs a call in a world that none has changed.
func (s *search) cost(ctx context.Context, call Call) (Cost, error) {
	if s.world == nil {
		var err error
		if s.world, err = NewWorld(ctx, s.open()); err != nil {
			return Cost{}, err
		}
	}
	cost, err := s.world.Run(ctx, call)
	if cost.Err == nil && changes(call.Operation) {
		s.world = nil
	}
	if boterr.CodeOf(cost.Err) == boterr.Internal {
		return cost, fmt.Errorf("%s: %w", call, cost.Err)
	}
	return cost, err
}

// changes reports whether an operation writes.
func changes(operation string) bool {
	return slices.Contains([]string{
		"patchDataToDataSource", "findAndModifyDataFromDataSource", "findAndModifyMember", "patchMembers",
	}, operation)
}

// keep puts a call into the pool where it is among the worst.
func (s *search) keep(found Found) {
	s.pool = append(s.pool, found)
	slices.SortStableFunc(s.pool, func(a, b Found) int {
		return int((b.Cost.fitness() - a.Cost.fitness()) * 1_000)
	})
	s.pool = s.pool[:min(len(s.pool), poolSize)]
}

// take counts a call.
func (r *Report) take(found Found) {
	r.Tried++
	if found.Cost.Time > r.Slowest.Cost.Time {
		r.Slowest = found
	}
	if found.Cost.Memory > r.Widest.Cost.Memory {
		r.Widest = found
	}
	if found.Cost.fitness() > 1 {
		r.Broken = append(r.Broken, found)
	}
}
