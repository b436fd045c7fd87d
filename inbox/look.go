package inbox

import (
	"context"
	"time"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/lease"
	"github.com/botctx/go-sdk/store"
)

const (
	// window is the number of events or lanes that one look is for, and readAhead how many of the
	// events of lanes it reads.
	window    = 64
	readAhead = 2 * window
	// perTurn is the number of events that are handled in one turn of a lane, after which others
	// have theirs.
	perTurn = 64
)

// sight is what a look at lanes found.
type sight struct {
	// free are lanes with something to do, in the order of their first events.
	free []work
	// waiting are lanes whose first event is tried again later, with when; held are those that others
	// hold, with until when.
	waiting, held map[string]time.Time
	// unseen are lanes whose events were not reached.
	unseen []string
}

// lookInto looks at lanes. now is the time of the store's clock.
//
// The documents of lanes are read before their events: whoever handles one of these later has a
// turn, and so changes the document, so that the claim of what was seen fails.
func (b *Inbox) lookInto(ctx context.Context, lanes []string, now time.Time) (sight, error) {
	found := sight{waiting: map[string]time.Time{}, held: map[string]time.Time{}}
	if len(lanes) == 0 {
		return found, nil
	}
	seen, err := b.turns.Look(ctx, lanes)
	if err != nil {
		return sight{}, err
	}
	var free []string
	for _, lane := range lanes {
		if lease.IsHeld(seen[lane], now) {
			found.held[lane] = lease.Until(seen[lane])
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
		case e.retryAt > int64(document.At(now)):
			found.waiting[e.lane] = document.Timestamp(e.retryAt).Time() // So do those behind it.
		case !isKnown:
			byLane[e.lane] = len(found.free)
			found.free = append(found.free, work{lane: e.lane, seen: seen[e.lane], events: []stored{e}})
		case len(found.free[at].events) < perTurn:
			found.free[at].events = append(found.free[at].events, e)
		}
	}
	isCut := len(events) == readAhead
	for i := range found.free {
		found.free[i].hasMore = isCut || len(found.free[i].events) == perTurn
	}
	for _, lane := range free {
		_, isFree := byLane[lane]
		if _, waits := found.waiting[lane]; isCut && !isFree && !waits {
			found.unseen = append(found.unseen, lane)
		}
	}
	return nil
}

// lanesOf returns the lanes of events in their order, each one once.
func lanesOf(events []document.Object) []string {
	known := make(map[string]bool, len(events))
	var names []string
	for _, o := range events {
		if lane := laneOf(o); !known[lane] {
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
