package explore

import (
	"runtime"
	"strings"

	"github.com/botctx/go-sdk/fakes"
)

// Go gives the run a turn: what a member, an agent or the time does at once with the other turns. name is
// what it is called where the property does not hold. Wait runs the turns.
//
//	t.Go("Ada", func() { ada.Says("buy") })
//	t.Go("time", func() { p.Advance(time.Hour) })
//	t.Wait()
func (t *T) Go(name string, run func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.turns = append(t.turns, turn{name, run})
}

// Wait runs what Go was given since the last Wait, and returns when all turns have ended: one after the
// other under Faults, and in the order of the round under Orders. It is called at the end of the property,
// too. Where a turn has failed so that the run ends, it does.
func (t *T) Wait() {
	t.mu.Lock()
	turns := t.turns
	t.turns = nil
	t.mu.Unlock()
	switch {
	case len(turns) == 0:
	case t.schedule != nil:
		t.schedule.runAll(turns, t.guarded)
	default:
		for _, one := range turns {
			one.run()
		}
	}
	t.mu.Lock()
	isOver := t.isOver
	t.mu.Unlock()
	if isOver {
		runtime.Goexit()
	}
}

// Switch is a point of the test's own at which another turn may go on under Orders, such as in a fake of
// the test's that a bot asks. at is what is done there.
func (t *T) Switch(at string) {
	if t.schedule != nil {
		t.schedule.yield(t.ctx, point{name: at})
	}
}

// isAmidLock reports whether the SDK holds a lock while it asks the store: no other turn could go on
// there. These are the requests by which the inbox keeps its own records.
func isAmidLock(asked fakes.Request) bool {
	_, collection, _ := strings.Cut(asked.Name, " ")
	return asked.Service == fakes.ServiceStore && strings.HasPrefix(collection, "inbox") || strings.HasPrefix(asked.Name, "ensureIndex ")
}
