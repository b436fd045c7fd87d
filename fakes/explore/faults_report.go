package explore

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// report says what a search came to that found nothing: how many faults were planned and met, and by name those that
// no call met, and those that were never tried.
func (f *faultSearch) report(plans int, singles []fault) string {
	var unmet, untried []fault
	for one := range f.planned {
		if !f.met[one] {
			unmet = append(unmet, one)
		}
	}
	for _, one := range singles {
		if !f.planned[one] {
			untried = append(untried, one)
		}
	}
	text := fmt.Sprintf("explore: the property holds under %d plans. They had %d different faults, of which calls met %d",
		plans, len(f.planned), len(f.met))
	if len(unmet) > 0 {
		text += fmt.Sprintf(". No call met %d:\n%s", len(unmet), indented(byCall(unmet)))
	}
	if len(untried) > 0 {
		text += fmt.Sprintf("\nOf the %d faults of its calls %d were never tried, for which %d plans are enough:\n%s",
			len(singles), len(untried), plansFor(len(singles)), indented(byCall(untried)))
	}
	if left := len(f.ofOperations) + len(f.ofRequests); left > 0 {
		text += fmt.Sprintf("\nFaults bring about calls of their own, such as a second attempt: %d plans with these were never tried.", left)
	}
	return text
}

// plansFor returns how many plans try each of so many single things: every second plan is of one.
func plansFor(singles int) int { return 2 * singles } //nolint:mnd // Every second one, see search.round.

// byCall names faults as Variable has them, a line for each call: "sendResponse#1=timesOut,crashes".
func byCall(faults []fault) string {
	slices.SortFunc(faults, func(a, b fault) int {
		return cmp.Or(strings.Compare(targetOf(a), targetOf(b)), cmp.Compare(a.n, b.n), cmp.Compare(a.way, b.way))
	})
	var lines []string
	call := ""
	for _, one := range faults {
		way := wayNames()[one.way]
		if name := nameOfCall(one); name != call {
			call = name
			lines = append(lines, name+"="+way)
		} else {
			lines[len(lines)-1] += "," + way
		}
	}
	return strings.Join(lines, "\n")
}
