package agendas

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/fair"
	"github.com/botctx/go-sdk/internal/lease"
	"github.com/botctx/go-sdk/internal/query"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/store"
)

// polledQueue finds candidates by queries of the store, which are served by indexes. If the store sends notices,
// it is queried when an agenda falls due, and otherwise less often.
type polledQueue struct {
	store store.Collection
	alarm *alarm
	// inOrder sorts due agendas in the order in which they run. byTime sorts them by due time.
	inOrder, byTime *query.Sort

	mu      sync.Mutex
	indexed bool
	// found holds the agendas that were found at foundAt and not yet taken. It is nil before the first query. If an
	// agenda has changed since, its claim fails. hasMore is true if the last query may have left some out.
	found   *queue
	foundAt time.Time
	hasMore bool
	// blocked are channels that have due agendas and had no place. Queries leave them out until they may have
	// a place, so that a long backlog is not read repeatedly.
	blocked map[fair.Key]bool
	// deferred maps the ids of agendas that must not be taken to the times until which they must wait.
	deferred map[string]time.Time
}

var _ candidates = (*polledQueue)(nil)

func newPolledQueue(database store.Store, collection store.Collection) *polledQueue {
	return &polledQueue{
		store: collection, alarm: newAlarm(database), blocked: map[fair.Key]bool{},
		inOrder: query.Must(query.CompileSort(document.O(fieldPriority, 1, fieldNextRunAt, 1, record.FieldCreatedAt, 1))),
		byTime:  query.Must(query.CompileSort(document.O(fieldNextRunAt, 1))),
	}
}

// ensureIndexes creates the indexes for the queries, once. The caller holds mu.
func (p *polledQueue) ensureIndexes(ctx context.Context) error {
	if p.indexed {
		return nil
	}
	for _, paths := range [][]string{
		timesIndex(),
		// This index follows the order in which agendas run, so that a long backlog is not read completely. With app
		// and channel, it can also skip channels without a place.
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
	// lookAhead is the number of agendas that one query reads. Reading more would mean sorting a long backlog.
	lookAhead = 256
	// maxLooks limits the queries of one take that search past agendas whose channels have no place.
	maxLooks = 4
)

// first implements candidates. Another worker may find the same agenda.
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

// take implements candidates. Another worker may find the same agendas.
func (p *polledQueue) take(
	ctx context.Context, now time.Time, limit int, maxAge time.Duration, places *fair.Shares,
) (taken []document.Object, isLeft bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.ensureIndexes(ctx); err != nil {
		return nil, false, err
	}
	mustLook := p.alarm.looks(millis(now))
	if err := p.renew(ctx, now, maxAge, places); err != nil {
		return nil, true, err
	}
	taken, isLeft = p.found.takeFairly(millis(now), limit, places)
	for looks := 0; len(taken) == 0 && (p.hasMore || p.alarm.rings()) && looks < maxLooks && places.Free() > 0; looks++ {
		if err := p.look(ctx, now, places); err != nil {
			return nil, isLeft, err
		}
		taken, isLeft = p.found.takeFairly(millis(now), limit, places)
	}
	if len(taken) == 0 && mustLook {
		later, err := p.find(ctx, isLater(now), store.FindOptions{Sort: p.byTime, Limit: 1})
		if err != nil {
			return nil, isLeft, err
		}
		if len(later) > 0 {
			p.alarm.set(integer(later[0].Value(fieldNextRunAt)))
		}
	}
	return taken, isLeft || p.hasMore || len(p.blocked) > 0, nil
}

// isLater returns a filter for the agendas that are not due yet.
func isLater(now time.Time) document.Object {
	return document.O(fieldCompleted, false, fieldFailedAt, nil, fieldNextRunAt, document.O("$gt", millis(now)))
}

// renew drops the found agendas once they are older than maxAge. Their channels, which had no place, are blocked.
// If a blocked channel may have a place again, renew queries at once, because the found agendas may last for a
// while.
func (p *polledQueue) renew(ctx context.Context, now time.Time, maxAge time.Duration, places *fair.Shares) error {
	age := now.Sub(p.foundAt)
	isNew := p.found == nil || p.found.channels.Len() == 0 || age < 0 || age >= maxAge
	if isNew {
		if p.found != nil {
			p.found.channels.All(func(k fair.Key, _ *entryHeap) bool {
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

// look queries the first due agendas, except agendas of channels that are already in found or blocked.
func (p *polledQueue) look(ctx context.Context, now time.Time, places *fair.Shares) error {
	p.alarm.silence()
	but := maps.Clone(p.blocked)
	p.found.channels.All(func(k fair.Key, _ *entryHeap) bool {
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
	if apps[""] { // "" also means apps that are not strings.
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

// isText returns a condition for a field from which keyOf reads the text. For "" it also matches values that are
// not texts.
func isText(text string) any {
	if text == "" {
		return document.O("$not", document.O("$gt", ""))
	}
	return text
}

// anyOther is an id that no channel has. If an app may take a place for it, the app may take a place for any
// channel that holds none.
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

// isDue returns a filter for the agendas that can be claimed.
func isDue(now time.Time) document.Object {
	return document.O(
		fieldCompleted, false,
		fieldFailedAt, nil,
		fieldNextRunAt, document.O("$not", document.O("$gt", millis(now))), // Values that are not times count as due.
		"$nor", isHeld(now),
		"$and", document.A(isAlive()),
	)
}

// isHeld returns conditions that each prevent a claim. A lease or pause that was written later than now does not
// count, because the clock was set back.
func isHeld(now time.Time) document.Array {
	future := millis(now.Add(clockSlack))
	return document.A(
		document.O(
			fieldLeaseUntil, document.O("$gt", millis(now), "$lte", millis(now.Add(lease.Longest))),
			fieldHeldAt, document.O("$gt", 0, "$lte", future),
		),
		document.O(
			fieldRetryAt, document.O("$gt", millis(now), "$lte", int64(latestTime)),
			fieldHeldAt, document.O("$not", document.O("$gt", future)),
		),
	)
}

// timesIndex returns the paths of the index by time. Agendas that are completed or failed for good are in separate
// parts of the index, so that they do not slow down the queries.
func timesIndex() []string { return []string{fieldCompleted, fieldFailedAt, fieldNextRunAt} }

// isAlive returns the condition that an agenda without failedAt has not failed for good. An agenda that is marked as
// failed continues only if it repeats, see Record.Repeats.
func isAlive() document.Object {
	return document.O("$or", document.A(
		document.O(fieldFailed, document.O("$ne", true)),
		document.O(fieldPattern, document.O("$gt", ""), fieldRunUntil, document.O("$gt", 0)),
	))
}

// giveBack implements candidates. It does nothing, because a later query finds the agenda again.
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
	p.alarm.expect(millis(at))
}

func (p *polledQueue) expect(at time.Time) {
	if !at.IsZero() {
		p.alarm.expect(millis(at))
	}
}

func (p *polledQueue) next(ctx context.Context, now time.Time) (at time.Time, ok bool, err error) {
	due, err := p.count(ctx, now)
	if err != nil || due > 0 {
		return now, err == nil, err
	}
	later, err := p.find(ctx, isLater(now).With("$nor", isHeld(now)).With("$and", document.A(isAlive())),
		store.FindOptions{Sort: p.byTime, Limit: 1})
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

func (p *polledQueue) idle(now time.Time, atMost time.Duration) time.Duration {
	return p.alarm.idle(millis(now), atMost)
}

func (p *polledQueue) woken() <-chan struct{} { return p.alarm.wake }

func (p *polledQueue) close() {
	p.alarm.end()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.found = nil
	clear(p.blocked)
}
