package agendas

import (
	"maps"
	"slices"
	"sync"
)

// inFlight are the calls of the store that have not come back, by what they are for. It is safe
// for concurrent use.
type inFlight struct {
	mu    sync.Mutex
	calls map[string]int
}

// begin notes a call until end.
func (u *inFlight) begin(what string) (end func()) {
	u.add(what, 1)
	return func() { u.add(what, -1) }
}

// add adds to the number of calls for something.
func (u *inFlight) add(what string, n int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.calls == nil {
		u.calls = map[string]int{}
	}
	if u.calls[what] += n; u.calls[what] == 0 {
		delete(u.calls, what)
	}
}

// names returns what calls are under way for, in order.
func (u *inFlight) names() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return slices.Sorted(maps.Keys(u.calls))
}
