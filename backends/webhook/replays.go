package webhook

import (
	"sync"
	"time"
)

// replays are the requests that were seen before. They need some 350 bytes each.
type replays struct {
	most   int
	lasts  time.Duration
	lock   sync.Mutex
	active map[replayKey]struct{}
	done   map[replayKey]struct{}
	// order holds the keys of done, oldest first from the index oldest on.
	order  []replay
	oldest int
}

// replayKey is a request of a channel.
type replayKey struct{ app, channel, id string }

// replay is a request that is done, and until when it may come again.
type replay struct {
	key   replayKey
	until time.Time
}

// requestState is what is known of a request.
type requestState int

const (
	isNew requestState = iota
	isActive
	isDone
)

// newReplays returns replays that keep each request for as long as its signature is good: from the
// tolerance before the time of the signature to the tolerance after it.
func newReplays(limits Limits) *replays {
	return &replays{
		most:   limits.MaxRemembered,
		lasts:  2 * limits.Tolerance,
		active: map[replayKey]struct{}{},
		done:   map[replayKey]struct{}{},
	}
}

// begin says what is known of a request. One that is new counts as active from now on, until
// end.
func (r *replays) begin(key replayKey, now time.Time) requestState {
	r.lock.Lock()
	defer r.lock.Unlock()
	r.forget(now)
	if _, ok := r.active[key]; ok {
		return isActive
	}
	if _, ok := r.done[key]; ok {
		return isDone
	}
	r.active[key] = struct{}{}
	return isNew
}

// fail forgets an active request, so that it may come again.
func (r *replays) fail(key replayKey) {
	r.lock.Lock()
	defer r.lock.Unlock()
	delete(r.active, key)
}

// succeed keeps an active request as done.
func (r *replays) succeed(key replayKey, now time.Time) {
	r.lock.Lock()
	defer r.lock.Unlock()
	delete(r.active, key)
	if len(r.done) >= r.most {
		r.drop()
	}
	r.done[key] = struct{}{}
	r.order = append(r.order, replay{key: key, until: now.Add(r.lasts)})
}

// forget drops what cannot come again.
func (r *replays) forget(now time.Time) {
	for r.oldest < len(r.order) && r.order[r.oldest].until.Before(now) {
		r.drop()
	}
}

// drop drops the oldest. The front of order is given back when it is the larger half.
func (r *replays) drop() {
	delete(r.done, r.order[r.oldest].key)
	r.order[r.oldest] = replay{}
	r.oldest++
	if r.oldest > len(r.order)/2 {
		r.order = append([]replay(nil), r.order[r.oldest:]...)
		r.oldest = 0
	}
}
