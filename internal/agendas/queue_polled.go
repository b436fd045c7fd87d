package agendas

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/fair"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// polledQueue is the candidates of a store that is asked each time: an index gives those
// that are due, and the store puts them in order.
type polledQueue struct {
	store store.Collection
	// inOrder is the order in which due agendas run, byTime the order of their times.
	inOrder, byTime *query.Sort

	mu      sync.Mutex
	indexed bool
	// found has the agendas that were found at foundAt and have not been taken, nil before the first look.
	// If one has changed since, its claim fails. hasMore is true if the last look may have left some.
	found   *queue
	foundAt time.Time
	hasMore bool
	// blocked are channels with agendas that are due and that had no place when these were found. They are left
	// out of looks until they may have one, so that a long backlog is not read again and again.
	blocked map[fair.Key]bool
	// deferred are agendas that are not to be taken, by id, and until when.
	deferred map[string]time.Time
}

var _ candidates = (*polledQueue)(nil)

func newPolledQueue(store store.Collection) *polledQueue {
	return &polledQueue{
		store: store, blocked: map[fair.Key]bool{},
		inOrder: mustSort(document.O(fieldPriority, 1, fieldNextRunAt, 1, record.FieldCreatedAt, 1)),
		byTime:  mustSort(document.O(fieldNextRunAt, 1)),
	}
}

// mustSort compiles a sort that is known to be one.
func mustSort(source document.Object) *query.Sort {
	sort, err := query.CompileSort(source)
	if err != nil {
		panic(err)
	}
	return sort
}

// ensureIndexes makes the indexes that the questions need, once. The caller holds the lock.
func (p *polledQueue) ensureIndexes(ctx context.Context) error {
	if p.indexed {
		return nil
	}
	for _, paths := range [][]string{
		timesIndex(),
		// In the order in which they run, so that a long backlog is not read as a whole.
		// App and channel let the index pass over those whose channels have no place.
		{
			fieldCompleted, fieldFailedAt, fieldPriority, fieldNextRunAt, record.FieldCreatedAt,
			record.FieldApp, record.FieldChannel,
		},
	} {
		if err := p.store.EnsureIndex(ctx, store.Ascending(paths...)); err != nil {
			return err
		}
	}
	p.indexed = true
	return nil
}

const (
	// lookAhead is the number of agendas that are asked for at once, since more may be taken soon: to put
	// a long backlog in order costs more than to read these.
	lookAhead = 256
	// maxLooks bounds how often one take asks for more behind agendas whose channels have no place.
	maxLooks = 4
)

// first implements candidates. Another worker may find the same.
func (p *polledQueue) first(ctx context.Context, now time.Time) (document.Object, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.ensureIndexes(ctx); err != nil {
		return document.Object{}, err
	}
	found, err := p.find(ctx, isDue(now), store.FindOptions{Sort: p.inOrder, Limit: 1})
	if err != nil || len(found) == 0 {
		return document.Object{}, err
	}
	return found[0], nil
}

// take implements candidates. Another worker may find the same.
func (p *polledQueue) take(
	ctx context.Context, now time.Time, limit int, maxAge time.Duration, places *fair.Shares,
) (taken []document.Object, isLeft bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.ensureIndexes(ctx); err != nil {
		return nil, false, err
	}
	if err := p.renew(ctx, now, maxAge, places); err != nil {
		return nil, true, err
	}
	taken, isLeft = p.found.takeFairly(millis(now), limit, places)
	for looks := 0; len(taken) == 0 && p.hasMore && looks < maxLooks && places.Free() > 0; looks++ {
		if err := p.look(ctx, now, places); err != nil {
			return nil, isLeft, err
		}
		taken, isLeft = p.found.takeFairly(millis(now), limit, places)
	}
	return taken, isLeft || p.hasMore || len(p.blocked) > 0, nil
}

// renew forgets what was found longer ago than maxAge, but for the channels that have no place. Those that may have
// one again are looked for at once: what was found since may last for a while.
func (p *polledQueue) renew(ctx context.Context, now time.Time, maxAge time.Duration, places *fair.Shares) error {
	age := now.Sub(p.foundAt)
	isNew := p.found == nil || p.found.channels.Len() == 0 || age < 0 || age >= maxAge
	if isNew {
		if p.found != nil {
			p.found.channels.All(func(k fair.Key, _ *heap) bool {
				p.blocked[k] = true
				return true
			})
		}
		p.found, p.foundAt, p.hasMore = newQueue(0), now, true
	}
	before := len(p.blocked)
	maps.DeleteFunc(p.blocked, func(k fair.Key, _ bool) bool { return places.May(k) })
	if isNew || len(p.blocked) == before {
		return nil
	}
	return p.look(ctx, now, places)
}

// look finds the first due agendas. It leaves out the channels that were found already, and the blocked ones.
func (p *polledQueue) look(ctx context.Context, now time.Time, places *fair.Shares) error {
	but := maps.Clone(p.blocked)
	p.found.channels.All(func(k fair.Key, _ *heap) bool {
		but[k] = true
		return true
	})
	apps, held := map[string]bool{}, isHeld(now)
	for k := range but {
		switch app := k.App; {
		case apps[app]:
		case places.May(fair.Key{App: app, Channel: anyOther}):
			held = held.Append(document.O(record.FieldApp, isText(app), record.FieldChannel, isText(k.Channel)))
		default:
			apps[app] = true
		}
	}
	if apps[""] { // Also those whose app is no text.
		held = held.Append(document.O(record.FieldApp, isText("")))
	}
	filter := isDue(now).With("$nor", held)
	if len(apps) > 0 {
		names := slices.AppendSeq([]string{}, maps.Keys(apps))
		filter = filter.With(record.FieldApp, document.O("$nin", names))
	}
	maps.DeleteFunc(p.deferred, func(_ string, until time.Time) bool { return !until.After(now) })
	if len(p.deferred) > 0 {
		ids := slices.AppendSeq([]string{}, maps.Keys(p.deferred))
		filter = filter.With(record.FieldID, document.O("$nin", ids))
	}
	found, err := p.find(ctx, filter, store.FindOptions{Sort: p.inOrder, Limit: lookAhead})
	if err != nil {
		return err
	}
	known := len(p.found.byID)
	for _, o := range found {
		p.found.set(idOf(o), o)
	}
	p.hasMore = len(found) == lookAhead && len(p.found.byID) > known
	return nil
}

// isText is the condition for a field that keyOf reads as a text: "" if it is none.
func isText(text string) any {
	if text == "" {
		return document.O("$not", document.O("$gt", ""))
	}
	return text
}

// anyOther is the id of no channel: an app that may take a place for it may take one for a channel that
// holds none.
const anyOther = "\x00"

func (p *polledQueue) find(
	ctx context.Context, filter document.Object, options store.FindOptions,
) ([]document.Object, error) {
	compiled, err := query.CompileFilter(filter)
	if err != nil {
		return nil, err
	}
	return p.store.Find(ctx, compiled, options)
}

// isDue is the filter of the agendas that can be claimed.
func isDue(now time.Time) document.Object {
	return document.O(
		fieldCompleted, false,
		fieldFailedAt, nil,
		fieldNextRunAt, document.O("$not", document.O("$gt", millis(now))), // Also what is no time.
		"$nor", isHeld(now),
		"$and", document.A(isAlive()),
	)
}

// isHeld are conditions. Each of them alone keeps an agenda from being claimed. What was written later than now
// does not: the clock was set back.
func isHeld(now time.Time) document.Array {
	future := millis(now.Add(clockSlack))
	return document.A(
		document.O(
			fieldLeaseUntil, document.O("$gt", millis(now), "$lte", millis(now.Add(longestLease))),
			fieldHeldAt, document.O("$gt", 0, "$lte", future),
		),
		document.O(
			fieldRetryAt, document.O("$gt", millis(now), "$lte", int64(latestTime)),
			fieldHeldAt, document.O("$not", document.O("$gt", future)),
		),
	)
}

// timesIndex are the paths of the index by time. Agendas that are completed, or failed for good, stand
// apart in it, so that they cost those that are due nothing.
func timesIndex() []string { return []string{fieldCompleted, fieldFailedAt, fieldNextRunAt} }

// isAlive is the condition that an agenda without failedAt has not failed for good: if it is marked as
// failed, it goes on only if it repeats, see Record.Repeats.
func isAlive() document.Object {
	return document.O("$or", document.A(
		document.O(fieldFailed, document.O("$ne", true)),
		document.O(fieldPattern, document.O("$gt", ""), fieldRunUntil, document.O("$gt", 0)),
	))
}

// giveBack implements candidates. There is nothing to do: what has changed is looked for again.
func (p *polledQueue) giveBack(document.Object) {}

func (p *polledQueue) putBack(taken document.Object) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.found != nil {
		p.found.giveBack(idOf(taken))
	}
}

func (p *polledQueue) deferUntil(taken document.Object, at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.deferred == nil {
		p.deferred = map[string]time.Time{}
	}
	p.deferred[idOf(taken)] = at
}

func (p *polledQueue) next(ctx context.Context, now time.Time) (at time.Time, ok bool, err error) {
	due, err := p.count(ctx, now)
	if err != nil || due > 0 {
		return now, err == nil, err
	}
	later, err := p.find(ctx, document.O(
		fieldCompleted, false,
		fieldFailedAt, nil,
		fieldNextRunAt, document.O("$gt", millis(now)),
		"$nor", isHeld(now),
		"$and", document.A(isAlive()),
	), store.FindOptions{Sort: p.byTime, Limit: 1})
	if err != nil {
		return at, false, err
	}
	paused, err := p.find(ctx, document.O(
		fieldCompleted, false, fieldFailedAt, nil, "$and", document.A(document.O("$or", isHeld(now)), isAlive()),
	), store.FindOptions{})
	if err != nil {
		return at, false, err
	}
	q := newQueue(0)
	for _, o := range append(later, paused...) {
		q.set(idOf(o), o)
	}
	next, ok := q.next(millis(now))
	return document.Timestamp(next).Time(), ok, nil
}

func (p *polledQueue) count(ctx context.Context, now time.Time) (int, error) {
	filter, err := query.CompileFilter(isDue(now))
	if err != nil {
		return 0, err
	}
	count, err := p.store.Count(ctx, filter)
	return int(count), err
}

func (p *polledQueue) idle(_ time.Time, atMost time.Duration) time.Duration { return atMost }

func (p *polledQueue) woken() <-chan struct{} { return nil }

func (p *polledQueue) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.found = nil
	clear(p.blocked)
}
