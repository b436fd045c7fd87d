package hostile

import (
	"context"
	"fmt"
	"slices"
	"strings"
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
	Tried int
	// Untried are the known calls for which there was no time.
	Untried         int
	Slowest, Widest Found
	// Broken are the calls that took more than is allowed, each time that they were tried.
	Broken []Found
}

// String shows the worst calls.
func (r *Report) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%d calls tried, %d known ones not\nslowest: %v, %s\nwidest: %d MiB, %s",
		r.Tried, r.Untried, r.Slowest.Cost.Time.Round(time.Millisecond), r.Slowest.Call, r.Widest.Cost.Memory>>20, r.Widest.Call)
	for _, found := range r.Broken {
		fmt.Fprintf(&text, "\nBEYOND THE BOUNDS: %v, %d MiB, %s",
			found.Cost.Time.Round(time.Millisecond), found.Cost.Memory>>20, found.Call)
	}
	return text.String()
}

// Opener opens a store that holds what Filled returns and that nobody has changed.
type Opener func() (document.Store, error)

// search is one run of Search.
type search struct {
	open    Opener
	mutator *mutator
	report  *Report
	world   *World
	// pool are the worst calls so far.
	pool []Found
}

// Search tries the known calls, in an order that the seed gives, and then calls that are
// like the worst so far, until ctx ends; a call that is under way then is waited for. Each world is used until a call has changed it.
func Search(ctx context.Context, open Opener, seed uint64) (*Report, error) {
	s := &search{open: open, mutator: newMutator(seed), report: &Report{}}
	known := seeds()
	s.mutator.random.Shuffle(len(known), func(i, j int) { known[i], known[j] = known[j], known[i] })
	for ctx.Err() == nil {
		call := s.next(&known)
		if err := s.try(ctx, call); err != nil {
			return s.report, err
		}
	}
	s.report.Untried = len(known)
	return s.report, nil
}

// next takes the next of the known calls, and when there are none makes a call.
func (s *search) next(known *[]Call) Call {
	if len(*known) == 0 {
		parent := s.pool[s.mutator.random.IntN(len(s.pool))]
		return s.mutator.mutated(parent.Call)
	}
	call := (*known)[0]
	*known = (*known)[1:]
	return call
}

// poolSize is the number of calls that the search goes on from.
const poolSize = 60

// attempts is how often a call is tried before it counts as beyond the bounds.
const attempts = 3

// try runs a call and remembers it.
func (s *search) try(ctx context.Context, call Call) error {
	whole := context.WithoutCancel(ctx)
	cost, err := s.cost(whole, call)
	for again := 1; err == nil && cost.fitness() > 1 && again < attempts; again++ {
		var next Cost
		if next, err = s.cost(whole, call); next.fitness() < cost.fitness() {
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
		store, err := s.open()
		if err != nil {
			return Cost{}, err
		}
		if s.world, err = NewWorld(store); err != nil {
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
