package inbox

import (
	"slices"

	"github.com/botctx/go-sdk/document"
)

// queue holds the waiting events in memory, by lane. It is updated with each change that the store reports. It
// is not safe for concurrent use.
type queue struct {
	*lanes

	// pending is the number of all events, and ofApp the number of events by app.
	pending int64
	ofApp   map[string]int64
	// last is the number of the newest event. Events are numbered in order. dead maps the ids of dead letters
	// to their numbers, because dead letters may be put back.
	last int64
	dead map[string]int64
}

type numbered struct {
	number   int64
	id       string
	document document.Object
}

func newQueue() *queue {
	return &queue{lanes: newLanes(), ofApp: map[string]int64{}, dead: map[string]int64{}}
}

// change applies a change of an event. It reports whether a lane may have become ready.
func (q *queue) change(before, after document.Object) bool {
	was, is := laneOf(before), laneOf(after)
	switch {
	case is != "" && was != "" && is != was: // An operator edited the lane.
		q.takeOut(was, before, after)
		return q.insert(is, after)
	case is != "" && was == "":
		return q.insert(is, after)
	case is != "":
		return q.put(is, after)
	case was != "":
		q.takeOut(was, before, after)
	case text(before, fieldState) == stateDead && text(after, fieldState) != stateDead:
		delete(q.dead, text(before, fieldID))
	case text(after, fieldState) == stateDead:
		q.last++
		q.dead[text(after, fieldID)] = q.last
	}
	return false
}

// catchUp applies a change to a queue that may already contain it.
func (q *queue) catchUp(before, after document.Object) {
	if lane := laneOf(after); lane != "" {
		if was := laneOf(before); was != lane {
			q.takeOut(was, before, after)
		}
		q.put(lane, after)
	} else {
		q.change(before, after)
	}
}

// put adds an event to its lane, or replaces it there.
func (q *queue) put(name string, o document.Object) bool {
	if of := q.known[name]; of != nil {
		if i := of.find(text(o, fieldID)); i >= 0 {
			of.events[i].document = o
			q.arrange(of)
			return false
		}
	}
	return q.insert(name, o)
}

// insert adds an event that is known to be new.
func (q *queue) insert(name string, o document.Object) bool {
	of, id := q.get(name), text(o, fieldID)
	q.count(of, 1)
	e := numbered{number: q.numberOf(id), id: id, document: o}
	i := len(of.events)
	for i > 0 && of.events[i-1].number > e.number {
		i--
	}
	of.events = slices.Insert(of.events, i, e)
	q.arrange(of)
	return of.place == placeReady
}

// numberOf returns the number for an event: the next one, unless the event was a dead letter and has a number.
func (q *queue) numberOf(id string) int64 {
	if number, wasDead := q.dead[id]; wasDead {
		delete(q.dead, id)
		return number
	}
	q.last++
	return q.last
}

// takeOut removes an event from its lane.
func (q *queue) takeOut(name string, before, after document.Object) {
	of := q.known[name]
	if of == nil {
		return
	}
	id := text(before, fieldID)
	i := of.find(id)
	if i < 0 {
		return
	}
	q.count(of, -1)
	if text(after, fieldState) == stateDead {
		q.dead[id] = of.events[i].number
	}
	if i == 0 {
		of.events[0] = numbered{}
		of.events = of.events[1:]
	} else {
		of.events = slices.Delete(of.events, i, i+1)
	}
	q.arrange(of)
}

// find returns the index of an event in its lane, or -1.
func (l *lane) find(id string) int {
	return slices.IndexFunc(l.events, func(e numbered) bool { return e.id == id })
}

// count adds events, which is negative for removals, to the numbers of events.
func (q *queue) count(of *lane, events int64) {
	q.pending += events
	if q.ofApp[of.key.App] += events; q.ofApp[of.key.App] == 0 {
		delete(q.ofApp, of.key.App)
	}
}

// arrange moves a lane to the place for its first event, unless the lane is taken or parked.
func (q *queue) arrange(of *lane) {
	switch {
	case of.place == placeTaken, of.place == placeParked:
	case len(of.events) == 0:
		q.drop(of)
	case number(of.events[0].document, fieldRetryAt) > 0:
		first := of.events[0].document
		q.wait(of, number(first, fieldRetryAt))
		q.now = max(q.now, number(first, fieldPausedAt))
	default:
		q.makeReady(of)
	}
}

// leave puts back a taken lane. It reports whether the lane has events.
func (q *queue) leave(name string) (hasEvents bool) {
	of := q.get(name)
	q.remove(of)
	q.arrange(of)
	return len(of.events) > 0
}

// allowed returns the first events of a lane, at most most, up to one that must wait until after now.
func (l *lane) allowed(now int64, most int) []stored {
	waiting := l.events[:min(most, len(l.events))]
	events := make([]stored, 0, len(waiting))
	for _, e := range waiting {
		if isPaused(number(e.document, fieldRetryAt), number(e.document, fieldPausedAt), now) {
			break
		}
		events = append(events, read(e.document))
	}
	return events
}

// oldest returns the waiting event that was accepted first, or the zero Object if there is none.
func (q *queue) oldest() document.Object {
	var first numbered
	for _, of := range q.known {
		if len(of.events) > 0 && (first.id == "" || of.events[0].number < first.number) {
			first = of.events[0]
		}
	}
	return first.document
}

// laneOf returns the lane in which an event waits, or "".
func laneOf(o document.Object) string {
	if text(o, fieldState) != statePending {
		return ""
	}
	return ownLane(o)
}
