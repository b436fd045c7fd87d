package inbox

import (
	"container/heap"
	"container/list"
	"math"
	"slices"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/fair"
)

// queue holds the events that wait, by lane, in memory. It is not safe for concurrent use.
type queue struct {
	lanes map[string]*queued
	// ready are the lanes whose first event may be handled, by channel; in a channel, the lane that has
	// been ready for longest is next.
	ready fair.Ring[*list.List]
	// waiting are the lanes whose first event is tried again later, by when that is.
	waiting laneHeap
	// now is the latest reading of the store's clock. mayBeAhead is true if a lane's pause began later than
	// that.
	now        int64
	mayBeAhead bool
	// pending is the number of events, and ofApp the same by app.
	pending int64
	ofApp   map[string]int64
	// last is the number of the newest event. Events are numbered in their order, and dead letters keep
	// their numbers, for when they are put back.
	last int64
	dead map[string]int64
	// refused are lanes that were set aside, and perhaps others.
	refused []string
}

// The places of a lane.
const (
	// placeNowhere is the place of a lane that was just added.
	placeNowhere = iota
	placeReady
	placeWaiting
	// placeTaken is the place of a lane whose events are being handled, placeRefused of one that cannot
	// be entered.
	placeTaken
	placeRefused
)

// queued is a lane with events that wait.
type queued struct {
	name string
	// key is the channel of the lane.
	key    fair.Key
	events []numbered
	place  int
	// inReady is the lane's element of its channel's list while it is ready.
	inReady *list.Element
	// retryAt and at are its key and its index in the heap while it waits.
	retryAt int64
	at      int
	// room holds the events of a lane with one.
	room [1]numbered
}

type numbered struct {
	number   int64
	id       string
	document document.Object
}

func newQueue() *queue {
	return &queue{now: math.MaxInt64, lanes: map[string]*queued{}, ofApp: map[string]int64{}, dead: map[string]int64{}}
}

// change follows the change of an event, and reports whether a lane may have become ready.
func (q *queue) change(before, after document.Object) bool {
	was, is := laneOf(before), laneOf(after)
	switch {
	case is != "" && was != "" && is != was: // It was edited.
		q.remove(was, before, after)
		return q.insert(is, after)
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
	lane := &queued{name: name, key: keyOf(name)}
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
	q.count(lane, 1)
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
	q.count(lane, -1)
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

// count counts events that were added to a lane or, if it is negative, taken out.
func (q *queue) count(lane *queued, events int64) {
	q.pending += events
	if q.ofApp[lane.key.App] += events; q.ofApp[lane.key.App] == 0 {
		delete(q.ofApp, lane.key.App)
	}
}

// arrange puts a lane where it belongs by its first event, unless it is taken or refused. A lane that is
// ready already keeps its turn.
func (q *queue) arrange(lane *queued) {
	if lane.place == placeTaken || lane.place == placeRefused {
		return
	}
	place, retryAt := placeNowhere, int64(0)
	if len(lane.events) > 0 {
		place = placeReady
		if retryAt = retryAtOf(lane.events[0].document); retryAt > 0 {
			place = placeWaiting
		}
	}
	if place == lane.place && retryAt == lane.retryAt && place != placeNowhere {
		return
	}
	q.takeOut(lane)
	lane.place, lane.retryAt = place, retryAt
	switch place {
	case placeReady:
		lanes := q.ready.Get(lane.key, list.New)
		lane.inReady = lanes.PushBack(lane)
	case placeWaiting:
		heap.Push(&q.waiting, lane)
		q.mayBeAhead = q.mayBeAhead || pausedAtOf(lane.events[0].document) > q.now
	default:
		delete(q.lanes, lane.name)
	}
}

// takeOut takes a lane from where it is.
func (q *queue) takeOut(lane *queued) {
	switch lane.place {
	case placeReady:
		lanes, _ := q.ready.Find(lane.key)
		lanes.Remove(lane.inReady)
		if lanes.Len() == 0 {
			q.ready.Drop(lane.key)
		}
		lane.inReady = nil
	case placeWaiting:
		heap.Remove(&q.waiting, lane.at)
	}
	lane.place, lane.retryAt = placeNowhere, 0
}

// take takes the next lane that is ready at a time and may be taken, and up to so many of its events that
// are. It is nil if there is none. may is asked last: true means that the lane is taken.
func (q *queue) take(now int64, most int, may func(fair.Key) bool) (*queued, []stored) {
	q.ripen(now)
	_, lanes, ok := q.ready.Next(func(k fair.Key, _ *list.List) bool { return may(k) })
	if !ok {
		return nil, nil
	}
	lane, _ := lanes.Front().Value.(*queued)
	q.takeOut(lane)
	lane.place = placeTaken
	waiting := lane.events[:min(most, len(lane.events))]
	events := make([]stored, 0, len(waiting))
	for _, e := range waiting {
		if isPaused(retryAtOf(e.document), pausedAtOf(e.document), now) {
			break
		}
		events = append(events, read(e.document))
	}
	return lane, events
}

// ripen makes the lanes ready that have waited long enough, behind those that are. If the clock was set
// back, these are also others.
func (q *queue) ripen(now int64) {
	for len(q.waiting) > 0 && q.waiting[0].retryAt <= now {
		q.makeReady(q.waiting[0])
	}
	if q.mayBeAhead || now < q.now-clockSlack {
		for _, lane := range slices.Clone(q.waiting) {
			if !isPaused(lane.retryAt, pausedAtOf(lane.events[0].document), now) {
				q.makeReady(lane)
			}
		}
	}
	q.now, q.mayBeAhead = now, false
}

func (q *queue) makeReady(lane *queued) {
	q.takeOut(lane)
	lane.place = placeReady
	lane.inReady = q.ready.Get(lane.key, list.New).PushBack(lane)
}

// leave gives a lane back that was taken, behind those that are ready, and reports whether it has events.
func (q *queue) leave(name string) (hasEvents bool) {
	lane := q.lanes[name]
	if lane == nil {
		return false
	}
	lane.place = placeNowhere
	q.arrange(lane)
	return lane.place != placeNowhere
}

// isBusy reports whether lanes of a channel are ready, so that another one has to queue behind them.
func (q *queue) isBusy(k fair.Key) bool {
	_, isBusy := q.ready.Find(k)
	return isBusy
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

// takeOnly takes a lane with its first event, if that is ready at a time and may lets it. It is nil otherwise.
func (q *queue) takeOnly(name string, now int64, may func(fair.Key) bool) (*queued, []stored) {
	lane := q.lanes[name]
	if lane == nil || lane.place == placeTaken || len(lane.events) == 0 || retryAtOf(lane.events[0].document) > now || !may(lane.key) {
		return nil, nil
	}
	q.hold(name)
	return lane, []stored{read(lane.events[0].document)}
}

// hold takes a lane that may have no events yet.
func (q *queue) hold(name string) {
	lane := q.lanes[name]
	if lane == nil {
		lane = q.add(name)
	}
	q.takeOut(lane)
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

// next returns when the first lane is ready: 0 if one is. ok is false if none will be.
func (q *queue) next(now int64) (at int64, ok bool) {
	q.ripen(now)
	if q.ready.Len() > 0 {
		return 0, true
	}
	return q.nextRetry()
}

// nextRetry returns when the first lane is ready of those that wait. ok is false if none does.
func (q *queue) nextRetry() (at int64, ok bool) {
	if len(q.waiting) == 0 {
		return 0, false
	}
	return q.waiting[0].retryAt, true
}

// laneHeap is lanes by when they are tried again.
type laneHeap []*queued

func (h laneHeap) Len() int { return len(h) }

func (h laneHeap) Less(i, j int) bool { return h[i].retryAt < h[j].retryAt }

func (h laneHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].at, h[j].at = i, j
}

func (h *laneHeap) Push(x any) {
	lane, _ := x.(*queued)
	lane.at = len(*h)
	*h = append(*h, lane)
}

func (h *laneHeap) Pop() any {
	last := len(*h) - 1
	lane := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return lane
}

// laneOf returns the lane in which an event waits, "" if it does not.
func laneOf(o document.Object) string {
	if stateOf(o) != statePending {
		return ""
	}
	if !hasLane(o) {
		return ownLane(o)
	}
	lane, _ := o.Value(fieldLane).(string)
	return lane
}

// hasLane reports whether a record names a lane. Each does, unless it was edited.
func hasLane(o document.Object) bool {
	lane, _ := o.Value(fieldLane).(string)
	return lane != ""
}

func pausedAtOf(o document.Object) int64 {
	at, _ := o.Value(fieldPausedAt).(int64)
	return at
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
