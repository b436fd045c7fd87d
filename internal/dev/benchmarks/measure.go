package main

import (
	"fmt"
	"runtime"
	"slices"
	"time"
)

// timing is the time of processors that work takes once, its share of collecting garbage included, in
// nanoseconds.
type timing float64

// String shows a timing with two digits and its unit.
func (t timing) String() string {
	switch {
	case t < timing(time.Microsecond):
		return shortNumber(float64(t)) + " ns"
	case t < timing(time.Millisecond):
		return shortNumber(float64(t/timing(time.Microsecond))) + " µs"
	case t < timing(time.Second):
		return shortNumber(float64(t/timing(time.Millisecond))) + " ms"
	default:
		return shortNumber(float64(t/timing(time.Second))) + " s"
	}
}

// shortNumber shows two digits, all of those before the point.
func shortNumber(x float64) string {
	if x < 10 {
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.0f", x)
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
	timings []timing
}

// tooSlow is the time beyond which work is measured only once.
const tooSlow = timing(time.Second)

// take does the work again and again for a slice of time, in bundles that double,
// and notes the time of one.
func (t *turn) take(slice time.Duration) error {
	if len(t.timings) > 0 && t.timings[0] > tooSlow {
		return nil
	}
	begin, done := processorTime(), 0
	for bundle := 1; ; bundle *= 2 {
		for range bundle {
			if err := t.do(t.round); err != nil {
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
	slices.Sort(t.timings)
	return t.timings[len(t.timings)/2]
}
