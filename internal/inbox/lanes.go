package inbox

import "sync"

// lanes are those that this process is handling. The zero lanes is ready, and safe for concurrent use.
type lanes struct {
	mu sync.Mutex
	// held has true for a lane for which an event was accepted meanwhile.
	held map[string]bool
	// refused are those that could not be entered, here or since they are held.
	refused map[string]bool
}

// enter begins a lane, unless it is being handled.
func (l *lanes) enter(lane string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, isHeld := l.held[lane]; isHeld {
		return false
	}
	if l.held == nil {
		l.held = map[string]bool{}
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

// has reports whether a lane is being handled.
func (l *lanes) has(lane string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, isHeld := l.held[lane]
	return isHeld
}

// count returns how many lanes are being handled.
func (l *lanes) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.held)
}

// refuse notes that a lane cannot be entered.
func (l *lanes) refuse(lane string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.refused == nil {
		l.refused = map[string]bool{}
	}
	l.refused[lane] = true
}

// isFree notes that a lane can be entered, and reports whether it could not be before.
func (l *lanes) isFree(lane string) (wasRefused bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	wasRefused = l.refused[lane]
	delete(l.refused, lane)
	return wasRefused
}
