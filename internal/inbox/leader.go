package inbox

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/blame"
	"github.com/botctx/go-sdk/internal/display"
	"github.com/botctx/go-sdk/internal/lease"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// Of the inboxes over a store that one process has to itself the one that leads handles events.
// An inbox takes the lead when it begins: what stands in its note and never came back was ended by the
// end of the process, or is taken over. An inbox that has lost the lead begins nothing, what it has
// under way is told that nothing counts any more, and its note is refused by the fence.

type begun struct {
	lane string
	// events are the ids of what is handled, one after the other, and attempts how many attempts at the
	// first of them there were before.
	events   []string
	attempts int64
	held     *lease.Lease
	// noted is how it stands in the note: the lane, the attempts, the ids.
	noted document.Array
}

// The document of the leader, and its fields.
const (
	noteCollection = "inboxSeat"
	noteID         = "leader"
	// fieldWrites is how often the note was written.
	fieldWrites = "writes"
	// fieldIsFree is true where there is no leader.
	fieldIsFree = "isFree"
)

// lead takes the lead, unless this inbox has it already, and fills the queue. It reports false where another
// inbox leads by now. The caller holds taking.
func (a *exclusive) lead(ctx context.Context, want want) (bool, error) {
	isLeader, isDeposed := a.leadership()
	if isDeposed && !want.isForced {
		if isFree, err := a.isLeaderless(ctx); err != nil || !isFree {
			return false, err
		}
	}
	if err := a.fill(ctx); err != nil {
		return false, err
	}
	if !isLeader {
		if err := a.takeLead(ctx); err != nil {
			return false, err
		}
	}
	if len(a.lost) > 0 {
		if err := a.countLosses(ctx, want); err != nil {
			return false, err
		}
		a.lost = nil
	}
	return true, nil
}

// leadership returns whether this inbox leads, and whether another one has taken over.
func (a *exclusive) leadership() (isLeader, isDeposed bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.isLeader, a.isDeposed
}

// isLeaderless reports whether there is no leader.
func (a *exclusive) isLeaderless(ctx context.Context) (bool, error) {
	filter, err := query.CompileFilter(document.O(fieldID, noteID, fieldIsFree, true))
	if err != nil {
		return false, err
	}
	count, err := a.notes.Count(ctx, filter)
	return count > 0, err
}

func (a *exclusive) takeLead(ctx context.Context) error {
	filter, err := query.CompileFilter(document.O(fieldID, noteID))
	if err != nil {
		return err
	}
	update, err := query.CompileUpdate(document.O("$inc", document.O(lease.FieldFence, 1), "$unset", document.O(fieldIsFree, true)))
	if err != nil {
		return err
	}
	taken, err := a.notes.FindAndModify(ctx, filter, query.Change{Update: update},
		store.FindAndModifyOptions{Upsert: true, New: true})
	if err != nil {
		return err
	}
	a.lost = nil
	for _, item := range document.Get(taken.Document, fieldBegun, document.A()).All() {
		if noted, ok := item.(document.Array); ok {
			a.lost = append(a.lost, readBegun(noted))
		}
	}
	a.lost = append(a.lost, a.lostAtOnce()...)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.fence, a.isLeader, a.isDeposed = lease.Fence(taken.Document), true, false
	return nil
}

// countLosses counts the starts that never came back: one alone as a failure, several as the losses of
// suspects. The caller holds taking.
func (a *exclusive) countLosses(ctx context.Context, want want) (err error) {
	var lost []stored
	for _, b := range a.lost {
		if first, ok := a.firstOf(b.lane); ok && b.hasBegun(first) {
			lost = append(lost, first)
		}
	}
	if len(lost) == 1 {
		_, err = a.fail(ctx, lost[0], ErrNeverCameBack, want.part)
	} else {
		err = a.loseAll(ctx, lost)
	}
	if isLost(err) {
		return nil // They are not what they were: somebody has counted them.
	}
	return err
}

// loseAll stores that starts of events never came back beside each other, in one write: if that were
// half done, the last one would look as if it had been alone. Those that were suspects before run first,
// and alone.
func (a *exclusive) loseAll(ctx context.Context, lost []stored) error {
	var ids []any
	for _, e := range lost {
		if !e.isLostOdd {
			ids = append(ids, e.id)
		} else if _, err := a.lose(ctx, e); err != nil && !isLost(err) {
			return err
		}
	}
	filter, err := query.CompileFilter(document.O(fieldID, document.O("$in", document.A(ids...)), fieldState, statePending))
	if err != nil {
		return err
	}
	change := query.Change{Update: a.updates().lose}
	if _, err := a.events.Update(ctx, filter, change, store.UpdateOptions{Multi: true}); err != nil {
		return err
	}
	for _, e := range lost {
		a.report(ctx, slog.LevelWarn, "inbox: lost beside others", e, ErrNeverCameBack)
		if e.suspicion() > blame.None {
			a.suspects.Reserve(e.lane, a.config.Env.Now())
		}
	}
	return nil
}

// hasBegun reports whether an event that waits is what was under way: it is one of those that were to be
// handled, those before it are not there any more, and it has not failed since.
func (b begun) hasBegun(first stored) bool {
	for i, id := range b.events {
		if id == first.id {
			return i > 0 && first.attempts() == 0 || i == 0 && first.attempts() == b.attempts
		}
	}
	return false
}

// firstOf returns the first event of a lane.
func (a *exclusive) firstOf(lane string) (first stored, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.queue == nil {
		return stored{}, false
	}
	kept, ok := a.queue.firstOf(lane)
	return read(kept.document), ok
}

func (a *exclusive) noteBegun(w work) {
	b := begunWith(w.lane, w.held, w.events)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.begun[w.lane] = b
}

func begunWith(lane string, held *lease.Lease, events []stored) begun {
	b := begun{lane: lane, held: held, attempts: events[0].attempts()}
	for _, e := range events {
		b.events = append(b.events, e.id)
	}
	b.noted = b.asNoted()
	return b
}

// notedBefore is the number of items of begun.noted before the ids.
const notedBefore = 2

func (b begun) asNoted() document.Array {
	items := make([]any, 0, notedBefore+len(b.events))
	items = append(items, b.lane, b.attempts)
	for _, id := range b.events {
		items = append(items, id)
	}
	return document.ArrayOf(items)
}

func readBegun(noted document.Array) begun {
	b := begun{noted: noted}
	b.lane, _ = noted.At(0).(string)
	b.attempts, _ = noted.At(1).(int64)
	for i := notedBefore; i < noted.Len(); i++ {
		if id, ok := noted.At(i).(string); ok {
			b.events = append(b.events, id)
		}
	}
	return b
}

// note returns the fields of the leader's document that tell what is under way.
func (a *exclusive) note() (begun document.Array, fence int64, isLeader bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	all := make([]any, 0, len(a.begun)+len(a.lost))
	for _, b := range a.lost {
		all = append(all, b.noted)
	}
	for _, b := range a.begun {
		if !b.noted.IsZero() { // Else its event says so.
			all = append(all, b.noted)
		}
	}
	return document.ArrayOf(all), a.fence, a.isLeader
}

// writeNote writes down what is under way. lease.ErrLost: another inbox leads. The caller holds
// taking.
func (a *exclusive) writeNote(ctx context.Context, more ...any) error {
	begun, fence, isLeader := a.note()
	if !isLeader {
		return lease.ErrLost
	}
	filter, err := query.CompileFilter(document.O(fieldID, noteID, lease.FieldFence, fence))
	if err != nil {
		return err
	}
	change := query.Change{
		Update: a.updates().note, Stamps: query.Stamps{Set: document.O(append([]any{fieldBegun, begun}, more...)...)},
	}
	done, err := a.notes.Update(ctx, filter, change, store.UpdateOptions{})
	if err == nil && done.Matched == 0 {
		a.depose()
		err = lease.ErrLost
	}
	return err
}

// tellNote writes down that something is not under way any more. Where that fails it counts as begun
// until the next note.
func (a *exclusive) tellNote(ctx context.Context) {
	a.taking.Lock()
	defer a.taking.Unlock()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), a.leases.Duration())
	defer cancel()
	if err := a.writeNote(ctx); err != nil && !isLost(err) {
		a.log.LogAttrs(ctx, slog.LevelWarn, "inbox: what was given back was not noted", slog.String("error", display.Text(err)))
	}
}

// resign gives the lead back. What is still under way stays in its note.
func (a *exclusive) resign(ctx context.Context) {
	if isLeader, _ := a.leadership(); !isLeader {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), a.leases.Duration())
	defer cancel()
	if err := a.writeNote(ctx, fieldIsFree, true); err != nil && !isLost(err) {
		a.log.LogAttrs(ctx, slog.LevelWarn, "inbox: the end was not noted", slog.String("error", display.Text(err)))
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.isLeader = false
	clear(a.begun)
}

// noteChanged is told each change of the leader.
func (a *exclusive) noteChanged(_, after document.Object) {
	if fence := lease.Fence(after); fence > a.currentFence() {
		a.depose()
	}
}

func (a *exclusive) currentFence() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.fence
}

// depose notes that another inbox leads, and ends what is under way.
func (a *exclusive) depose() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.isLeader {
		a.isDeposed = true
		a.endLocked()
	}
}

// endLocked ends what is under way, for a caller that holds mu.
func (a *exclusive) endLocked() {
	a.isLeader = false
	for _, b := range a.begun {
		b.held.Revoke()
	}
	clear(a.begun)
	a.queue = nil // Its lanes are taken by runs that do not count any more.
}

const (
	// window is the number of lanes that one look is for, and readAhead the number of events that it reads
	// at once. pageSize is the number of events of which a pass reads the lanes at once.
	window    = 64
	readAhead = 2 * window
	pageSize  = 2 * window
	// perLease is the number of events that are handled under one lease of a lane, and longLease the time after
	// which no further one begins in it. Then other lanes have their turn.
	perLease  = 16
	longLease = 50 * time.Millisecond
)

// snapshot is what a look at lanes found.
type snapshot struct {
	// free are lanes with something to do, in the order of their first events.
	free []work
	// waiting are lanes whose first event is tried again later, with when; held are those that others
	// hold, with until when.
	waiting, held map[string]time.Time
}

// lookInto looks at lanes. now is the time of the store's clock.
//
// The documents of lanes are read before their events: whoever handles one of these later has a
// lease, and so changes the document, so that the claim of what was seen fails.
func (b *Inbox) lookInto(ctx context.Context, lanes []string, now time.Time) (snapshot, error) {
	found := snapshot{waiting: map[string]time.Time{}, held: map[string]time.Time{}}
	if len(lanes) == 0 {
		return found, nil
	}
	seen, err := b.leases.Look(ctx, lanes)
	if err != nil {
		return snapshot{}, err
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
	ctx context.Context, found *snapshot, free []string, seen map[string]document.Object, now time.Time,
) error {
	for len(free) > 0 {
		most := min(readAhead, perLease*len(free))
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
func (found *snapshot) add(
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
		case len(found.free[at].events) < perLease:
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

func anyOf(texts []string) []any {
	values := make([]any, len(texts))
	for i, text := range texts {
		values[i] = text
	}
	return values
}
