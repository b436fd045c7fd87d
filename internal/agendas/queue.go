package agendas

import (
	"cmp"
	"container/heap"
	"context"
	"math"
	"time"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/fair"
	"github.com/botctx/go-sdk/internal/lease"
	"github.com/botctx/go-sdk/internal/record"
)

// candidates finds agendas that can be claimed. now is always a time of the store's clock. Implementations are safe
// for concurrent use.
type candidates interface {
	// first returns the due agenda that must run first, or the zero Object if none is due. The caller must
	// claim it or give it back.
	first(ctx context.Context, now time.Time) (document.Object, error)
	// take returns at most limit due agendas. Apps take turns, and within an app its channels. Each agenda
	// takes a place of its channel, which the caller must release. The agendas may have been found up to
	// maxAge ago. isLeft is true if further agendas are due whose channels have no place.
	take(ctx context.Context, now time.Time, limit int, maxAge time.Duration, places *fair.Shares) (
		taken []document.Object, isLeft bool, err error)
	// giveBack returns an agenda that could not be claimed.
	giveBack(taken document.Object)
	// putBack returns an agenda that the caller did not try to claim.
	putBack(taken document.Object)
	// deferUntil keeps a taken agenda from being taken again before a time, unless it changes.
	deferUntil(taken document.Object, at time.Time)
	// expect records that this scheduler has stored an agenda that can be claimed from a time on. It ignores
	// the zero time.
	expect(at time.Time)
	// next returns the time at which the next agenda can be claimed, which is now if one is due. ok is false
	// if there is none.
	next(ctx context.Context, now time.Time) (at time.Time, ok bool, err error)
	// count returns the number of agendas that are due.
	count(ctx context.Context, now time.Time) (int, error)
	// idle returns how long to wait for more due agendas, at most atMost, after none could be taken at now.
	idle(now time.Time, atMost time.Duration) time.Duration
	// woken returns a channel that receives when idle may have decreased, or nil if that is unknown.
	woken() <-chan struct{}
	// close stops background work. The next call of another method starts it again.
	close()
}

// queue holds open agendas in memory. The due ones are in one heap, or in one heap for each channel if the
// queue is fair. Create it with newQueue.
type queue struct {
	byID         map[string]*entry
	waiting, due entryHeap
	// isFair is true if the due agendas are in channels instead of due.
	isFair   bool
	channels fair.Ring[*entryHeap]
	arrivals uint64
	// latestHeld is at least the greatest heldAt of all entries.
	latestHeld int64
}

func newQueue(size int) *queue {
	return &queue{
		byID:    make(map[string]*entry, size),
		waiting: entryHeap{place: waiting, slots: make([]slot, 0, size)},
		due:     entryHeap{place: due},
	}
}

// keyOf returns the channel whose places an agenda uses.
func keyOf(o document.Object) fair.Key {
	return fair.Key{App: document.Get(o, record.FieldApp, ""), Channel: document.Get(o, record.FieldChannel, "")}
}

// set adds an agenda or replaces it with a newer version, and reports whether it may now be the next one due.
func (q *queue) set(id string, o document.Object) bool {
	known, ok := q.byID[id]
	if ok {
		q.takeOut(known)
	} else {
		known = &entry{arrival: q.arrivals}
	}
	completed, stopped := known.read(o)
	q.latestHeld = max(q.latestHeld, known.heldAt)
	if completed {
		delete(q.byID, id)
		return false
	}
	if !ok {
		q.byID[id] = known
		q.arrivals++
	}
	if stopped {
		known.place = parked
		return false
	}
	q.waiting.push(known)
	return known.index == 0
}

func (q *queue) remove(id string) {
	if known, ok := q.byID[id]; ok {
		q.takeOut(known)
		delete(q.byID, id)
	}
}

// takeOut removes an entry from its heap. It drops a channel's heap that becomes empty.
func (q *queue) takeOut(e *entry) {
	switch e.place {
	case waiting:
		q.waiting.remove(e)
	case due:
		h := e.due
		h.remove(e)
		if h != &q.due && h.top() == nil {
			q.channels.Drop(h.channel)
		}
	case nowhere, parked:
	}
}

// pushDue adds an entry to the heap of due entries.
func (q *queue) pushDue(e *entry) {
	e.due = &q.due
	if q.isFair {
		channel := keyOf(e.seen)
		e.due = q.channels.Get(channel, func() *entryHeap { return &entryHeap{place: due, channel: channel, isFair: true} })
	}
	e.due.push(e)
}

// refresh moves entries that have become due to the due heaps. If the clock was set back, it also moves back
// entries that are no longer due.
func (q *queue) refresh(now int64) {
	if q.latestHeld > now+clockSlack.Milliseconds() {
		q.freeHeld(now)
	}
	q.putAllBack(now)
	q.moveDue(now)
}

// freeHeld ignores leases and pauses that were written later than now, because the clock was set back.
func (q *queue) freeHeld(now int64) {
	q.latestHeld = 0
	for _, e := range q.byID {
		if e.heldAt <= now+clockSlack.Milliseconds() {
			q.latestHeld = max(q.latestHeld, e.heldAt)
			continue
		}
		e.heldUntil, e.heldAt = 0, 0
		if e.place == waiting {
			q.takeOut(e)
			q.waiting.push(e)
		}
	}
}

// moveDue moves the waiting entries that have become due to the due heaps.
func (q *queue) moveDue(now int64) {
	for e := q.waiting.top(); e != nil && e.dueAt() <= now; e = q.waiting.top() {
		q.waiting.remove(e)
		q.pushDue(e)
	}
}

// putAllBack is putBack for all heaps.
func (q *queue) putAllBack(now int64) {
	q.putBack(&q.due, now)
	q.channels.All(func(_ fair.Key, h *entryHeap) bool {
		q.putBack(h, now)
		return true
	})
}

// putBack moves entries at the top of a heap that are not due at now back to the waiting ones.
func (q *queue) putBack(h *entryHeap, now int64) {
	for e := h.top(); e != nil && e.dueAt() > now; e = h.top() {
		q.takeOut(e)
		q.waiting.push(e)
	}
}

// take removes the first due entry from its heap and returns it, or nil if there is none.
func (q *queue) take(now int64) *entry {
	if q.isFair {
		q.isFair = false
		q.putAllBack(math.MinInt64) // Then refresh sorts them again.
	}
	q.refresh(now)
	e := q.due.top()
	if e != nil {
		q.due.remove(e)
	}
	return e
}

// takeFairly takes up to limit due entries, and a place for each. Apps and channels take turns. isLeft is true if
// further entries are due whose channels have no place.
func (q *queue) takeFairly(now int64, limit int, places *fair.Shares) (taken []document.Object, isLeft bool) {
	if !q.isFair {
		q.isFair = true
		q.putAllBack(math.MinInt64) // Then refresh sorts them again.
	}
	q.refresh(now)
	for len(taken) < limit {
		_, h, ok := q.channels.Next(places.Take)
		if !ok {
			return taken, q.channels.Len() > 0
		}
		e := h.top()
		q.takeOut(e)
		taken = append(taken, e.seen)
		q.putBack(h, now)
	}
	return taken, false
}

// giveBack puts back an agenda that was taken, unless it has changed meanwhile.
func (q *queue) giveBack(id string) {
	if e, ok := q.byID[id]; ok && e.place == nowhere {
		q.waiting.push(e)
	}
}

// deferUntil makes an agenda that was taken wait until a time, unless it has changed meanwhile.
func (q *queue) deferUntil(id string, at int64) {
	if e, ok := q.byID[id]; ok && e.place == nowhere {
		e.deferredUntil = at
		q.waiting.push(e)
	}
}

// countDue returns the number of entries that are due.
func (q *queue) countDue(now int64) (count int) {
	q.refresh(now)
	count = len(q.due.slots)
	q.channels.All(func(_ fair.Key, h *entryHeap) bool {
		count += len(h.slots)
		return true
	})
	return count
}

// next returns the time at which the next entry can be claimed, which is now if one is due.
func (q *queue) next(now int64) (at int64, ok bool) {
	q.refresh(now)
	if q.due.top() != nil || q.channels.Len() > 0 {
		return now, true
	}
	return q.nextWaiting()
}

// nextWaiting returns the time at which the next waiting entry can be claimed.
func (q *queue) nextWaiting() (at int64, ok bool) {
	if e := q.waiting.top(); e != nil {
		return e.dueAt(), true
	}
	return 0, false
}

// entry is an open agenda in a queue.
type entry struct {
	// seen is the document as last read.
	seen document.Object
	// These fields decide when the agenda is claimed, and in which order. Times are Unix milliseconds.
	nextRunAt int64
	// heldUntil is the later of leaseUntil and retryAt. It counts only if heldAt, the time when these were written,
	// is not in the future.
	heldUntil, heldAt int64
	// deferredUntil is the time before which this process ignores the agenda.
	deferredUntil int64

	priority, createdAt int64
	// arrival is the number of the entry in the order of insertion.
	arrival uint64
	// index is the index of the entry in its heap.
	index int32
	place place
	// due is the heap of due entries to which the entry belongs.
	due *entryHeap
}

// place is the position of an entry in a queue.
type place uint8

const (
	// nowhere: in no heap, because a worker is trying to claim the agenda.
	nowhere place = iota
	// waiting: not yet due, or held by a lease or by the pause after a failure.
	waiting
	// due: can be claimed.
	due
	// parked entries have failed for good. They keep their arrival until updateAgenda sets a new schedule.
	parked
)

// dueAt returns the time from which the agenda can be claimed.
func (e *entry) dueAt() int64 { return max(e.nextRunAt, e.heldUntil, e.deferredUntil) }

// slot returns the slot of the entry in a heap. In a channel's heap, a retried agenda comes after agendas that
// fell due before its pause ended.
func (e *entry) slot(h *entryHeap) slot {
	switch {
	case h.place != due:
		return slot{first: e.dueAt(), entry: e}
	case h.isFair:
		return slot{first: e.priority, second: e.dueAt(), entry: e}
	default:
		return slot{first: e.priority, second: e.nextRunAt, entry: e}
	}
}

// read sets the entry from a document. completed and stopped report whether the agenda is completed, or has
// failed for good.
func (e *entry) read(o document.Object) (completed, stopped bool) { //nolint:cyclop // It is one table of fields.
	*e = entry{seen: o, arrival: e.arrival, index: e.index, place: e.place}
	var failed, forGood, hasPattern, hasEnd bool // A failed agenda is only alive if it repeats; see isAlive.
	var leaseUntil, retryAt int64
	for field, value := range o.All() {
		switch field {
		case fieldNextRunAt:
			e.nextRunAt = integer(value)
		case fieldLeaseUntil:
			leaseUntil = integer(value)
		case fieldRetryAt:
			retryAt = integer(value)
		case fieldHeldAt:
			e.heldAt = max(0, integer(value))
		case fieldPriority:
			e.priority = integer(value)
		case record.FieldCreatedAt:
			e.createdAt = integer(value)
		case fieldCompleted:
			is, isBool := value.(bool)
			completed = is || !isBool
		case fieldFailed:
			failed, _ = value.(bool)
		case fieldFailedAt:
			forGood = value != nil
		case fieldPattern:
			hasPattern = value != ""
		case fieldRunUntil:
			hasEnd = integer(value) > 0
		}
	}
	e.hold(leaseUntil, retryAt)
	return completed, forGood || failed && !(hasPattern && hasEnd)
}

// hold sets the time until which the agenda is held, by the same rules as isHeld.
func (e *entry) hold(leaseUntil, retryAt int64) {
	if e.heldAt > 0 && leaseUntil <= e.heldAt+lease.Longest.Milliseconds() {
		e.heldUntil = max(0, leaseUntil)
	}
	if retryAt <= int64(latestTime) {
		e.heldUntil = max(e.heldUntil, retryAt)
	}
}

// integer converts a number to an integer, or to the nearest one if it is out of range. It returns 0 for values
// that are not numbers.
func integer(value any) int64 {
	switch v := value.(type) {
	case int64:
		return v
	case float64:
		switch {
		case v >= math.MaxInt64:
			return math.MaxInt64
		case v <= math.MinInt64:
			return math.MinInt64
		case !math.IsNaN(v):
			return int64(v)
		}
	}
	return 0
}

func idOf(o document.Object) string {
	id, _ := o.Field(record.FieldID)
	text, _ := id.(string)
	return text
}

// millis returns a time in Unix milliseconds, the unit of times in records.
func millis(t time.Time) int64 { return int64(document.TimestampOf(t)) }

// entryHeap is a heap.Interface of the entries of one place in a queue, with the first one on top. The slots contain the
// sort keys, so that comparisons rarely access the entries.
type entryHeap struct {
	place place
	slots []slot
	// channel is the channel of the heap if isFair is true.
	channel fair.Key
	isFair  bool
}

// slot is an entry with its main sort keys.
type slot struct {
	first, second int64
	entry         *entry
}

// before reports whether a slot sorts before another one, by their keys and then by creation.
func (s *slot) before(other *slot) bool {
	switch {
	case s.first != other.first:
		return s.first < other.first
	case s.second != other.second:
		return s.second < other.second
	default:
		created := cmp.Compare(s.entry.createdAt, other.entry.createdAt)
		return created < 0 || created == 0 && s.entry.arrival < other.entry.arrival
	}
}

// top returns the first entry, or nil if there is none.
func (h *entryHeap) top() *entry {
	if len(h.slots) == 0 {
		return nil
	}
	return h.slots[0].entry
}

func (h *entryHeap) push(e *entry) { heap.Push(h, e) }

func (h *entryHeap) remove(e *entry) { heap.Remove(h, int(e.index)) }

func (h *entryHeap) Len() int { return len(h.slots) }

func (h *entryHeap) Less(i, j int) bool { return h.slots[i].before(&h.slots[j]) }

func (h *entryHeap) Swap(i, j int) {
	h.slots[i], h.slots[j] = h.slots[j], h.slots[i]
	h.slots[i].entry.index, h.slots[j].entry.index = int32(i), int32(j)
}

func (h *entryHeap) Push(x any) {
	e, _ := x.(*entry)
	e.place, e.index = h.place, int32(len(h.slots))
	h.slots = append(h.slots, e.slot(h))
}

func (h *entryHeap) Pop() any {
	last := len(h.slots) - 1
	e := h.slots[last].entry
	h.slots[last] = slot{}
	h.slots = h.slots[:last]
	e.place = nowhere
	return e
}
