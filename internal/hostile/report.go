package hostile

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/boterr"
)

// Found is a call and what it took.
type Found struct {
	Call Call
	Cost Cost
}

// Report says what a search found.
type Report struct {
	// Known and Generated are the calls that were tried, InAll is the number of known ones.
	Known, Generated, InAll int
	// Outcomes is how often a call ended with each code, "" where it was answered.
	Outcomes map[boterr.Code]int
	// Slowest and Widest are the calls that took most time and most memory.
	Slowest, Widest Found
	// Broken are the calls that took more than is allowed, each time that they were tried.
	Broken []Found
}

// String shows the worst calls.
func (r *Report) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%d of %d known calls tried, and %d generated ones; ", r.Known, r.InAll, r.Generated)
	for i, code := range slices.Sorted(maps.Keys(r.Outcomes)) {
		fmt.Fprintf(&text, "%.*s%s: %d", 2*i, ", ", cmp.Or(string(code), "answered"), r.Outcomes[code]) //nolint:mnd // A comma.
	}
	fmt.Fprintf(&text, "\nslowest: %v\nwidest: %v", r.Slowest, r.Widest)
	for _, found := range r.Broken {
		fmt.Fprintf(&text, "\nBEYOND THE BOUNDS: %v", found)
	}
	return text.String()
}

// String shows the cost and the call.
func (f Found) String() string { return fmt.Sprintf("%v: %v", f.Cost, f.Call) }

// take counts a call.
func (r *Report) take(found Found) {
	r.Outcomes[boterr.CodeOf(found.Cost.Err)]++
	if found.Cost.Time > r.Slowest.Cost.Time {
		r.Slowest = found
	}
	if found.Cost.Memory > r.Widest.Cost.Memory {
		r.Widest = found
	}
	if found.Cost.isBroken() {
		r.Broken = append(r.Broken, found)
	}
}
