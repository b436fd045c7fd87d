package inbox

import (
	"context"
	"sync"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/fair"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
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
	if err := b.admit(ctx, e.App); err != nil {
		return Accepted{}, err
	}
	id := b.keptID(e)
	lane := Lane(e.App, e.Channel, e.From)
	atOnce := b.reserve(lane, fair.Key{App: e.App, Channel: e.Channel})
	defer atOnce.release(ctx)
	kept := stored{Event: e, id: id, lane: lane, acceptedAt: int64(document.TimestampOf(b.config.Env.Now())), hasBegun: atOnce != nil}
	err := b.events.Insert(ctx, kept.asDocument())
	if e.Key != "" && boterr.CodeOf(err) == boterr.AlreadyExists {
		return Accepted{ID: id, IsRepeated: true}, nil
	}
	if err != nil {
		return Accepted{}, err
	}
	b.load.add(e.App, 1)
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

// load is how many events of each app wait: as they were counted last, and what this process has added
// and done since.
type load struct {
	mu   sync.Mutex
	apps map[string]*appLoad
}

// appLoad is the load of one app.
type appLoad struct {
	pending   int64
	countedAt time.Time
}

const (
	// pollsPerCount is after how many polls the events that wait are counted again.
	pollsPerCount = 10
	// maxLoads is the number of apps whose load is known at once. The others are counted when they are
	// needed.
	maxLoads = 10_000
)

// add notes that events of an app were added or, if it is negative, done.
func (l *load) add(app string, events int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if known := l.apps[app]; known != nil {
		known.pending += events
	}
}

// known returns the number of events of an app that wait, and whether it was counted less than a time ago.
func (l *load) known(app string, now time.Time, within time.Duration) (pending int64, isRecent bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	known := l.apps[app]
	if known == nil {
		return 0, false
	}
	age := now.Sub(known.countedAt)
	return known.pending, age >= 0 && age < within
}

// set notes how many events of an app wait.
func (l *load) set(app string, pending int64, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.apps == nil || l.apps[app] == nil && len(l.apps) >= maxLoads {
		l.apps = map[string]*appLoad{}
	}
	l.apps[app] = &appLoad{pending: pending, countedAt: now}
}

// forget has the events of each app counted again when they are needed.
func (l *load) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.apps = nil
}

// admit refuses an event of an app of which too many wait.
func (b *Inbox) admit(ctx context.Context, app string) error {
	most := int64(b.config.MaxPending)
	if most < 0 {
		return nil
	}
	now := b.config.Env.Now()
	pending, isRecent := b.load.known(app, now, pollsPerCount*b.config.Poll)
	if !isRecent {
		var err error
		if pending, err = b.feed.pendingOf(ctx, app); err != nil {
			return err
		}
		b.load.set(app, pending, now)
	}
	if pending >= most {
		return boterr.New(boterr.ResourceExhausted, "",
			"%d events of the app wait already: send it again later, or raise MaxPending", pending)
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
