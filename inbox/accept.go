package inbox

import (
	"context"
	"sync"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/query"
	"github.com/botctx/go-sdk/store"
)

// Accepted says what became of an event that was accepted.
type Accepted struct {
	// ID is its id in the inbox.
	ID string
	// IsRepeated tells that an event with its Key was accepted before, so that this one is not
	// handled.
	IsRepeated bool
}

// Accept writes an event to the store, and returns when it is durable there. It will be handled
// then, here or in another process, unless it is a repetition.
//
// InvalidArgument: App, Channel or From is missing, or the body cannot be stored. ResourceExhausted:
// so many events wait already that no more are taken; who sends them is to try again later. Canceled: the
// store did not answer before ctx ended, or within Config.AcceptTimeout. The
// other errors are those of the store: whether the event was written is not known then, and one
// with a Key can be accepted again.
func (b *Inbox) Accept(ctx context.Context, e Event) (Accepted, error) { return b.acceptor(ctx, e) }

// accept is Accept without hooks.
func (b *Inbox) accept(ctx context.Context, e Event) (Accepted, error) {
	if err := e.check(); err != nil {
		return Accepted{}, err
	}
	if ctx.Done() == nil {
		ctx = b.accepting.after(ctx)
	}
	if err := b.admit(ctx); err != nil {
		return Accepted{}, err
	}
	id := b.keptID(e)
	lane := Lane(e.App, e.Channel, e.From)
	atOnce := b.reserve(lane)
	defer atOnce.release(ctx)
	kept := stored{Event: e, id: id, lane: lane, acceptedAt: int64(document.At(b.config.Env.Now())), hasBegun: atOnce != nil}
	err := b.events.Insert(ctx, kept.asDocument())
	if e.Key != "" && boterr.CodeOf(err) == boterr.AlreadyExists {
		return Accepted{ID: id, IsRepeated: true}, nil
	}
	if err != nil {
		return Accepted{}, err
	}
	b.load.add(1)
	b.feed.accepted(lane)
	atOnce.give(kept)
	return Accepted{ID: id}, nil
}

// keptID returns the id under which an event is kept: the same for its repetition.
func (b *Inbox) keptID(e Event) string {
	if e.Key == "" {
		return b.config.Env.NewID()
	}
	return b.config.DeriveID(e.identity())
}

// load is how many events wait: as they were counted last, and what this process has added and
// done since.
type load struct {
	mu        sync.Mutex
	pending   int64
	isCounted bool
	countedAt time.Time
}

// pollsPerCount is after how many polls the events that wait are counted again.
const pollsPerCount = 10

// add notes that events were added or, where it is negative, done.
func (l *load) add(events int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pending += events
}

// known returns the number of events that wait, and whether it was counted less than a time ago.
func (l *load) known(now time.Time, within time.Duration) (pending int64, isRecent bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.pending, l.isCounted && now.Sub(l.countedAt) < within
}

// set notes how many events wait.
func (l *load) set(pending int64, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pending, l.isCounted, l.countedAt = pending, true, now
}

// admit refuses an event where too many wait.
func (b *Inbox) admit(ctx context.Context) error {
	most := int64(b.config.MaxPending)
	if most < 0 {
		return nil
	}
	now := b.config.Env.Now()
	pending, isRecent := b.load.known(now, pollsPerCount*b.config.Poll)
	if !isRecent {
		var err error
		if pending, err = b.feed.pending(ctx); err != nil {
			return err
		}
		b.load.set(pending, now)
	}
	if pending >= most {
		return boterr.New(boterr.ResourceExhausted, "",
			"%d events wait already: send it again later, or raise MaxPending", pending)
	}
	return nil
}

// count returns the number of events that a filter matches.
func (b *Inbox) count(ctx context.Context, source document.Object) (int64, error) {
	if err := b.ensureIndexes(ctx); err != nil {
		return 0, err
	}
	filter, err := query.CompileFilter(source)
	if err != nil {
		return 0, err
	}
	return b.events.Count(ctx, filter)
}

// find returns events that a filter matches.
func (b *Inbox) find(ctx context.Context, source document.Object, options store.FindOptions) ([]document.Object, error) {
	if err := b.ensureIndexes(ctx); err != nil {
		return nil, err
	}
	filter, err := query.CompileFilter(source)
	if err != nil {
		return nil, err
	}
	return b.events.Find(ctx, filter, options)
}

// findSorted is find in the order of a field.
func (b *Inbox) findSorted(
	ctx context.Context, source document.Object, field string, options store.FindOptions,
) (found []document.Object, err error) {
	if options.Sort, err = query.CompileSort(document.O(field, 1)); err != nil {
		return nil, err
	}
	return b.find(ctx, source, options)
}
