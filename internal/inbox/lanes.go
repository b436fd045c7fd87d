package inbox

import (
	"container/heap"
	"container/list"
	"math"
	"time"

	"github.com/botctx/go-sdk/internal/fair"
)

// lanes chooses the next lane. Apps take turns, and so do the channels of an app. Within a channel, the lane that has
// been ready for longest is next. It is not safe for concurrent use. Times are Unix milliseconds of the store's
// clock.
type lanes struct {
	// known are the lanes that have a place or have events in memory.
	known map[string]*lane
	// ready has the lanes that can be taken, by channel. waiting has the lanes that can be taken later, by time.
	ready   fair.Ring[*list.List]
	waiting laneHeap
	// parked are the names of lanes that were parked. Some of them may have become ready since.
	parked []string
	// now is the latest known time.
	now int64
}

// place is the storage location of a lane.
type place int

const (
	placeNowhere place = iota
	placeReady
	placeWaiting
	// A lane is in placeTaken while a worker has it, and in placeParked while it cannot be taken.
	placeTaken
	placeParked
)

type lane struct {
	name string
	// key is the channel of the lane.
	key   fair.Key
	place place
	// inReady is the lane's element in the list of its channel while the lane is ready.
	inReady *list.Element
	// While the lane waits, until is the time at which it becomes ready, and at is its index in the heap.
	until int64
	at    int
	// isAsked is true if the lane should be tried before until: at the next poll, or when it is free.
	isAsked bool
	// isNews is true if the lane may have changed since it was taken or since its reading began.
	isNews bool
	// isAccepted is true if this process has accepted an event of the lane since the lane was last forgotten or
	// parked.
	isAccepted bool

	// events are the lane's waiting events if the source is exclusive. room holds them without an allocation
	// while there is only one.
	events []numbered
	room   [1]numbered
	// seen is a snapshot of the lane that a distributed source read before the lane's turn, at seenAt, or nil.
	seen   *work
	seenAt time.Time
}

func newLanes() *lanes { return &lanes{known: map[string]*lane{}, now: math.MaxInt64} }

// get returns a lane, and adds it if it is unknown.
func (l *lanes) get(name string) *lane {
	known := l.known[name]
	if known == nil {
		known = &lane{name: name, key: keyOf(name)}
		known.events = known.room[:0]
		l.known[name] = known
	}
	return known
}

func (l *lanes) remove(of *lane) {
	switch of.place {
	case placeReady:
		queue, _ := l.ready.Find(of.key)
		queue.Remove(of.inReady)
		if queue.Len() == 0 {
			l.ready.Drop(of.key)
		}
		of.inReady = nil
	case placeWaiting:
		heap.Remove(&l.waiting, of.at)
	case placeNowhere, placeTaken, placeParked:
	}
	of.place, of.until, of.isAsked, of.seen = placeNowhere, 0, false, nil
}

// count returns the number of ready lanes of a channel.
func (l *lanes) count(of fair.Key) int {
	if queue, ok := l.ready.Find(of); ok {
		return queue.Len()
	}
	return 0
}

// drop forgets a lane unless it has events.
func (l *lanes) drop(of *lane) {
	l.remove(of)
	if len(of.events) == 0 {
		delete(l.known, of.name)
	}
}

// makeReady adds a lane to the ready ones, unless it is already there. If the lane is taken, it becomes ready
// when it is left.
func (l *lanes) makeReady(of *lane) {
	of.isNews, of.seen = true, nil
	if of.place == placeReady || of.place == placeTaken {
		return
	}
	l.remove(of)
	of.place = placeReady
	of.inReady = l.ready.Get(of.key, list.New).PushBack(of)
}

// wait makes a lane become ready at a time.
func (l *lanes) wait(of *lane, until int64) {
	if of.place == placeWaiting && of.until == until {
		return
	}
	l.remove(of)
	of.place, of.until = placeWaiting, until
	heap.Push(&l.waiting, of)
}

// park sets a lane aside until ask is called for it, or until a time if that is not 0.
func (l *lanes) park(of *lane, until int64) {
	l.remove(of)
	of.place, of.isAccepted = placeParked, false
	if until > 0 {
		l.wait(of, until)
	}
	of.isAsked = true
	l.parked = append(l.parked, of.name)
}

// ask makes a parked lane ready. If the lane is taken, ask records that it may have changed. It reports whether a
// lane has become ready.
func (l *lanes) ask(name string) bool {
	of := l.known[name]
	switch {
	case of == nil:
		return false
	case of.isAsked:
		l.makeReady(of)
		return true
	default:
		of.isNews = of.isNews || of.place == placeTaken
		return false
	}
}

// askAll calls ask for all parked lanes.
func (l *lanes) askAll() {
	parked := l.parked
	l.parked = nil
	for _, name := range parked {
		l.ask(name)
	}
}

// take takes and returns the next ready lane of a channel for which may returns true, or nil if there is none.
// After may has returned true, the lane is taken in any case, so may can take a place for it.
func (l *lanes) take(may func(fair.Key) bool) *lane {
	_, queue, ok := l.ready.Next(may)
	if !ok {
		return nil
	}
	next, _ := queue.Front().Value.(*lane)
	return l.hold(next)
}

// takeOnly takes the lane with a name. It returns nil if the lane is unknown, is taken, or must still wait.
func (l *lanes) takeOnly(name string, may func(fair.Key) bool) *lane {
	of := l.known[name]
	if of == nil || of.place == placeTaken || of.place == placeWaiting && !of.isAsked || !may(of.key) {
		return nil
	}
	return l.hold(of)
}

// hold removes a lane from its place and marks it as taken.
func (l *lanes) hold(of *lane) *lane {
	seen := of.seen
	l.remove(of)
	of.place, of.seen, of.isNews = placeTaken, seen, false
	return of
}

// ripen makes lanes ready if their wait has ended by now. They queue behind lanes that are already ready. If the
// clock was set back, the remaining wait is unknown, and all waiting lanes become ready.
func (l *lanes) ripen(now int64) {
	wasSetBack := now < l.now-clockSlack
	for len(l.waiting) > 0 && (wasSetBack || l.waiting[0].until <= now) {
		l.makeReady(l.waiting[0])
	}
	l.now = now
}

// pause returns the time until a lane can be taken, but at most most. It is 0 if a lane of a channel for which
// may returns true is ready.
func (l *lanes) pause(may func(fair.Key) bool, most time.Duration) time.Duration {
	canTake := false
	l.ready.All(func(k fair.Key, _ *list.List) bool {
		canTake = may(k)
		return !canTake
	})
	switch {
	case canTake:
		return 0
	case len(l.waiting) == 0:
		return most
	case l.waiting[0].until-l.now >= most.Milliseconds():
		return most // The wait may be too long for a Duration.
	default:
		return max(time.Millisecond, time.Duration(l.waiting[0].until-l.now)*time.Millisecond)
	}
}

// laneHeap orders lanes by the time when they become ready.
type laneHeap []*lane

func (h laneHeap) Len() int { return len(h) }

func (h laneHeap) Less(i, j int) bool { return h[i].until < h[j].until }

func (h laneHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].at, h[j].at = i, j
}

func (h *laneHeap) Push(x any) {
	of, _ := x.(*lane)
	of.at = len(*h)
	*h = append(*h, of)
}

func (h *laneHeap) Pop() any {
	last := len(*h) - 1
	of := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return of
}
