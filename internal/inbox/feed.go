package inbox

import (
	"context"
	"time"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/fair"
	"github.com/botctx/go-sdk/internal/lease"
)

// feed finds what can be handled, and keeps lanes apart. There is one for a store that processes
// share, and one for a store that this process has to itself.
type feed interface {
	overview

	// take enters lanes that can be handled now: apps take turns, within an app its channels, and within a
	// channel its lanes. pause is how long there will be no others unless the inbox is woken. The caller
	// must leave each lane.
	take(ctx context.Context, want want) (taken []work, pause time.Duration, err error)
	// begin begins the turn of a lane that was taken. It is nil where somebody else had one since.
	begin(ctx context.Context, w work) (*lease.Turn, error)
	// hold takes a lane for an event that is about to be accepted, if it can begin with that: then its
	// document has fieldBegun. confirm is told that the store has it, and reports whether it begins. The
	// lane is to be left in either case.
	hold(lane string, of fair.Key) (w work, isFree bool)
	confirm(w *work, e stored) bool
	// leave leaves a lane.
	leave(ctx context.Context, w work, rest rest)
	// next returns when a lane can be handled, by the store's clock. ok is false where there is none to
	// wait for.
	next(ctx context.Context) (at time.Time, ok bool, err error)
	// accepted is told that an event was accepted here, or put back, for a lane.
	accepted(lane string)
	// isFree is told that a lane may be entered that could not be.
	isFree(lane string)
	// hasReady reports whether lanes wait for their turn.
	hasReady() bool
	// handling returns the number of lanes that this process is handling.
	handling() int
	// close gives back what serves further calls of take.
	close(ctx context.Context)
}

// overview is what a feed knows of all events, or does with them in its own way.
type overview interface {
	// pending returns how many events wait or are handled, and pendingOf the same for an app. oldest
	// returns when the first of them was accepted, zero if there are none.
	pending(ctx context.Context) (int64, error)
	pendingOf(ctx context.Context, app string) (int64, error)
	oldest(ctx context.Context) (time.Time, error)
	// findOld returns at most retentionBatch of the events that a filter matches. The filter bounds a field,
	// which is fieldDoneAt or fieldDiedAt.
	findOld(ctx context.Context, which document.Object, field string) ([]document.Object, error)
	// findDead returns a page of dead letters, in the order of the page.
	findDead(ctx context.Context, p deadPage) ([]document.Object, error)
	// erase removes what the feed keeps of a lane whose events were removed, unless it is in use.
	erase(ctx context.Context, lane string) error
}

// want is what is asked of a feed.
type want struct {
	// lanes is the number of lanes, and each the number of events of one lane.
	lanes, each int
	// shares are the places of workers: a lane takes one as it is taken, and gives it back as it is left.
	// nil if lanes need no place.
	shares *fair.Shares
	// part takes a part of a pause.
	part func(time.Duration) time.Duration
	// isNew tells to look at everything anew: at lanes that could not be entered, and at what other
	// processes have done.
	isNew bool
	// isForced tells to take over from an inbox that has taken over from this one.
	isForced bool
}

// take takes a place for a lane of a channel, if one is to be had.
func (w want) take(k fair.Key) bool { return w.shares == nil || w.shares.Take(k) }

// may reports whether take would get a place.
func (w want) may(k fair.Key) bool { return w.shares == nil || w.shares.May(k) }

// release gives back what take got.
func (w want) release(k fair.Key) {
	if w.shares != nil {
		w.shares.Release(k)
	}
}

// work is a lane that can be handled.
type work struct {
	lane string
	// seen is the lane's document as it was when its events were read after it, where there are any.
	seen   document.Object
	events []stored
	// hasMore tells that there may be more events than these.
	hasMore bool
	// leave leaves the lane in this process.
	leave func()
	// turn is the lane's turn where it has begun with the lane's being taken.
	turn *lease.Turn
	// isAtOnce tells that the first event has begun with its acceptance.
	isAtOnce bool
}

// rest says how a lane is left.
type rest struct {
	// hasMore tells that there may be more to do at once.
	hasMore bool
	// isGivenBack tells that events are left that were not begun, or whose runs were ended.
	isGivenBack bool
	// isBroken tells that the store failed, so that the lane waits for the next poll.
	isBroken bool
	// retryAt is when the lane's first event is tried again, zero where none is.
	retryAt time.Time
}
