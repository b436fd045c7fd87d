package agendas

import (
	"math"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/botctx/go-sdk/store"
)

// topic is the topic of notices. A notice is the time, in Unix milliseconds, from which an agenda can be claimed.
const topic = "agendas"

// notify sends a notice for an agenda that can be claimed from a time on, if the store supports notices. It does
// nothing for the zero time.
func notify(database store.Store, at time.Time) {
	if notifier, ok := database.(store.Notifier); ok && !at.IsZero() {
		notifier.Notify(topic, strconv.FormatInt(millis(at), 10))
	}
}

// alarm decides how long a scheduler over a shared store waits for the next agenda. If the store sends notices, the
// scheduler waits until the next known time, and otherwise queries the store only rarely, in case notices were lost.
type alarm struct {
	// notifier is nil if the store sends no notices.
	notifier store.Notifier
	wake     chan struct{}

	mu sync.Mutex
	// stop ends the subscription to notices. It is nil before the first look.
	stop func()
	// times are the future times from notices, in milliseconds, in ascending order.
	times []int64
	// seen is the time of the last query. next is the time of the first agenda that it found for later.
	seen, next int64
	// until is the time until which the scheduler waits, or 0 if it does not wait.
	until int64
	// isRinging is true if an agenda may have fallen due since the last query.
	isRinging bool
}

const (
	// pollsPerLook is the number of polling intervals per query of a store that supports notices.
	pollsPerLook = 10
	// maxTimes is the maximum length of times. Regular queries find the agendas of later times.
	maxTimes = 10_000
)

func newAlarm(database store.Store) *alarm {
	notifier, _ := database.(store.Notifier)
	return &alarm{notifier: notifier, wake: make(chan struct{}, 1)}
}

// looks prepares a search for due agendas at now. It returns false if the store sends no notices. Otherwise the caller
// must find the time of the next agenda and call set.
func (a *alarm) looks(now int64) bool {
	if a.notifier == nil {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.stop == nil {
		a.stop = a.notifier.Listen(topic, a.heard)
	}
	passed, _ := slices.BinarySearch(a.times, now+1)
	a.isRinging = a.isRinging || passed > 0 || a.next <= now
	a.seen, a.until, a.next = now, 0, math.MaxInt64
	a.times = slices.Delete(a.times, 0, passed)
	return true
}

// rings reports whether an agenda may have fallen due since the last query.
func (a *alarm) rings() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.isRinging && a.notifier != nil
}

// silence is called before a query of the store.
func (a *alarm) silence() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.isRinging = false
}

// set records the result of the query: the time of the next agenda.
func (a *alarm) set(next int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.next = next
}

// idle returns how long to wait after a query at now. Without notices it returns atMost.
func (a *alarm) idle(now int64, atMost time.Duration) time.Duration {
	if a.notifier == nil {
		return atMost
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.until = min(a.next, now+(pollsPerLook*atMost).Milliseconds())
	if len(a.times) > 0 {
		a.until = min(a.until, a.times[0])
	}
	return max(time.Millisecond, time.Duration(a.until-now)*time.Millisecond)
}

// heard handles a notice. Its text is the time of an agenda in milliseconds, or "" if notices may be lost.
func (a *alarm) heard(text string) {
	at, err := strconv.ParseInt(text, 10, 64)
	if err != nil { // Look at once.
		at = 0
	}
	a.expect(at)
}

// expect makes the scheduler look at the store at a time, or at once if the time has passed.
func (a *alarm) expect(at int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if at > a.seen {
		if place, isKnown := slices.BinarySearch(a.times, at); !isKnown {
			a.times = slices.Insert(a.times, place, at)
			a.times = a.times[:min(len(a.times), maxTimes)]
		}
		if at >= a.until {
			return
		}
	} else {
		a.isRinging = true
	}
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

// end ends the subscription to notices, until the next look.
func (a *alarm) end() {
	a.mu.Lock()
	stop := a.stop
	a.stop, a.times = nil, nil
	a.mu.Unlock()
	if stop != nil {
		stop()
	}
}
