// Package fair divides a bounded number of workers between apps and, within an app, between channels.
//
// [Shares] decides which work may start, so that an app never takes every worker. [Ring] decides which queue
// is next: apps take turns, and within an app its channels, regardless of the lengths of their queues. [Places] lets
// callers wait for places in these turns.
package fair

import (
	"container/list"
	"context"
	"sync"
)

// Key names a channel of an app.
type Key struct{ App, Channel string }

// Shares counts the places of a pool of workers that apps and channels hold. An app may hold at most half of
// the places that other apps do not hold, rounded up. Within this limit, a channel may hold at most half of
// the places that the app's other channels do not hold, rounded up. With 64 places, one channel alone gets at
// most 16, and an app with several channels at most 32. Runs cannot be preempted, but even if several
// channels hang one after the other, each gets a smaller share, and the next channel still finds a place.
//
// A nil *Shares has a place for everyone. Shares are safe for concurrent use.
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
	if s == nil {
		return true
	}
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
	if s == nil {
		return true
	}
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
	if s == nil {
		return
	}
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

// Ring has a queue for each channel with work, and determines whose turn is next. Apps take turns, and so do the
// channels of an app. The zero Ring is empty. It is not safe for concurrent use.
type Ring[Q any] struct {
	// apps holds values of type *appRing[Q] in the order of their turns. known maps an app to its element.
	apps   list.List
	known  map[string]*list.Element
	queues int
}

type appRing[Q any] struct {
	app string
	// channels holds values of type *channelQueue[Q] in the order of their turns. known maps a channel to its
	// element.
	channels list.List
	known    map[string]*list.Element
}

type channelQueue[Q any] struct {
	channel string
	queue   Q
}

// Find returns the queue of a channel. ok is false if there is none.
func (r *Ring[Q]) Find(k Key) (queue Q, ok bool) {
	if at := r.known[k.App]; at != nil {
		if at := appAt[Q](at).known[k.Channel]; at != nil {
			return queueAt[Q](at).queue, true
		}
	}
	return queue, false
}

// Get returns the queue of a channel. If there is none, it adds the result of create at the end.
func (r *Ring[Q]) Get(k Key, create func() Q) Q {
	if queue, ok := r.Find(k); ok {
		return queue
	}
	at := r.known[k.App]
	if at == nil {
		if r.known == nil {
			r.known = map[string]*list.Element{}
		}
		at = r.apps.PushBack(&appRing[Q]{app: k.App, known: map[string]*list.Element{}})
		r.known[k.App] = at
	}
	app, added := appAt[Q](at), &channelQueue[Q]{k.Channel, create()}
	app.known[k.Channel] = app.channels.PushBack(added)
	r.queues++
	return added.queue
}

// Drop removes the queue of a channel, if any.
func (r *Ring[Q]) Drop(k Key) {
	at := r.known[k.App]
	if at == nil {
		return
	}
	app := appAt[Q](at)
	if at := app.known[k.Channel]; at != nil {
		app.channels.Remove(at)
		delete(app.known, k.Channel)
		r.queues--
	}
	if len(app.known) == 0 {
		r.apps.Remove(at)
		delete(r.known, k.App)
	}
}

// Next calls may for the channel of each queue, in the order of their turns, until it returns true. Next returns that
// queue, and moves it and its app to the end. ok is false if may returned false for all channels.
func (r *Ring[Q]) Next(may func(Key) bool) (k Key, queue Q, ok bool) {
	for ofApp := r.apps.Front(); ofApp != nil; ofApp = ofApp.Next() {
		app := appAt[Q](ofApp)
		for ofChannel := app.channels.Front(); ofChannel != nil; ofChannel = ofChannel.Next() {
			c := queueAt[Q](ofChannel)
			if k = (Key{app.app, c.channel}); may(k) {
				app.channels.MoveToBack(ofChannel)
				r.apps.MoveToBack(ofApp)
				return k, c.queue, true
			}
		}
	}
	return Key{}, queue, false
}

// All calls f with each queue in turn until f returns false. f may drop the queue, but no other.
func (r *Ring[Q]) All(f func(Key, Q) bool) {
	var nextApp, nextChannel *list.Element
	for ofApp := r.apps.Front(); ofApp != nil; ofApp = nextApp {
		nextApp = ofApp.Next()
		app := appAt[Q](ofApp)
		for ofChannel := app.channels.Front(); ofChannel != nil; ofChannel = nextChannel {
			nextChannel = ofChannel.Next()
			if c := queueAt[Q](ofChannel); !f(Key{app.app, c.channel}, c.queue) {
				return
			}
		}
	}
}

// Len returns the number of queues.
func (r *Ring[Q]) Len() int { return r.queues }

// appAt returns the value of an element of Ring.apps.
func appAt[Q any](at *list.Element) *appRing[Q] {
	app, _ := at.Value.(*appRing[Q])
	return app
}

// queueAt returns the value of an element of appRing.channels.
func queueAt[Q any](at *list.Element) *channelQueue[Q] {
	c, _ := at.Value.(*channelQueue[Q])
	return c
}

// Pool decides who may hold its places. Shares and Count are pools.
type Pool interface {
	// Take takes a place for a channel and reports whether it got one.
	Take(k Key) bool
	// May reports whether Take would succeed now.
	May(k Key) bool
	// Release returns a place from Take.
	Release(k Key)
}

// Count is a pool with a number of places. One channel may hold them all. It is not safe for concurrent use.
type Count int

// Take implements Pool.
func (c *Count) Take(k Key) bool {
	if !c.May(k) {
		return false
	}
	*c--
	return true
}

// May implements Pool.
func (c *Count) May(Key) bool { return *c > 0 }

// Release implements Pool.
func (c *Count) Release(Key) { *c++ }

// Places lets callers wait for the places of a pool. Apps that wait take turns, and so do the channels of an app. It is
// safe for concurrent use.
type Places struct {
	mu   sync.Mutex
	pool Pool
	// waiting holds the waiters of each channel, oldest first.
	waiting Ring[*list.List]
}

// NewPlaces returns the places of a pool. Callers must not use the pool afterwards.
func NewPlaces(pool Pool) *Places { return &Places{pool: pool} }

// waiter waits for a place. ready is closed once it has one.
type waiter struct{ ready chan struct{} }

// Take waits for a place. The caller must release it. The error is the context's.
func (p *Places) Take(ctx context.Context, key Key) error {
	p.mu.Lock()
	if p.pool.Take(key) {
		p.mu.Unlock()
		return nil
	}
	w := waiter{make(chan struct{})}
	at := p.waiting.Get(key, list.New).PushBack(w)
	p.mu.Unlock()
	select {
	case <-w.ready:
		return nil
	case <-ctx.Done():
		p.leave(key, w, at)
		return ctx.Err()
	}
}

// leave removes a waiter from its queue. If the waiter has just received a place, leave releases it.
func (p *Places) leave(key Key, w waiter, at *list.Element) {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-w.ready:
		p.pool.Release(key)
		p.serve()
	default:
		p.remove(key, at)
	}
}

// remove removes a waiter from the queue of its channel. The caller holds mu.
func (p *Places) remove(key Key, at *list.Element) {
	queue, _ := p.waiting.Find(key)
	queue.Remove(at)
	if queue.Len() == 0 {
		p.waiting.Drop(key)
	}
}

// Release gives a place back.
func (p *Places) Release(key Key) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pool.Release(key)
	p.serve()
}

// serve gives free places to waiters. The caller holds mu.
func (p *Places) serve() {
	for {
		key, queue, ok := p.waiting.Next(p.pool.May)
		if !ok {
			return
		}
		p.pool.Take(key)
		first := queue.Front()
		close(first.Value.(waiter).ready) //nolint:forcetypeassert // Nothing else is in the queue.
		p.remove(key, first)
	}
}
