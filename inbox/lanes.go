package inbox

import (
	"maps"
	"slices"
	"sync"
)

// lanes are those that this process is handling. It is safe for concurrent use.
type lanes struct {
	mu sync.Mutex
	// held has true for a lane for which an event was accepted meanwhile.
	held map[string]bool
}

// enter begins a lane, unless it is being handled.
func (l *lanes) enter(lane string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, isHeld := l.held[lane]; isHeld {
		return false
	}
	l.held[lane] = false
	return true
}

// leave ends a lane, and reports whether an event was accepted for it meanwhile.
func (l *lanes) leave(lane string) (hasMore bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	hasMore = l.held[lane]
	delete(l.held, lane)
	return hasMore
}

// note notes that an event was accepted for a lane, and reports whether it is free.
func (l *lanes) note(lane string) (isFree bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, isHeld := l.held[lane]; isHeld {
		l.held[lane] = true
		return false
	}
	return true
}

// all returns the lanes in order.
func (l *lanes) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Sorted(maps.Keys(l.held))
}
