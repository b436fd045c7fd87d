package inbox

import (
	"context"
	"log/slog"
	"time"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/blame"
	"github.com/botctx/go-sdk/internal/display"
	"github.com/botctx/go-sdk/internal/fair"
	"github.com/botctx/go-sdk/internal/lease"
	"github.com/botctx/go-sdk/internal/query"
	"github.com/botctx/go-sdk/store"
)

// exclusive is the source of an inbox over a store that this process has to itself (store.Watcher). It keeps
// the waiting events in memory, and updates them with the store's changes. Lanes have no documents. Instead,
// fieldBegun marks an event that is being handled.
//
// Only one inbox over such a store, the leader, handles events. An inbox takes the lead when it begins. Events
// that are marked as begun then were interrupted by the end of their process, or belong to the previous
// leader. An inbox that has lost the lead begins no events, and results of its runs are not stored.
type exclusive struct {
	taker

	watcher store.Watcher
	notes   store.Collection
	// stop ends the subscriptions, if any. It is guarded by taking.
	stop []func()
	// hasLosses is true until the events that the previous leader had started are counted as losses. It is guarded by
	// taking.
	hasLosses bool

	// queue is nil until it is filled; taker.lanes are its lanes. early are the changes made while it is being
	// filled. mu guards all fields below.
	queue     *queue
	isFilling bool
	early     []documentChange
	// fence is the fencing token of this inbox's lead, and newest is the token of the last reported lead. isLeader is
	// true if this inbox leads, and isDeposed if another one has taken over from it.
	fence, newest       int64
	isLeader, isDeposed bool
	// granted has the leases of the lanes that are being handled.
	granted map[string]*lease.Lease
}

type documentChange struct{ before, after document.Object }

// The document of the leader. Its fieldIsFree is true if there is no leader.
const (
	noteCollection = "inboxLeader"
	noteID         = "leader"
	fieldIsFree    = "isFree"
)

var _ source = (*exclusive)(nil)

func newExclusive(b *Inbox, watcher store.Watcher, notes store.Collection) *exclusive {
	return &exclusive{taker: taker{Inbox: b}, watcher: watcher, notes: notes, granted: map[string]*lease.Lease{}}
}

func (a *exclusive) prepare(ctx context.Context, want want) (now time.Time, ok bool, err error) {
	if ok, err = a.lead(ctx, want); err != nil || !ok {
		return time.Time{}, false, err
	}
	if want.now, err = a.leases.Now(ctx); err != nil {
		return time.Time{}, false, err
	}
	a.ripen(want)
	return want.now, true, nil
}

// ripen makes lanes ready if their wait has ended by want.now. If want.isNew is true, it also makes parked lanes ready.
func (a *exclusive) ripen(want want) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.queue == nil {
		return
	}
	if want.isNew {
		a.queue.askAll()
	}
	a.queue.ripen(int64(document.TimestampOf(want.now)))
}

func (*exclusive) more(context.Context, want) (bool, error) { return false, nil }

func (a *exclusive) open(_ context.Context, name string, want want) (w work, ok bool, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.queue == nil {
		return work{}, false, nil
	}
	of := a.queue.get(name)
	events := of.allowed(int64(document.TimestampOf(want.now)), want.each)
	if len(events) == 0 {
		a.queue.leave(name)
		return work{}, false, nil
	}
	w = work{lane: name, events: events, held: a.leases.Grant(name, a.fence)}
	a.granted[name] = w.held
	return w, true, nil
}

// begun marks the events of taken lanes as begun. The events after the first one of a lane get the mark false, because
// they may never begin.
func (a *exclusive) begun(ctx context.Context, taken []work) error {
	var first, later []any
	for _, w := range taken {
		for i, e := range w.events {
			switch {
			case i > 0:
				later = append(later, e.id)
			case !e.hasBegun:
				first = append(first, e.id)
			}
		}
	}
	if err := a.changeAll(ctx, later, updates().beginLater); err != nil {
		return err
	}
	return a.changeAll(ctx, first, updates().begin)
}

// changeAll updates the waiting events with the given ids, in one write.
func (a *exclusive) changeAll(ctx context.Context, ids []any, update *query.Update) error {
	if len(ids) == 0 {
		return nil
	}
	filter, err := query.CompileFilter(document.O(fieldID, document.O("$in", document.ArrayOf(ids)), fieldState, statePending))
	if err != nil {
		return err
	}
	_, err = a.events.Update(ctx, filter, query.Change{Update: update}, store.UpdateOptions{Multi: true})
	return err
}

func (a *exclusive) left(ctx context.Context, w work, left laneState) {
	w.leave()
	notBegun, hasEvents := a.putBack(w, left)
	if hasEvents || a.suspects.IsDraining() {
		a.signal()
	}
	if len(notBegun) == 0 {
		return
	}
	ctx, stop := a.ending(ctx)
	defer stop()
	if err := a.changeAll(ctx, notBegun, updates().giveBack); err != nil { // The events stay marked until they are handled.
		a.log.LogAttrs(ctx, slog.LevelWarn, "inbox: events not given back", slog.String("error", display.Text(err)))
	}
}

// putBack puts a lane back into the queue. notBegun are the ids of its events that are marked as begun but not
// done. hasEvents is true if the lane has events.
func (a *exclusive) putBack(w work, left laneState) (notBegun []any, hasEvents bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.granted[w.lane] != w.held {
		return nil, false // The inbox has lost the lead.
	}
	delete(a.granted, w.lane)
	of := a.queue.get(w.lane)
	if left.isBroken {
		a.queue.park(of, 0)
		return nil, false
	}
	for _, e := range of.events {
		if e.document.Has(fieldBegun) {
			notBegun = append(notBegun, e.id)
		}
	}
	return notBegun, a.queue.leave(w.lane)
}

func (a *exclusive) next(ctx context.Context) (at time.Time, ok bool, err error) {
	a.taking.Lock()
	defer a.taking.Unlock()
	if err := a.fill(ctx); err != nil {
		return time.Time{}, false, err
	}
	now, err := a.leases.Now(ctx)
	if err != nil {
		return time.Time{}, false, err
	}
	own := want{now: now, each: 1, isNew: true}
	a.ripen(own)
	for {
		name, isTaken := a.takeLane("", own)
		if !isTaken {
			break
		}
		leave, canEnter := a.config.Enter(name)
		if !canEnter {
			a.setAside(name)
			continue
		}
		leave()
		if a.isReady(name, now) {
			return now, true, nil
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.queue == nil {
		return now, true, nil // The store's content was replaced meanwhile.
	}
	if len(a.queue.waiting) == 0 {
		return time.Time{}, false, nil
	}
	return document.Timestamp(a.queue.waiting[0].until).Time(), true, nil
}

// isReady reports whether a taken lane has an event that can be handled now, and puts the lane back.
func (a *exclusive) isReady(name string, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.queue == nil {
		return false
	}
	events := a.queue.get(name).allowed(int64(document.TimestampOf(now)), 1)
	a.queue.leave(name)
	return len(events) > 0
}

// isErased reports whether an event of a lane that was taken has been removed meanwhile. It makes no call to the store.
func (a *exclusive) isErased(name, id string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.queue == nil {
		return false
	}
	of := a.queue.known[name]
	return of == nil || of.find(id) < 0
}

// accepted does nothing, because the store reports all changes.
func (*exclusive) accepted(string) {}

func (a *exclusive) counted(app string) (pending int64, oldest document.Object, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.queue == nil:
		return 0, document.Object{}, false
	case app != "":
		return a.queue.ofApp[app], document.Object{}, true
	default:
		return a.queue.pending, a.queue.oldest(), true
	}
}

// hold takes a lane for an event that is about to be accepted, if no event of the lane waits or runs, and no other
// lanes of its channel wait for a place. The event is then stored with fieldBegun. The lane must be left.
func (a *exclusive) hold(name string, of fair.Key) (w work, isFree bool) {
	if _, isOnly := a.suspects.Only(a.config.Env.Now()); isOnly {
		return work{}, false // Only one suspect may run now.
	}
	if w, isFree = a.holdFree(name, of); !isFree {
		return work{}, false
	}
	leave, canEnter := a.config.Enter(name)
	if !canEnter {
		w.held.Abandon()
		a.putBack(w, laneState{isBroken: true})
		return work{}, false
	}
	w.leave = leave
	return w, true
}

func (a *exclusive) holdFree(name string, of fair.Key) (w work, isFree bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.isLeader || a.queue == nil || a.queue.known[name] != nil {
		return work{}, false
	}
	if _, isBusy := a.queue.ready.Find(of); isBusy {
		return work{}, false
	}
	a.queue.hold(a.queue.get(name))
	a.granted[name] = a.leases.Grant(name, a.fence)
	return work{lane: name, held: a.granted[name]}, true
}

// confirm is called once the event of a lane from hold is stored. It reports whether the event starts: another event of
// the lane may have been accepted at the same time, and be the first.
func (a *exclusive) confirm(w *work, e stored) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.queue == nil || a.granted[w.lane] != w.held {
		return false // The inbox has lost the lead.
	}
	events := a.queue.get(w.lane).events
	if len(events) == 0 || events[0].id != e.id {
		return false
	}
	w.events = []stored{e}
	return true
}

// fill fills the queue unless it is filled, and subscribes to the store's changes. The caller holds taking.
func (a *exclusive) fill(ctx context.Context) error {
	for !a.isFilled() {
		a.watch()
		found, err := a.find(ctx, document.O(fieldState, document.O("$in", document.A(statePending, stateDead))), store.FindOptions{})
		if err == nil {
			err = a.awaitReports(ctx)
		}
		q := newQueue()
		for _, o := range found {
			q.change(document.Object{}, o)
		}
		a.filled(q, err)
		if err != nil {
			return err
		}
	}
	return nil
}

// awaitReports waits until the store has reported all changes that a finished search has seen. A search may see a
// change before the store reports it, but the report comes before the next write to the collection. This write
// matches no event.
func (a *exclusive) awaitReports(ctx context.Context) error {
	const noEvent = ""
	return a.changeAll(ctx, []any{noEvent}, updates().giveBack)
}

// isFilled reports whether the queue is filled. If not, it records that filling has started.
func (a *exclusive) isFilled() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.isFilling, a.early = a.queue == nil, nil
	return a.queue != nil
}

// filled sets the queue, unless the store's content was replaced meanwhile.
func (a *exclusive) filled(q *queue, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err == nil && a.isFilling {
		for _, c := range a.early {
			q.catchUp(c.before, c.after)
		}
		for name := range a.granted {
			q.hold(q.get(name))
		}
		a.queue, a.lanes = q, q.lanes
	}
	a.isFilling, a.early = false, nil
}

// watch subscribes to changes of events and of the leader, once.
func (a *exclusive) watch() {
	if len(a.stop) == 0 {
		a.stop = append(a.stop, a.watcher.Watch(collection, a.changed, a.reset))
	}
	if len(a.stop) == 1 {
		a.stop = append(a.stop, a.watcher.Watch(noteCollection, a.leaderChanged, a.reset))
	}
}

// changed handles a change of an event.
func (a *exclusive) changed(before, after document.Object) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.isFilling:
		a.early = append(a.early, documentChange{before, after})
	case a.queue != nil && a.queue.change(before, after):
		a.signal()
	}
}

func (a *exclusive) leaderChanged(_, after document.Object) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.newest = lease.Fence(after)
	if a.isLeader && a.newest > a.fence {
		a.isDeposed = true
		a.endLocked()
	}
}

// reset is called when all events may have changed, for example because the store was restored. It ends current
// runs, and the lead must be taken again.
func (a *exclusive) reset() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.endLocked()
	a.isDeposed, a.isFilling, a.early = false, false, nil
	a.signal()
}

// endLocked ends current work. The caller holds mu.
func (a *exclusive) endLocked() {
	a.isLeader = false
	for _, held := range a.granted {
		held.Revoke()
	}
	clear(a.granted)
	a.queue, a.lanes = nil, nil // Its lanes are taken by runs whose results no longer count.
}

// close gives up the lead. Events that still run stay marked as begun.
func (a *exclusive) close(ctx context.Context) {
	if isLeader, _ := a.standing(); isLeader {
		a.resign(ctx)
	}
	a.mu.Lock()
	a.endLocked()
	a.mu.Unlock()
	stops := a.stop
	a.stop = nil // Before they are called, because one may panic.
	for _, stop := range stops {
		stop()
	}
}

// resign gives up the lead. The caller holds taking.
func (a *exclusive) resign(ctx context.Context) {
	ctx, stop := a.ending(ctx)
	defer stop()
	filter := query.Must(query.CompileFilter(document.O(fieldID, noteID, lease.FieldFence, a.fence)))
	change := query.Change{Update: query.MustUpdate("$set", document.O(fieldIsFree, true))}
	if _, err := a.notes.Update(ctx, filter, change, store.UpdateOptions{}); err != nil {
		a.log.LogAttrs(ctx, slog.LevelWarn, "inbox: lead not given up", slog.String("error", display.Text(err)))
	}
}

// lead takes the lead, unless this inbox has it, and fills the queue. It returns false if another inbox has taken the
// lead. The caller holds taking.
func (a *exclusive) lead(ctx context.Context, want want) (bool, error) {
	_, wasDeposed := a.standing()
	if wasDeposed && !want.isForced {
		if isFree, err := a.isLeaderless(ctx); err != nil || !isFree {
			return false, err
		}
	}
	if err := a.fill(ctx); err != nil {
		return false, err
	}
	isLeader, isDeposed := a.standing()
	if isDeposed && !wasDeposed && !want.isForced {
		return false, nil // Another inbox has just taken the lead.
	}
	for !isLeader {
		var err error
		if isLeader, err = a.takeLead(ctx); err != nil || !isLeader && !want.isForced {
			return false, err
		}
	}
	return true, a.countLosses(ctx, want)
}

func (a *exclusive) standing() (isLeader, isDeposed bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.isLeader, a.isDeposed
}

func (a *exclusive) isLeaderless(ctx context.Context) (bool, error) {
	count, err := a.notes.Count(ctx, query.Must(query.CompileFilter(document.O(fieldID, noteID, fieldIsFree, true))))
	return count > 0, err
}

// takeLead takes the lead. It returns false if another inbox has already taken it over.
func (a *exclusive) takeLead(ctx context.Context) (bool, error) {
	update := query.MustUpdate("$inc", document.O(lease.FieldFence, 1), "$unset", document.O(fieldIsFree, true))
	taken, err := a.notes.FindAndModify(ctx, query.Must(query.CompileFilter(document.O(fieldID, noteID))),
		query.Change{Update: update}, store.FindAndModifyOptions{Upsert: true, New: true})
	if err != nil {
		return false, err
	}
	a.hasLosses = true
	a.mu.Lock()
	defer a.mu.Unlock()
	a.fence = lease.Fence(taken.Document)
	a.isDeposed = a.newest > a.fence
	a.isLeader = !a.isDeposed
	return a.isLeader, nil
}

// countLosses counts starts that never came back, once for each lead: a single one as a failure, unless the event
// followed another one, and all others as losses of suspects. The caller holds taking.
func (a *exclusive) countLosses(ctx context.Context, want want) (err error) {
	if !a.hasLosses {
		return nil
	}
	lost, isFilled := a.lost()
	if !isFilled {
		return nil // The store's content was replaced meanwhile.
	}
	if len(lost) == 1 && lost[0].hasBegun {
		lost[0].isExact = want.isForced
		_, err = a.fail(ctx, lost[0], ErrNeverCameBack)
	} else {
		err = a.loseAll(ctx, lost)
	}
	if err != nil && !isLost(err) { // If the events have changed, another call has counted them.
		return err
	}
	a.hasLosses = false
	return nil
}

// lost returns the first events of lanes that are marked as begun but not handled by this inbox. isFilled is false if
// there is no queue.
func (a *exclusive) lost() (lost []stored, isFilled bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.queue == nil {
		return nil, false
	}
	for name, of := range a.queue.known {
		if len(of.events) > 0 && a.granted[name] == nil && of.events[0].document.Has(fieldBegun) {
			lost = append(lost, read(of.events[0].document))
		}
	}
	return lost, true
}

// loseAll stores that starts of several events never came back. It uses one write, because after a partial one
// the remaining event would look as if it had run alone. Events that were already suspects run first, and
// alone.
func (a *exclusive) loseAll(ctx context.Context, lost []stored) error {
	var ids []any
	for _, e := range lost {
		if !e.isLostOdd {
			ids = append(ids, e.id)
		} else if _, err := a.lose(ctx, e); err != nil && !isLost(err) {
			return err
		}
	}
	if err := a.changeAll(ctx, ids, updates().lose); err != nil {
		return err
	}
	for _, e := range lost {
		a.report(ctx, slog.LevelWarn, "inbox: lost with others", e, ErrNeverCameBack)
		if e.suspicion() > blame.None {
			a.suspects.Reserve(e.lane, a.config.Env.Now())
		}
	}
	return nil
}
