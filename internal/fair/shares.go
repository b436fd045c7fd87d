// Package fair shares a bounded number of workers between apps and, within an app, between channels.
//
// [Shares] decides who may start: an app never takes so much that a newcomer finds nothing. [Ring] decides
// who is next: apps take turns, and within an app its channels, however long their queues are.
package fair

import "sync"

// Key names a channel of an app.
type Key struct{ App, Channel string }

// Shares are the places of a pool of workers. An app may hold half of the places that other apps leave,
// rounded up; a channel may hold half of the places that its app may hold and the app's other channels leave,
// rounded up. With 64 places, one channel alone uses up to 16, and an app with several channels up to 32. So
// the next app or channel finds a place, although runs cannot be preempted: channels that hang one after the
// other each get a smaller share.
//
// Shares are safe for concurrent use.
type Shares struct {
	mu     sync.Mutex
	places int
	held   int
	// apps and channels map each app and channel to the number of places that it holds, without entries for
	// 0.
	apps     map[string]int
	channels map[Key]int
}

// NewShares returns the shares of a number of places, at least one.
func NewShares(places int) *Shares {
	return &Shares{places: max(1, places), apps: map[string]int{}, channels: map[Key]int{}}
}

// Take takes a place for a channel, and reports whether it got one. A place that was taken must be
// released.
func (s *Shares) Take(k Key) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.mayTake(k) {
		return false
	}
	s.held++
	s.apps[k.App]++
	s.channels[k]++
	return true
}

// May reports whether Take would get a place now.
func (s *Shares) May(k Key) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mayTake(k)
}

// mayTake is May for a caller that holds mu.
func (s *Shares) mayTake(k Key) bool {
	if s.held >= s.places {
		return false
	}
	ofApp, ofChannel := s.apps[k.App], s.channels[k]
	appLimit := half(s.places - (s.held - ofApp))
	return ofApp < appLimit && ofChannel < half(appLimit-(ofApp-ofChannel))
}

// half is the half of a number, rounded up.
func half(n int) int { return (n + 1) / 2 }

// Release gives back a place that Take got.
func (s *Shares) Release(k Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held--
	s.apps[k.App]--
	s.channels[k]--
	if s.apps[k.App] == 0 {
		delete(s.apps, k.App)
	}
	if s.channels[k] == 0 {
		delete(s.channels, k)
	}
}

// Held returns the number of places that are taken.
func (s *Shares) Held() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.held
}

// Free returns the number of free places. Not every channel may take them.
func (s *Shares) Free() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.places - s.held
}
