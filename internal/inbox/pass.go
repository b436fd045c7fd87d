package inbox

import (
	"container/list"
	"context"
	"time"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/fair"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// pass is a way through the queue of events, in the order of their acceptance.
type pass struct {
	isUnderWay bool
	// after is when the last event was accepted that was looked at, and there are the ids of those that
	// were accepted at that time.
	after int64
	there []any
	// skipped are channels that the pass has left out, since enough of their lanes are known, and since is
	// after at the first of them.
	skipped map[fair.Key]bool
	since   int64
	// long are lanes with so many events that the rest of the pass leaves them out.
	long []any
}

const (
	// skips is the number of channels, and of lanes, that a pass leaves out at most.
	skips = 64
	// many is the number of events in a page from which on a lane is left out of the next ones.
	many = pageSize / 16
)

// further adds the next lanes of the pass to the fresh ones that are not known to be held or to wait.
func (s *shared) further(ctx context.Context, now time.Time, want want) error {
	page, err := s.page(ctx, now, s.crowded(want))
	if err != nil {
		return err
	}
	s.pass.isUnderWay = len(page) == pageSize
	for _, o := range page {
		at, _ := o.Value(fieldAcceptedAt).(int64)
		if at != s.pass.after {
			s.pass.after, s.pass.there = at, nil
		}
		s.pass.there = append(s.pass.there, idOf(o))
	}
	s.leaveOutLong(page)
	if err := s.repairLanes(ctx, page); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range page {
		if retryAtOf(o) > int64(document.TimestampOf(now)) {
			delete(s.waiting, laneOf(o)) // The clock was set back: see isPaused.
		}
	}
	for _, lane := range lanesOf(page) {
		if until, waits := s.waiting[lane]; !s.busy.has(lane) && (!waits || !until.After(now)) {
			s.lookAtLocked(lane)
		}
	}
	return nil
}

// leaveOutLong leaves the lanes that fill a page out of the next ones.
func (s *shared) leaveOutLong(page []document.Object) {
	events := map[string]int{}
	for _, o := range page {
		lane := laneOf(o)
		events[lane]++
		if events[lane] == many && len(s.pass.long) < skips {
			s.pass.long = append(s.pass.long, lane)
		}
	}
}

// crowded returns the channels that have no place to give and of which enough lanes are known: the pass
// leaves them out, so that their backlog hides nobody.
func (s *shared) crowded(want want) []fair.Key {
	s.mu.Lock()
	defer s.mu.Unlock()
	var keys []fair.Key
	s.fresh.All(func(k fair.Key, lanes *list.List) bool {
		if lanes.Len() >= window && !want.may(k) {
			if s.pass.skipped == nil {
				s.pass.skipped, s.pass.since = map[fair.Key]bool{}, s.pass.after
			}
			s.pass.skipped[k] = true
			keys = append(keys, k)
		}
		return len(keys) < skips
	})
	return keys
}

// resumes begins a pass where the last one began to leave a channel out, if no more of its lanes are known
// and it has a place.
func (s *shared) resumes(want want) bool {
	if s.pass.isUnderWay {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for k := range s.pass.skipped {
		if _, isKnown := s.fresh.Find(k); !isKnown && want.may(k) {
			s.pass = pass{isUnderWay: true, after: s.pass.since}
			return true
		}
	}
	return false
}

// page returns the next events of the pass. Those that are tried again later are not among them, nor
// those of some channels.
func (s *shared) page(ctx context.Context, now time.Time, but []fair.Key) ([]document.Object, error) {
	at := int64(document.TimestampOf(now))
	which := document.O(
		fieldState, statePending, fieldAcceptedAt, document.O("$gte", s.pass.after),
		"$or", document.A( // See isPaused.
			document.O(fieldRetryAt, document.O("$not", document.O("$gt", at))),
			document.O(fieldPausedAt, document.O("$gt", at+clockSlack)),
		),
	)
	if len(s.pass.there) > 0 {
		which = which.With(fieldID, document.O("$nin", document.A(s.pass.there...)))
	}
	if len(s.pass.long) > 0 {
		which = which.With(fieldLane, document.O("$nin", document.A(s.pass.long...)))
	}
	if len(but) > 0 {
		var channels []any
		for _, k := range but {
			channels = append(channels, document.O(fieldApp, k.App, fieldChannel, k.Channel))
		}
		which = which.With("$nor", document.A(channels...))
	}
	shown, err := query.CompileProjection(document.O(fieldLane, 1, fieldState, 1, fieldAcceptedAt, 1, fieldRetryAt, 1))
	if err != nil {
		return nil, err
	}
	return s.findSorted(ctx, which, fieldAcceptedAt, store.FindOptions{Limit: pageSize, Projection: shown})
}
