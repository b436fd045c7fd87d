// Package slots shares the processors between the scripts of apps.
package slots

import (
	"cmp"
	"context"
	"slices"
	"sync"
)

// Slots limits how many scripts compute at the same time. With one slot per processor, each script computes at full
// speed. Slots are safe for concurrent use.
//
// Waiting apps take turns: the next slot goes to the app that holds the fewest, and among these to the app that has
// waited longest for a turn. Within an app, scripts run in order of arrival. So the number of one app's waiting
// scripts does not matter to other apps.
type Slots struct {
	mu sync.Mutex
	// free is the number of free slots. It is 0 while anyone waits.
	free int
	// held is the number of slots that each app holds. Apps without a slot are missing.
	held map[string]int
	// waiting holds a queue for each waiting app, in the order of their turns.
	waiting []*queue
}

// queue holds a channel for each waiting script of an app, at least one, in order of arrival. The channel is closed
// when the script gets a slot.
type queue struct {
	app     string
	scripts []chan struct{}
}

// New returns Slots with the given number of slots.
func New(free int) *Slots { return &Slots{free: free, held: map[string]int{}} }

// Enter waits for a slot for a script of an app. If ctx ends first, it returns the cause of the context. If a slot is
// free, it takes it even if ctx has ended. Callers must call Leave for each slot taken.
func (s *Slots) Enter(ctx context.Context, app string) error {
	given := s.request(app)
	if given == nil {
		return nil
	}
	select {
	case <-given:
		return nil
	case <-ctx.Done():
		if !s.withdraw(app, given) {
			s.Leave(app) // The slot was granted just before ctx ended.
		}
		return context.Cause(ctx)
	}
}

// Take is like Enter without a context, for a script that resumes after an operation.
func (s *Slots) Take(app string) { _ = s.Enter(context.Background(), app) }

// request takes a free slot and returns nil. If none is free, it returns a channel that is closed when the script
// gets a slot.
func (s *Slots) request(app string) chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.free > 0 {
		s.free--
		s.held[app]++
		return nil
	}
	at := s.find(app)
	if at < 0 {
		at = len(s.waiting)
		s.waiting = append(s.waiting, &queue{app: app})
	}
	given := make(chan struct{})
	s.waiting[at].scripts = append(s.waiting[at].scripts, given)
	return given
}

// withdraw stops waiting for a slot. It returns false if the slot has already been granted.
func (s *Slots) withdraw(app string, given chan struct{}) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, script := s.find(app), -1
	if at >= 0 {
		script = slices.Index(s.waiting[at].scripts, given)
	}
	if script >= 0 {
		s.remove(at, script)
	}
	return script >= 0
}

// Leave releases a slot of an app. The app has had its turn, so it moves to the end of the queue.
func (s *Slots) Leave(app string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held[app]--
	if s.held[app] == 0 {
		delete(s.held, app)
	}
	if at := s.find(app); at >= 0 {
		last := s.waiting[at]
		s.waiting = append(slices.Delete(s.waiting, at, at+1), last)
	}
	if len(s.waiting) == 0 {
		s.free++
		return
	}
	next := slices.MinFunc(s.waiting, func(a, b *queue) int { return cmp.Compare(s.held[a.app], s.held[b.app]) })
	s.held[next.app]++
	close(next.scripts[0])
	s.remove(s.find(next.app), 0)
}

// remove removes a script from the queue of an app, and the queue if it is then empty.
func (s *Slots) remove(at, script int) {
	q := s.waiting[at]
	q.scripts = slices.Delete(q.scripts, script, script+1)
	if len(q.scripts) == 0 {
		s.waiting = slices.Delete(s.waiting, at, at+1)
	}
}

// find returns the index of an app's queue, or -1 if the app does not wait.
func (s *Slots) find(app string) int {
	return slices.IndexFunc(s.waiting, func(q *queue) bool { return q.app == app })
}
