package inbox

import (
	"context"
	"slices"
	"time"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/lease"
	"github.com/botctx/go-sdk/store"
)

const (
	// window is the number of lanes that one look is for, and readAhead the number of events that it reads
	// at once. pageSize is the number of events of which a pass reads the lanes at once.
	window    = 64
	readAhead = 2 * window
	pageSize  = 2 * window
	// perTurn is the number of events that are handled in one turn of a lane, and longTurn the time after
	// which no further one begins in it. Then other lanes have their turn.
	perTurn  = 16
	longTurn = 50 * time.Millisecond
)

// sight is what a look at lanes found.
type sight struct {
	// free are lanes with something to do, in the order of their first events.
	free []work
	// waiting are lanes whose first event is tried again later, with when; held are those that others
	// hold, with until when.
	waiting, held map[string]time.Time
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

// addFree adds lanes that nobody holds, with their events. A lane with many events fills what is read at
// once: then the others are read without it.
func (b *Inbox) addFree(
	ctx context.Context, found *sight, free []string, seen map[string]document.Object, now time.Time,
) error {
	for len(free) > 0 {
		most := min(readAhead, perTurn*len(free))
		events, err := b.find(ctx, document.O(fieldLane, document.O("$in", document.A(anyOf(free)...)), fieldState, statePending),
			store.FindOptions{Limit: int64(most)})
		if err != nil {
			return err
		}
		isCut := len(events) == most
		reached := found.add(events, seen, now, isCut)
		if !isCut {
			return nil
		}
		left := slices.DeleteFunc(slices.Clone(free), func(lane string) bool { return reached[lane] })
		if len(left) == len(free) {
			return nil // Somebody has edited the records: they have no lane that can be read.
		}
		free = left
	}
	return nil
}

// add adds events, and returns their lanes. isCut is true if there may be more.
func (found *sight) add(
	events []document.Object, seen map[string]document.Object, now time.Time, isCut bool,
) (reached map[string]bool) {
	reached = map[string]bool{}
	byLane := map[string]int{}
	for _, o := range events {
		e := read(o)
		reached[e.lane] = true
		if _, isWaiting := found.waiting[e.lane]; isWaiting {
			continue
		}
		at, isKnown := byLane[e.lane]
		switch {
		case isPaused(e.retryAt, e.pausedAt, int64(document.TimestampOf(now))):
			found.waiting[e.lane] = document.Timestamp(e.retryAt).Time() // So do those behind it.
		case !isKnown:
			byLane[e.lane] = len(found.free)
			found.free = append(found.free, work{lane: e.lane, seen: seen[e.lane], events: []stored{e}, hasMore: isCut})
		case len(found.free[at].events) < perTurn:
			found.free[at].events = append(found.free[at].events, e)
		default:
			found.free[at].hasMore = true
		}
	}
	return reached
}

// lanesOf returns the lanes of events in their order, each one once.
func lanesOf(events []document.Object) []string {
	known := make(map[string]bool, len(events))
	var names []string
	for _, o := range events {
		if lane := laneOf(o); lane != "" && !known[lane] {
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
