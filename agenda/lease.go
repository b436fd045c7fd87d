package agenda

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/query"
	"github.com/botctx/go-sdk/record"
	"github.com/botctx/go-sdk/store"
)

// beatsPerLease is the number of heartbeats in the time of a lease, and maxMissedBeats how many in
// a row may fail: so a claim that began just after a heartbeat is given up before its lease has
// passed, even where the last heartbeat failed only by its time-out.
const (
	beatsPerLease  = 4
	maxMissedBeats = beatsPerLease - 1
)

// leases are the claims that a Run holds. It is safe for concurrent use.
type leases struct {
	mu   sync.Mutex
	held map[*claim]*lease
}

// lease is what a Run knows of a claim.
type lease struct {
	// cancel ends the run, nil where it has not begun.
	cancel context.CancelCauseFunc
	// missed is the number of beats in a row that failed.
	missed int
}

// add adds a claim.
func (l *leases) add(c *claim) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held[c] = &lease{}
}

// begin notes how the run of a claim is ended, and reports whether the claim still holds.
func (l *leases) begin(c *claim, cancel context.CancelCauseFunc) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	known, ok := l.held[c]
	if ok {
		known.cancel = cancel
	}
	return ok
}

// end takes a claim out.
func (l *leases) end(c *claim) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.held, c)
}

// all returns the claims that are held.
func (l *leases) all() []*claim {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make([]*claim, 0, len(l.held))
	for c := range l.held {
		all = append(all, c)
	}
	return all
}

// renewed notes that a claim was renewed.
func (l *leases) renewed(c *claim) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if known, ok := l.held[c]; ok {
		known.missed = 0
	}
}

// noteMissed notes that a claim was not renewed, and ends it where that came too often.
func (l *leases) noteMissed(c *claim) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if known, ok := l.held[c]; ok {
		known.missed++
		if known.missed >= maxMissedBeats {
			l.loseLocked(c, known)
		}
	}
}

// lose ends a claim that does not hold any more.
func (l *leases) lose(c *claim) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if known, ok := l.held[c]; ok {
		l.loseLocked(c, known)
	}
}

// abandonAll ends all claims where nobody waits for their runs any longer, and returns them in
// the order of their ids.
func (l *leases) abandonAll() []*claim {
	l.mu.Lock()
	defer l.mu.Unlock()
	abandoned := slices.SortedFunc(maps.Keys(l.held), func(a, b *claim) int { return strings.Compare(a.id, b.id) })
	for _, c := range abandoned {
		c.isAbandoned.Store(true)
	}
	clear(l.held)
	return abandoned
}

// loseLocked is lose for a caller that holds the lock.
func (l *leases) loseLocked(c *claim, known *lease) {
	delete(l.held, c)
	if known.cancel != nil {
		known.cancel(ErrLeaseLost)
	}
}

// keepAlive renews the leases until all is drained.
func (s *Scheduler) keepAlive(ctx context.Context, held *leases, drained <-chan struct{}) {
	ticker := time.NewTicker(s.lease / beatsPerLease)
	defer ticker.Stop()
	for {
		select {
		case <-drained:
			return
		case <-ticker.C:
			s.renewAll(ctx, held)
		}
	}
}

// renewAll renews the leases once.
func (s *Scheduler) renewAll(ctx context.Context, held *leases) {
	all := held.all()
	if len(all) == 0 {
		return
	}
	back := s.inFlight.begin("the renewal of leases")
	defer back()
	beat, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.lease/beatsPerLease)
	defer cancel()
	change, err := s.renewal(beat)
	for _, c := range all {
		var holds bool
		if err == nil {
			holds, err = s.renew(beat, c, change)
		}
		switch {
		case err != nil:
			s.log.LogAttrs(ctx, slog.LevelWarn, "agenda: lease not renewed", slog.String("agenda", c.id), slog.String("error", boterr.Text(err)))
			held.noteMissed(c)
		case holds:
			held.renewed(c)
		default:
			held.lose(c)
		}
		if beat.Err() == nil {
			err = nil // The next one may be renewed.
		}
	}
}

// renewal returns the change that renews a lease now.
func (s *Scheduler) renewal(ctx context.Context) (query.Change, error) {
	now, err := s.store.Now(ctx)
	if err != nil {
		return query.Change{}, err
	}
	update, err := query.CompileUpdate(document.O("$set", document.O(fieldLeaseUntil, millis(now.Add(s.lease)))))
	return query.Change{Update: update}, err
}

// renew renews the lease of a claim, and reports whether the claim holds.
func (s *Scheduler) renew(ctx context.Context, c *claim, change query.Change) (bool, error) {
	filter, err := query.CompileFilter(document.O(record.FieldID, c.id, fieldFence, c.fence, fieldLeaseUntil, document.O("$gt", 0)))
	if err != nil {
		return false, err
	}
	result, err := s.agendas.Update(ctx, filter, change, store.UpdateOptions{})
	return result.Matched > 0, err
}
