package explore

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// schedule runs turns one at a time, each in its goroutine. A turn may hand over at points: calls of operations,
// requests to services, waits. Which turn continues is a decision. Without a switch it is the same turn, or the
// first turn that can continue.
type schedule struct {
	// changes maps decisions, counted from 1, to other turns that continue there.
	changes map[int]int
	// fail is called with the reason why turns do not end.
	fail func(format string, args ...any)

	mu        sync.Mutex
	tasks     []*task
	current   *task
	decisions []decision
	story     story
	// inARow counts the decisions that kept the current turn.
	inARow int
	isOff  bool
	ended  chan struct{}
}

// task is an unfinished turn.
type task struct {
	name string
	// wake receives when the turn continues, and is closed to end it.
	wake     chan struct{}
	at       point
	hasEnded bool
}

// decision is a point at which more than one turn could continue.
type decision struct {
	// others counts the other turns that could continue.
	others int
	// isOperation is true if the point is a call of an operation, or the beginning or end of a turn.
	isOperation bool
}

func newSchedule(changes []change, fail func(string, ...any)) *schedule {
	s := &schedule{changes: map[int]int{}, fail: fail}
	for _, one := range changes {
		s.changes[one.at] = one.to
	}
	return s
}

func (s *schedule) runAll(turns []turn, guarded func(func())) {
	s.mu.Lock()
	s.tasks, s.ended = nil, make(chan struct{})
	for _, one := range turns {
		s.tasks = append(s.tasks, &task{name: one.name, wake: make(chan struct{}, 1), at: point{name: "its beginning", isOperation: true}})
	}
	for i, one := range turns {
		go func(t *task) {
			defer s.leave(t)
			if _, mayGoOn := <-t.wake; mayGoOn {
				guarded(one.run)
			}
		}(s.tasks[i])
	}
	s.handOn(nil)
	s.mu.Unlock()
	<-s.ended
}

func (s *schedule) leave(t *task) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t.hasEnded, t.at = true, point{name: "its end", isOperation: true}
	switch {
	case !slices.ContainsFunc(s.tasks, func(other *task) bool { return !other.hasEnded }):
		s.story.stops(t)
		s.finish()
		close(s.ended)
	case !s.isOff:
		s.handOn(t)
	}
}

// finish removes the finished turns, and ends goroutines that a bot started in a turn and that still wait at a point.
func (s *schedule) finish() {
	if !s.isOff {
		for _, t := range s.tasks {
			close(t.wake)
		}
	}
	s.tasks, s.current = nil, nil
}

// taskKey is the key of the turn that a context belongs to.
type taskKey struct{}

// within returns the context for the current turn's calls.
func (s *schedule) within(ctx context.Context) context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current == nil {
		return ctx
	}
	return context.WithValue(ctx, taskKey{}, s.current)
}

// turnOf returns the current turn if a context belongs to it or to no turn. It returns nil if the context belongs to
// another turn, such as in a goroutine that a bot started there. The caller holds the mutex.
func (s *schedule) turnOf(ctx context.Context) *task {
	if own, isTurn := ctx.Value(taskKey{}).(*task); isTurn && own != s.current {
		return nil
	}
	return s.current
}

// point is a point at which a turn may hand over.
type point struct {
	// name describes the action of the turn there.
	name string
	// isOperation is true if the turn calls an operation, begins or ends there.
	isOperation bool
	// until are the channels that the turn waits for there, if any. isPause is true if other turns continue
	// first.
	until   []<-chan struct{}
	isPause bool
}

// yield may let another turn continue before the action that the point names. It does nothing for goroutines
// outside of the current turn.
func (s *schedule) yield(ctx context.Context, at point) {
	s.mu.Lock()
	t := s.turnOf(ctx)
	if t == nil {
		s.mu.Unlock()
		return
	}
	if !s.isOff {
		t.at = at
		s.handOn(t)
	}
	s.mu.Unlock()
	if _, mayGoOn := <-t.wake; !mayGoOn {
		runtime.Goexit()
	}
	if at.isOperation {
		s.mu.Lock()
		s.story.did(at.name)
		s.mu.Unlock()
	}
}

// wait is the point at which a turn waits for another run of a member.
func (s *schedule) wait(ctx context.Context, member string, turn <-chan struct{}) {
	s.yield(ctx, point{name: "its wait for the run of " + member, until: []<-chan struct{}{turn, ctx.Done()}})
}

// handOn makes the chosen turn continue; the caller holds the mutex. from is the turn at the point, nil at
// the beginning.
func (s *schedule) handOn(from *task) {
	next := s.choose(from)
	if next == nil {
		s.fail("no turn can continue: %s", s.whereAll())
		s.end()
		return
	}
	if next != from {
		s.story.stops(from)
		s.story.continues(next)
	}
	s.current = next
	next.at.until, next.at.isPause = nil, false
	next.wake <- struct{}{}
}

// mostInARow bounds the decisions in a row that keep a turn: a turn that polls for the result of another one
// must not keep it from running.
const mostInARow = 1000

// choose decides which turn continues, or nil if none can.
func (s *schedule) choose(from *task) *task {
	ready := s.ready()
	if len(ready) == 0 {
		return nil
	}
	usual := 0
	if at := slices.Index(ready, from); at >= 0 {
		usual = at
		if s.inARow >= mostInARow {
			usual = (at + 1) % len(ready)
		}
	}
	next := ready[usual]
	if others := slices.Delete(slices.Clone(ready), usual, usual+1); len(others) > 0 {
		s.decisions = append(s.decisions, decision{others: len(others), isOperation: from == nil || from.at.isOperation})
		if to, isChanged := s.changes[len(s.decisions)]; isChanged {
			next = others[to%len(others)]
		}
	}
	if next == from {
		s.inARow++
	} else {
		s.inARow = 0
	}
	return next
}

// ready returns the turns that can continue. It only includes pausing turns if there are no others.
func (s *schedule) ready() []*task {
	var ready, pausing []*task
	for _, t := range s.tasks {
		switch {
		case t.hasEnded || !t.isFree():
		case t.at.isPause:
			pausing = append(pausing, t)
		default:
			ready = append(ready, t)
		}
	}
	if len(ready) == 0 {
		return pausing
	}
	return ready
}

// isFree reports whether the turn's wait is over.
func (t *task) isFree() bool {
	for _, come := range t.at.until {
		select {
		case <-come:
			return true
		default:
		}
	}
	return len(t.at.until) == 0
}

// stop ends all turns at their current points. A nil schedule has none.
func (s *schedule) stop() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.end()
}

// end is stop, for a caller that holds the mutex.
func (s *schedule) end() {
	if s.isOff {
		return
	}
	s.isOff = true
	for _, t := range s.tasks {
		close(t.wake)
	}
}

// whereAll lists the point of each turn that has not ended.
func (s *schedule) whereAll() string {
	var all []string
	for _, t := range s.tasks {
		if !t.hasEnded {
			all = append(all, fmt.Sprintf("%s is before %s", t.name, t.at.name))
		}
	}
	return strings.Join(all, ", ")
}

// whoRuns names the turn that runs, for a reader, or "" without turns.
func (s *schedule) whoRuns() string {
	if s == nil {
		return ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current == nil || s.current.hasEnded {
		return ""
	}
	return fmt.Sprintf("; %s runs at %s", s.current.name, s.current.at.name)
}
