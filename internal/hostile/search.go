package hostile

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/store"
)

// Opener returns a store that holds what Filled returns, and that calls have not changed, or
// so little that it does not matter.
type Opener func(context.Context) (store.Store, error)

// search is one run of Search.
type search struct {
	open    Opener
	mutator *mutator
	meter   meter
	report  *Report
	world   *World
	// pools are the worst calls so far, of each operation.
	pools []pool
}

// pool is the worst calls of one operation.
type pool struct {
	operation string
	worst     []Found
}

func newSearch(open Opener, seed uint64) *search {
	return &search{open: open, mutator: newMutator(seed), report: &Report{Outcomes: map[boterr.Code]int{}}}
}

// Search tries the known calls for half of the duration at most, and then calls that are like
// the worst so far. The duration is time of processors. A call that is under way at the end is
// waited for.
func Search(ctx context.Context, open Opener, seed uint64, duration time.Duration) (*Report, error) {
	s := newSearch(open, seed)
	isOver := after(duration)
	if err := s.tryKnown(ctx, known(), after(duration/2)); err != nil { //nolint:mnd // Half.
		return s.report, err
	}
	for ; !isOver(); s.report.Generated++ {
		if _, err := s.try(ctx, s.generated()); err != nil {
			return s.report, err
		}
	}
	return s.report, nil
}

// waiting is a known call, and the time that another one of its class took.
type waiting struct {
	call Call
	like time.Duration
}

// tryKnown tries a random call of each class, and then the others, those of cheap classes first.
func (s *search) tryKnown(ctx context.Context, classes []class, isOver func() bool) error {
	random := s.mutator.random
	random.Shuffle(len(classes), func(i, j int) { classes[i], classes[j] = classes[j], classes[i] })
	var others []waiting
	for _, class := range classes {
		s.report.InAll += len(class)
		random.Shuffle(len(class), func(i, j int) { class[i], class[j] = class[j], class[i] })
		if isOver() {
			continue
		}
		cost, err := s.tryOne(ctx, class[0])
		if err != nil {
			return err
		}
		for _, call := range class[1:] {
			others = append(others, waiting{call: call, like: cost.Time})
		}
	}
	slices.SortStableFunc(others, func(a, b waiting) int { return cmp.Compare(a.like, b.like) })
	for ; len(others) > 0 && !isOver(); others = others[1:] {
		if _, err := s.tryOne(ctx, others[0].call); err != nil {
			return err
		}
	}
	return nil
}

// tryOne tries a known call.
func (s *search) tryOne(ctx context.Context, known Call) (Cost, error) {
	s.report.Known++
	return s.try(ctx, known)
}

// after returns what reports whether this process has worked for so long. What other processes
// of the machine take does not count: so a search tries as much beside them.
func after(duration time.Duration) func() bool {
	start := processorTime()
	return func() bool { return processorTime()-start >= duration }
}

// generated is a call that is like one of the worst of an operation.
func (s *search) generated() Call {
	random := s.mutator.random
	worst := s.pools[random.IntN(len(s.pools))].worst
	return s.mutator.mutated(worst[random.IntN(len(worst))].Call)
}

// attempts is how often a call is tried before it counts as beyond the bounds: on a busy machine
// the collector may come too late once.
const attempts = 3

// try runs a call and remembers it.
func (s *search) try(ctx context.Context, call Call) (Cost, error) {
	cost, err := s.cost(ctx, call)
	for again := 1; err == nil && cost.isBroken() && again < attempts; again++ {
		var next Cost
		if next, err = s.cost(ctx, call); next.fitness() < cost.fitness() {
			cost = next
		}
	}
	if err != nil {
		return cost, err
	}
	s.report.take(Found{Call: call, Cost: cost})
	s.keep(Found{Call: call, Cost: cost})
	return cost, nil
}

// cost runs a call in a world that none has changed.
func (s *search) cost(ctx context.Context, call Call) (Cost, error) {
	if s.world == nil {
		store, err := s.open(ctx)
		if err != nil {
			return Cost{}, err
		}
		if s.world, err = NewWorld(store); err != nil {
			return Cost{}, err
		}
	}
	cost, err := s.world.run(ctx, call, &s.meter)
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
	return !slices.ContainsFunc([]string{"count", "fetch", "get"}, func(reading string) bool {
		return strings.HasPrefix(operation, reading)
	})
}

// poolSize is the number of calls of one operation that the search goes on from.
const poolSize = 8

// keep puts a call into the pool of its operation where it is among the worst.
func (s *search) keep(found Found) {
	i := slices.IndexFunc(s.pools, func(p pool) bool { return p.operation == found.Call.Operation })
	if i < 0 {
		s.pools, i = append(s.pools, pool{operation: found.Call.Operation}), len(s.pools)
	}
	p := &s.pools[i]
	p.worst = append(p.worst, found)
	slices.SortStableFunc(p.worst, func(a, b Found) int {
		return int((b.Cost.fitness() - a.Cost.fitness()) * 1_000)
	})
	p.worst = p.worst[:min(len(p.worst), poolSize)]
}
