package inbox

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/fair"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// Accepted is the result of accepting an event.
type Accepted struct {
	// ID is the id of the event in the inbox.
	ID string
	// IsRepeated is true if an event with the same Key was already accepted. The event is then not handled again.
	IsRepeated bool
}

// Accept writes an event to the store and returns when it is durable. This process or another one handles the event
// later, unless it is a repetition.
//
// Accept returns InvalidArgument if App, Channel or From is missing, or if the body cannot be stored or leaves no
// room for MaxRememberedSize; ResourceExhausted if too many events wait, so that the sender must try again later; and
// Canceled if the store did not respond before ctx ended or within Config.AcceptTimeout. Other errors come from the
// store. After Canceled and errors of the store, the event may have been written. Accepting an event with a Key again is
// safe.
func (b *Inbox) Accept(ctx context.Context, e Event) (Accepted, error) {
	if err := e.check(); err != nil {
		return Accepted{}, err
	}
	if ctx.Done() == nil {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, b.config.AcceptTimeout)
		defer stop()
	}
	if err := b.admit(ctx, e.App); err != nil {
		return Accepted{}, err
	}
	id := b.keptID(e)
	lane := Lane(e.App, e.Channel, e.From)
	atOnce := b.reserve(lane, fair.Key{App: e.App, Channel: e.Channel})
	defer atOnce.release(ctx)
	kept := stored{Event: e, id: id, lane: lane, acceptedAt: int64(document.TimestampOf(b.config.Env.Now())), hasBegun: atOnce != nil}
	made := kept.asDocument()
	if err := document.CheckExtent(made, document.MaxSize-len(lane)-roomForResults); err != nil {
		return Accepted{}, boterr.WithField("Event", err)
	}
	err := b.events.Insert(ctx, made)
	if e.Key != "" && boterr.CodeOf(err) == boterr.AlreadyExists {
		return Accepted{ID: id, IsRepeated: true}, nil
	}
	if err != nil {
		return Accepted{}, record.RenameField(err, "[0]", "Event") // The store's error has the index of the document.
	}
	b.addLoad(e.App, 1)
	b.source.accepted(lane)
	atOnce.give(kept)
	return Accepted{ID: id}, nil
}

// roomForResults is the size of the fields that runs add to an event: the memory, the last error, and numbers and times.
const roomForResults = MaxRememberedSize + 4<<10

// keptID returns the id under which an event is stored. A repetition gets the same id.
func (b *Inbox) keptID(e Event) string {
	if e.Key == "" {
		return b.config.Env.NewID()
	}
	return b.config.DeriveID(e.identity())
}

// load is the number of waiting events of an app: the last count, corrected by the events that this process has added
// and completed since.
type load struct {
	pending   atomic.Int64
	countedAt time.Time
}

const (
	// pollsPerCount is the number of polls between two counts of the waiting events.
	pollsPerCount = 10
	// maxLoads is the maximum number of apps with a cached number. For other apps, the events are counted when
	// needed.
	maxLoads = 10_000
)

// addLoad records that events of an app were added or, if events is negative, completed.
func (b *Inbox) addLoad(app string, events int64) {
	if known := b.loads.Get(app); known != nil {
		known.pending.Add(events)
	}
}

// admit returns an error for an event of an app that has too many waiting events.
func (b *Inbox) admit(ctx context.Context, app string) error {
	most := int64(b.config.MaxPending)
	if most < 0 {
		return nil
	}
	now := b.config.Env.Now()
	known := b.loads.Get(app)
	if known == nil || now.Before(known.countedAt) || now.Sub(known.countedAt) >= pollsPerCount*b.config.Poll {
		pending, err := b.countPending(ctx, app)
		if err != nil {
			return err
		}
		known = &load{countedAt: now}
		known.pending.Store(pending)
		b.loads.Keep(app, known)
	}
	if pending := known.pending.Load(); pending >= most {
		return boterr.New(boterr.ResourceExhausted, "",
			"%d events of the app wait already: send it again later, or raise MaxPending", pending)
	}
	return nil
}

// count returns the number of events that match a filter.
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

// find returns the events that match a filter.
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

// Stats counts waiting events and dead letters, see botctx.InboxStats.
type Stats struct {
	Pending     int64
	Oldest      time.Time
	DeadLetters int64
	Lanes       int
}

// Stats counts the events with queries. Errors come from the store.
func (b *Inbox) Stats(ctx context.Context) (stats Stats, err error) {
	if stats.Pending, err = b.countPending(ctx, ""); err != nil {
		return Stats{}, err
	}
	b.loads.Remove(func(string, *load) bool { return true }) // They are counted again when needed.
	if stats.Oldest, err = b.findOldest(ctx); err != nil {
		return Stats{}, err
	}
	if stats.DeadLetters, err = b.count(ctx, allDead()); err != nil {
		return Stats{}, err
	}
	stats.Lanes = int(b.underWay.Load())
	return stats, nil
}

// countPending returns the number of events of an app that wait or are being handled. An empty app means all
// apps. If the source does not know the number, the store counts the events.
func (b *Inbox) countPending(ctx context.Context, app string) (int64, error) {
	if pending, _, ok := b.source.counted(app); ok {
		return pending, nil
	}
	which := document.O(fieldState, statePending)
	if app != "" {
		which = which.With(fieldApp, app)
	}
	return b.count(ctx, which)
}

// findOldest returns the acceptance time of the oldest event that waits or is being handled, or zero if there is
// none.
func (b *Inbox) findOldest(ctx context.Context) (time.Time, error) {
	if _, first, ok := b.source.counted(""); ok {
		return acceptedAtOf(first), nil
	}
	first, err := b.findSorted(ctx, document.O(fieldState, statePending), fieldAcceptedAt, store.FindOptions{Limit: 1})
	if err != nil || len(first) == 0 {
		return time.Time{}, err
	}
	return acceptedAtOf(first[0]), nil
}

// acceptedAtOf returns the acceptance time of an event, or zero for the zero Object.
func acceptedAtOf(o document.Object) time.Time {
	if o.IsZero() {
		return time.Time{}
	}
	return document.Timestamp(read(o).acceptedAt).Time()
}
