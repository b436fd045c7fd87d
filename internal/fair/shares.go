// Package fair divides a bounded number of workers between apps and, within an app, between channels.
//
// [Shares] decides which work may start, so that an app never takes every worker. [Ring] decides which queue
// is next: apps take turns, and within an app its channels, regardless of the lengths of their queues. [Places] lets
// callers wait for places in these turns.
package fair

import "sync"

// Key names a channel of an app.
type Key struct{ App, Channel string }

// Shares counts the places of a pool of workers that apps and channels hold. An app may hold at most half of
// the places that other apps do not hold, rounded up. Within this limit, a channel may hold at most half of
// the places that the app's other channels do not hold, rounded up. With 64 places, one channel alone gets at
// most 16, and an app with several channels at most 32. Runs cannot be preempted, but even if several
// channels hang one after the other, each gets a smaller share, and the next channel still finds a place.
//
// Shares are safe for concurrent use.
type Shares struct {
	mu     sync.Mutex
	places int
	held   int
	// apps and channels map each app and channel to the number of its places. Apps and channels without places have
	// no entry.
	apps     map[string]int
	channels map[Key]int
}

// NewShares returns Shares of a number of places. A number below 1 counts as 1.
func NewShares(places int) *Shares {
	return &Shares{places: max(1, places), apps: map[string]int{}, channels: map[Key]int{}}
}

// Take takes a place for a channel and reports whether it got one. Callers must release a taken place.
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

// May reports whether Take would succeed now.
func (s *Shares) May(k Key) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mayTake(k)
}

// mayTake reports whether Take would succeed now. Callers must hold mu.
func (s *Shares) mayTake(k Key) bool {
	if s.held >= s.places {
		return false
	}
	ofApp, ofChannel := s.apps[k.App], s.channels[k]
	appLimit := half(s.places - (s.held - ofApp))
	return ofApp < appLimit && ofChannel < half(appLimit-(ofApp-ofChannel))
}

// half returns n/2, rounded up.
func half(n int) int { return (n + 1) / 2 }

// Release returns a place from Take.
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

// Held returns the number of taken places.
func (s *Shares) Held() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.held
}

// Free returns the number of free places. Take may refuse a channel although there are free places.
func (s *Shares) Free() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.places - s.held
}
