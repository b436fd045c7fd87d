package script

import (
	"context"
	"runtime"
	"slices"
	"sync"
)

// slots are the places of scripts that compute: as many as there are processors, so that what a script
// computes takes as long as if it were alone, and is what it is charged for. Who comes first is served first.
type slots struct {
	mu   sync.Mutex
	free int
	// waiting has a channel for each that waits, in their order. It is closed where the slot is its own.
	waiting []chan struct{}
}

// newSlots returns the slots of an engine.
func newSlots() *slots { return &slots{free: runtime.GOMAXPROCS(0)} }

// enterAtOnce takes a slot where there is one.
func (s *slots) enterAtOnce() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.free == 0 {
		return false
	}
	s.free--
	return true
}

// enter takes a slot, and waits for one until ctx ends, whose cause is the error then.
func (s *slots) enter(ctx context.Context) error {
	mine := s.queue()
	if mine == nil {
		return nil
	}
	select {
	case <-mine:
		return nil
	case <-ctx.Done():
		s.giveUp(mine)
		return context.Cause(ctx)
	}
}

// take takes a slot, and waits for one for as long as it takes.
func (s *slots) take() {
	if mine := s.queue(); mine != nil {
		<-mine
	}
}

// queue takes a slot, and returns nil; or a channel that is closed when there is one.
func (s *slots) queue() chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.free > 0 {
		s.free--
		return nil
	}
	mine := make(chan struct{})
	s.waiting = append(s.waiting, mine)
	return mine
}

// giveUp waits no longer. Who was given a slot meanwhile gives it back.
func (s *slots) giveUp(mine chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at := slices.Index(s.waiting, mine); at >= 0 {
		s.waiting = slices.Delete(s.waiting, at, at+1)
		return
	}
	s.handOn()
}

// leave gives a slot back.
func (s *slots) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handOn()
}

// handOn gives a slot to who has waited for longest.
func (s *slots) handOn() {
	if len(s.waiting) == 0 {
		s.free++
		return
	}
	close(s.waiting[0])
	s.waiting = slices.Delete(s.waiting, 0, 1)
}
