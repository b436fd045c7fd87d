package lease

import (
	"context"
	"sync"
	"time"
)

// BeatsPerLease is the number of renewals in the time of a lease, and maxMissedBeats how many in
// a row may fail: so a claim that began just after a renewal is given up before its lease has
// passed, even where the last renewal failed only by its time-out.
const (
	BeatsPerLease  = 4
	maxMissedBeats = BeatsPerLease - 1
)

// Shortest is the shortest time that a lease may last: leases are kept in milliseconds, and renewed
// several times.
const Shortest = 20 * time.Millisecond

// Held are the claims of type C that a process holds. NewHeld makes one. It is safe for concurrent
// use.
type Held[C comparable] struct {
	lost error

	mu   sync.Mutex
	held map[C]*holding
}

// holding is what is known of a claim.
type holding struct {
	// cancel ends the run, nil where it has not begun.
	cancel context.CancelCauseFunc
	// missed is the number of renewals in a row that failed.
	missed int
}

// NewHeld returns no claims yet. lost is the context.Cause of a run whose claim is lost.
func NewHeld[C comparable](lost error) *Held[C] {
	return &Held[C]{lost: lost}
}

// Add adds a claim.
func (h *Held[C]) Add(c C) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.held == nil {
		h.held = map[C]*holding{}
	}
	h.held[c] = &holding{}
}

// Begin notes how the run of a claim is ended, and reports whether the claim still holds.
func (h *Held[C]) Begin(c C, cancel context.CancelCauseFunc) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	known, ok := h.held[c]
	if ok {
		known.cancel = cancel
	}
	return ok
}

// End takes a claim out.
func (h *Held[C]) End(c C) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.held, c)
}

// All returns the claims that are held, in no order.
func (h *Held[C]) All() []C {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := make([]C, 0, len(h.held))
	for c := range h.held {
		all = append(all, c)
	}
	return all
}

// Take takes all claims out, calls of for each before anything else can be done with it, and
// returns them in no order. Their runs go on.
func (h *Held[C]) Take(of func(C)) []C {
	h.mu.Lock()
	defer h.mu.Unlock()
	taken := make([]C, 0, len(h.held))
	for c := range h.held {
		of(c)
		taken = append(taken, c)
	}
	clear(h.held)
	return taken
}

// Renewed notes that a claim was renewed.
func (h *Held[C]) Renewed(c C) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if known, ok := h.held[c]; ok {
		known.missed = 0
	}
}

// Missed notes that a claim was not renewed, and loses it where that came too often.
func (h *Held[C]) Missed(c C) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if known, ok := h.held[c]; ok {
		known.missed++
		if known.missed >= maxMissedBeats {
			h.loseLocked(c, known)
		}
	}
}

// Lose takes a claim out that does not hold any more, and ends its run.
func (h *Held[C]) Lose(c C) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if known, ok := h.held[c]; ok {
		h.loseLocked(c, known)
	}
}

// loseLocked is Lose for a caller that holds the lock.
func (h *Held[C]) loseLocked(c C, known *holding) {
	delete(h.held, c)
	if known.cancel != nil {
		known.cancel(h.lost)
	}
}

// Keep calls beat in each quarter of a lease, which is to call RenewAll, until done is closed.
func Keep(lease time.Duration, done <-chan struct{}, beat func()) {
	ticker := time.NewTicker(lease / BeatsPerLease)
	defer ticker.Stop()
	for {
		select {
		case <-done:
			return
		case <-ticker.C:
			beat()
		}
	}
}

// RenewAll renews all claims once, each by renew, which reports whether the claim holds. failure
// is why none can be renewed, if so. told is called with each one that is not renewed for an error.
// Once ctx has ended all that are left fail with the last error.
func (h *Held[C]) RenewAll(
	ctx context.Context, failure error, renew func(context.Context, C) (bool, error), told func(C, error),
) {
	err := failure
	for _, c := range h.All() {
		var holds bool
		if err == nil {
			holds, err = renew(ctx, c)
		}
		switch {
		case err != nil:
			told(c, err)
			h.Missed(c)
		case holds:
			h.Renewed(c)
		default:
			h.Lose(c)
		}
		if ctx.Err() == nil {
			err = failure // The next one may be renewed.
		}
	}
}
