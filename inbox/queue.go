package inbox

import (
	"container/heap"
	"slices"

	"github.com/botctx/go-sdk/document"
)

// queue is the events that wait, by lane, in memory. It is not safe for concurrent use.
type queue struct {
	lanes map[string]*queued
	// ready are the lanes whose first event may be handled, by when it was accepted; waiting are
	// those whose first event is tried again later, by when that is.
	ready, waiting laneHeap
	// pending is the number of events.
	pending int64
	// last is the number of the event that was accepted last. Events are numbered in their order,
	// and dead letters keep their numbers, for when they are put back.
	last int64
	dead map[string]int64
	// refused are lanes that were set aside, and perhaps others.
	refused []string
}

// The places of a lane.
const (
	placeReady = iota
	placeWaiting
	// placeTaken is that of a lane whose events are being handled, placeRefused that of one that
	// cannot be entered.
	placeTaken
	placeRefused
)

// queued is a lane with events that wait.
type queued struct {
	name   string
	events []numbered
	place  int
	// key is its key in the heap in which it is, and at where it is there.
	key int64
	at  int
	// room is where the events of a lane with one are.
	room [1]numbered
}

// numbered is an event with its number.
type numbered struct {
	number   int64
	id       string
	document document.Object
}

func newQueue() *queue { return &queue{lanes: map[string]*queued{}, dead: map[string]int64{}} }

// change follows the change of an event, and reports whether a lane may have become ready.
func (q *queue) change(before, after document.Object) bool {
	was, is := laneOf(before), laneOf(after)
	switch {
	case is != "" && was == "":
		return q.insert(is, after)
	case is != "":
		return q.put(is, after)
	case was != "":
		q.remove(was, before, after)
	case stateOf(before) == stateDead && stateOf(after) != stateDead:
		delete(q.dead, idOf(before))
	case stateOf(after) == stateDead:
		q.last++
		q.dead[idOf(after)] = q.last
	}
	return false
}

// add adds a lane without events.
func (q *queue) add(name string) *queued {
	lane := &queued{name: name, at: -1}
	lane.events = lane.room[:0]
	q.lanes[name] = lane
	return lane
}

// catchUp follows a change of an event that the queue may have already.
func (q *queue) catchUp(before, after document.Object) {
	if lane := laneOf(after); lane != "" {
		q.put(lane, after)
	} else {
		q.change(before, after)
	}
}

// put renews an event in its lane, or adds it.
func (q *queue) put(name string, o document.Object) bool {
	if lane := q.lanes[name]; lane != nil {
		if i := lane.find(idOf(o)); i >= 0 {
			lane.events[i].document = o
			q.arrange(lane)
			return false
		}
	}
	return q.insert(name, o)
}

// insert adds an event to its lane that is not there, without a look at those that are.
func (q *queue) insert(name string, o document.Object) bool {
	lane := q.lanes[name]
	if lane == nil {
		lane = q.add(name)
	}
	id := idOf(o)
	q.pending++
	e := numbered{number: q.numberOf(id), id: id, document: o}
	i := len(lane.events)
	for i > 0 && lane.events[i-1].number > e.number {
		i--
	}
	lane.events = slices.Insert(lane.events, i, e)
	q.arrange(lane)
	return lane.place == placeReady
}

// numberOf returns the number of an event: the next one, unless it was a dead letter.
func (q *queue) numberOf(id string) int64 {
	if number, wasDead := q.dead[id]; wasDead {
		delete(q.dead, id)
		return number
	}
	q.last++
	return q.last
}

// remove takes an event out of its lane.
func (q *queue) remove(name string, before, after document.Object) {
	lane := q.lanes[name]
	if lane == nil {
		return
	}
	id := idOf(before)
	i := lane.find(id)
	if i < 0 {
		return
	}
	q.pending--
	if stateOf(after) == stateDead {
		q.dead[id] = lane.events[i].number
	}
	if i == 0 {
		lane.events[0] = numbered{}
		lane.events = lane.events[1:]
	} else {
		lane.events = slices.Delete(lane.events, i, i+1)
	}
	q.arrange(lane)
}

// find returns the place of an event in its lane, or -1.
func (l *queued) find(id string) int {
	return slices.IndexFunc(l.events, func(e numbered) bool { return e.id == id })
}

// arrange puts a lane where it belongs by its first event, unless it is taken or refused.
func (q *queue) arrange(lane *queued) {
	switch lane.place {
	case placeTaken, placeRefused:
		return
	default:
		q.leaveHeap(lane)
		q.enterHeap(lane)
	}
}

// leaveHeap takes a lane out of the heap in which it is.
func (q *queue) leaveHeap(lane *queued) {
	if lane.at < 0 {
		return
	}
	if lane.place == placeReady {
		heap.Remove(&q.ready, lane.at)
	} else {
		heap.Remove(&q.waiting, lane.at)
	}
}

// enterHeap puts a lane into the heap where it belongs.
func (q *queue) enterHeap(lane *queued) {
	if len(lane.events) == 0 {
		delete(q.lanes, lane.name)
		return
	}
	first := lane.events[0]
	if at := retryAtOf(first.document); at > 0 {
		lane.place, lane.key = placeWaiting, at
		heap.Push(&q.waiting, lane)
		return
	}
	lane.place, lane.key = placeReady, first.number
	heap.Push(&q.ready, lane)
}

// take takes the first lane that is ready at a time, and up to so many of its events that are. It is
// nil where none is.
func (q *queue) take(now int64, most int) (*queued, []stored) {
	q.ripen(now)
	if len(q.ready) == 0 {
		return nil, nil
	}
	lane := q.ready[0]
	heap.Pop(&q.ready)
	lane.place = placeTaken
	waiting := lane.events[:min(most, len(lane.events))]
	events := make([]stored, 0, len(waiting))
	for _, e := range waiting {
		if retryAtOf(e.document) > now {
			break
		}
		events = append(events, read(e.document))
	}
	return lane, events
}

// ripen makes the lanes ready that have waited long enough.
func (q *queue) ripen(now int64) {
	for len(q.waiting) > 0 && q.waiting[0].key <= now {
		lane := q.waiting[0]
		heap.Pop(&q.waiting)
		lane.place, lane.key = placeReady, lane.events[0].number
		heap.Push(&q.ready, lane)
	}
}

// leave gives a lane back that was taken, and reports whether it has events.
func (q *queue) leave(name string) (hasEvents bool) {
	lane := q.lanes[name]
	if lane == nil {
		return false
	}
	lane.place = placeReady
	q.enterHeap(lane)
	return lane.at >= 0
}

// has reports whether something of a lane waits or is handled.
func (q *queue) has(name string) bool { return q.lanes[name] != nil }

// firstOf returns the first event of a lane.
func (q *queue) firstOf(name string) (first numbered, ok bool) {
	lane := q.lanes[name]
	if lane == nil || len(lane.events) == 0 {
		return numbered{}, false
	}
	return lane.events[0], true
}

// oldest returns the event that was accepted first, the zero Object where there is none.
func (q *queue) oldest() document.Object {
	var first numbered
	for _, lane := range q.lanes {
		if len(lane.events) > 0 && (first.id == "" || lane.events[0].number < first.number) {
			first = lane.events[0]
		}
	}
	return first.document
}

// hold takes a lane that may have no events yet.
func (q *queue) hold(name string) {
	lane := q.lanes[name]
	if lane == nil {
		lane = q.add(name)
	}
	q.leaveHeap(lane)
	lane.place = placeTaken
}

// refuse sets a lane aside that was taken.
func (q *queue) refuse(name string) {
	if lane := q.lanes[name]; lane != nil && lane.place == placeTaken {
		lane.place = placeRefused
		q.refused = append(q.refused, name)
	}
}

// askAgain puts the lanes back that were set aside.
func (q *queue) askAgain() {
	refused := q.refused
	q.refused = nil
	for _, name := range refused {
		q.askFor(name)
	}
}

// askFor puts a lane back that was set aside, and reports whether it was.
func (q *queue) askFor(name string) bool {
	lane := q.lanes[name]
	if lane == nil || lane.place != placeRefused {
		return false
	}
	q.leave(name)
	return true
}

// goBehind puts a lane that is ready behind all events that are there now, so that others have their turn.
func (q *queue) goBehind(name string) {
	if lane := q.lanes[name]; lane != nil && lane.place == placeReady && lane.at >= 0 {
		lane.key = q.last
		heap.Fix(&q.ready, lane.at)
	}
}

// next returns when the first lane is ready: 0 where one is. ok is false where none will be.
func (q *queue) next(now int64) (at int64, ok bool) {
	q.ripen(now)
	switch {
	case len(q.ready) > 0:
		return 0, true
	case len(q.waiting) > 0:
		return q.waiting[0].key, true
	default:
		return 0, false
	}
}

// laneHeap is lanes by their keys.
type laneHeap []*queued

// Len implements heap.Interface.
func (h laneHeap) Len() int { return len(h) }

// Less implements heap.Interface.
func (h laneHeap) Less(i, j int) bool { return h[i].key < h[j].key }

// Swap implements heap.Interface.
func (h laneHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].at, h[j].at = i, j
}

// Push implements heap.Interface.
func (h *laneHeap) Push(x any) {
	lane, _ := x.(*queued)
	lane.at = len(*h)
	*h = append(*h, lane)
}

// Pop implements heap.Interface.
func (h *laneHeap) Pop() any {
	last := len(*h) - 1
	lane := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	lane.at = -1
	return lane
}

// laneOf returns the lane in which an event waits, "" where it does not.
func laneOf(o document.Object) string {
	lane, _ := o.Value(fieldLane).(string)
	return lane
}

func stateOf(o document.Object) string {
	state, _ := o.Value(fieldState).(string)
	return state
}

func idOf(o document.Object) string {
	id, _ := o.Value(fieldID).(string)
	return id
}

func retryAtOf(o document.Object) int64 {
	at, _ := o.Value(fieldRetryAt).(int64)
	return at
}
