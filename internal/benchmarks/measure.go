package main

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"time"
)

// timing is the time of processors that work takes once, its share of collecting garbage included, in
// nanoseconds; lacking where the engine has no means.
type timing float64

// lacking is the timing of work that an engine does not offer.
const lacking timing = -1

// compete runs a task with engines in turns and returns the medians by their columns; zero where
// an engine takes no part.
func compete(ctx context.Context, t task, s settings, columns ...int) ([]timing, error) {
	var sessions []*session
	defer func() {
		for _, started := range sessions {
			started.close()
		}
	}()
	var turns []*turn
	for _, column := range columns {
		started, err := contenders[column].start(ctx, t)
		if err != nil {
			return nil, err
		}
		sessions = append(sessions, started)
		turns = append(turns, &turn{do: started.do})
	}
	measured, err := medians(turns, s)
	if err != nil {
		return nil, err
	}
	timings := make([]timing, len(contenders))
	for i, column := range columns {
		timings[column] = measured[i]
	}
	return timings, nil
}

// medians lets each have its turn in every round.
func medians(turns []*turn, s settings) ([]timing, error) {
	for range s.rounds {
		for _, t := range turns {
			runtime.GC() //nolint:revive // Nobody is to clean up after another one in the time that is measured.
			if err := t.take(s.slice); err != nil {
				return nil, err
			}
		}
	}
	timings := make([]timing, 0, len(turns))
	for _, t := range turns {
		timings = append(timings, t.median())
	}
	return timings, nil
}

// turn is work that is measured now and then.
type turn struct {
	do func(round int) error
	// round counts how often the work was done.
	round   int
	lacking bool
	timings []timing
}

// tooSlow is the time beyond which work is measured only once.
const tooSlow = timing(time.Second)

// take does the work again and again for a slice of time, in bundles that double,
// and notes the time of one.
func (t *turn) take(slice time.Duration) error {
	if t.lacking || len(t.timings) > 0 && t.timings[0] > tooSlow {
		return nil
	}
	begin, done := processorTime(), 0
	for bundle := 1; ; bundle *= 2 {
		for range bundle {
			if err := t.do(t.round); err != nil {
				t.lacking = errors.Is(err, errLacking)
				if t.lacking {
					return nil
				}
				return err
			}
			t.round++
		}
		done += bundle
		if passed := processorTime() - begin; passed >= slice {
			t.timings = append(t.timings, timing(passed)/timing(done))
			return nil
		}
	}
}

func (t *turn) median() timing {
	if t.lacking {
		return lacking
	}
	slices.Sort(t.timings)
	return t.timings[len(t.timings)/2]
}

// timingOf measures work of memstore alone.
func timingOf(s settings, do func(round int) error) (timing, error) {
	timings, err := medians([]*turn{{do: do}}, s)
	if err != nil {
		return 0, err
	}
	return timings[0], nil
}
