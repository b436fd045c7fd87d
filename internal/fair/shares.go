// Package fair divides a limited number of workers between apps and, within an app, between channels.
//
// [Shares] decides who may start: no app can take so many workers that none are left for another. [Ring] decides who
// is next: apps take turns, and so do the channels of an app, no matter how long their queues are.
package fair

import "sync"

// Key names a channel of an app.
type Key struct{ App, Channel string }

// Shares are the places of a pool of workers. An app may hold half of the places that other apps leave, rounded up. A
// channel may hold half of the places that its app may hold and that the app's other channels leave, rounded up. With
// 64 places, one channel alone uses up to 16, and an app with several channels up to 32. So the next app or channel
// always finds a place, even though runs cannot be preempted: if the runs of several channels hang, each further
// channel gets a smaller share.
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

// NewShares returns shares with a number of places, at least one.
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

// mayTake is May for callers that hold mu.
func (s *Shares) mayTake(k Key) bool {
	if s.held >= s.places {
		return false
	}
	ofApp, ofChannel := s.apps[k.App], s.channels[k]
	appLimit := half(s.places - (s.held - ofApp))
	return ofApp < appLimit && ofChannel < half(appLimit-(ofApp-ofChannel))
}

// half returns half of n, rounded up.
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

// Free returns the number of free places. Some channels may not be allowed to take them.
func (s *Shares) Free() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.places - s.held
}
