package inbox

import (
	"context"
	"time"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/lease"
	"github.com/botctx/go-sdk/store"
)

const (
	// window is the number of events that are looked at to find lanes with something to do, and
	// readAhead how many of the events of these lanes are read.
	window    = 64
	readAhead = 2 * window
	// perTurn is the number of events that are handled in one turn of a lane, after which others
	// have theirs.
	perTurn = 64
)

// work is a lane that can be handled.
type work struct {
	lane string
	// seen is the lane's document as it was when its events were read after it.
	seen   document.Object
	events []stored
	// hasMore tells that there may be more events than these.
	hasMore bool
}

// sight is what a look at the inbox found.
type sight struct {
	// now is when that was, by the store's clock.
	now time.Time
	// free are lanes with something to do, in the order of their first events.
	free []work
	// waiting are lanes whose first event cannot be handled now, with when it can.
	waiting map[string]time.Time
	// isWhole tells that there are no other lanes.
	isWhole bool
}

// look looks for lanes with something to do, but for some.
//
// The documents of lanes are read before their events: whoever handles one of these later has a
// turn, and so changes the document, so that the claim of what was seen fails.
func (b *Inbox) look(ctx context.Context, except []string) (sight, error) {
	now, err := b.turns.Now(ctx)
	if err != nil {
		return sight{}, err
	}
	waiting := document.O(fieldState, statePending)
	if len(except) > 0 {
		waiting = waiting.With(fieldLane, document.O("$nin", document.A(anyOf(except)...)))
	}
	first, err := b.find(ctx, waiting, store.FindOptions{Limit: window})
	if err != nil || len(first) == 0 {
		return sight{isWhole: true}, err
	}
	found := sight{now: now, waiting: map[string]time.Time{}, isWhole: len(first) < window}
	names := lanesOf(first)
	seen, err := b.turns.Look(ctx, names)
	if err != nil {
		return sight{}, err
	}
	var free []string
	for _, lane := range names {
		if lease.IsHeld(seen[lane], now) {
			found.waiting[lane] = lease.Until(seen[lane])
		} else {
			free = append(free, lane)
		}
	}
	err = b.addFree(ctx, &found, free, seen, now)
	return found, err
}

// addFree adds lanes that nobody holds, with their events.
func (b *Inbox) addFree(
	ctx context.Context, found *sight, free []string, seen map[string]document.Object, now time.Time,
) error {
	if len(free) == 0 {
		return nil
	}
	events, err := b.find(ctx, document.O(fieldLane, document.O("$in", document.A(anyOf(free)...))),
		store.FindOptions{Limit: readAhead})
	if err != nil {
		return err
	}
	byLane := make(map[string]int, len(free))
	for _, o := range events {
		e := read(o)
		if _, isWaiting := found.waiting[e.lane]; isWaiting {
			continue
		}
		at, isKnown := byLane[e.lane]
		switch {
		case !isKnown && e.retryAt > int64(document.At(now)):
			found.waiting[e.lane] = document.Timestamp(e.retryAt).Time()
		case !isKnown:
			byLane[e.lane] = len(found.free)
			found.free = append(found.free, work{lane: e.lane, seen: seen[e.lane], events: []stored{e}})
		case len(found.free[at].events) < perTurn:
			found.free[at].events = append(found.free[at].events, e)
		}
	}
	for i := range found.free {
		found.free[i].hasMore = len(events) == readAhead || len(found.free[i].events) == perTurn
	}
	return nil
}

// lanesOf returns the lanes of events in their order, each one once.
func lanesOf(events []document.Object) []string {
	known := make(map[string]bool, len(events))
	var names []string
	for _, o := range events {
		value, _ := o.Field(fieldLane)
		if lane, _ := value.(string); !known[lane] {
			known[lane] = true
			names = append(names, lane)
		}
	}
	return names
}

// anyOf returns texts as values.
func anyOf(texts []string) []any {
	values := make([]any, len(texts))
	for i, text := range texts {
		values[i] = text
	}
	return values
}
