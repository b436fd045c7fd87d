package inbox

import (
	"container/list"
	"context"
	"slices"
	"time"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/fair"
	"github.com/botctx/go-sdk/internal/lease"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// distributed is the source of an inbox over a store that processes share. It finds lanes that are known to be
// ready at once, waiting lanes when their time comes, and all other lanes by passes over the whole queue of
// events. When a lane's turn comes, it reads the lane's events together with the events of the next lanes. If
// the store sends notices, processes inform each other of lanes that they do not handle themselves, and passes
// are less frequent.
type distributed struct {
	taker

	// pass is guarded by taking. polls is the number of polls since the last pass started.
	pass  pass
	polls int
	// isExact is true if the current take has read the store's clock; taking guards it.
	isExact bool
	// notifier is nil if the store sends no notices. hasMissed makes the next poll a pass, because notices may have
	// been lost. It is guarded by mu.
	notifier  store.Notifier
	hasMissed bool
}

var _ source = (*distributed)(nil)

func newDistributed(b *Inbox) *distributed {
	notifier, _ := b.config.Env.Store.(store.Notifier)
	return &distributed{taker: taker{Inbox: b, lanes: newLanes()}, notifier: notifier}
}

func (s *distributed) prepare(ctx context.Context, want want) (now time.Time, ok bool, err error) {
	if !s.plan(want) && !s.suspects.IsDraining() {
		return time.Time{}, false, nil
	}
	clock := s.leases.Cached // This is exact enough for lanes that wait.
	if s.isExact = want.isNew || s.pass.isUnderWay; s.isExact {
		clock = s.leases.Now
	}
	if want.now, err = clock(ctx); err != nil {
		return time.Time{}, false, err
	}
	s.mu.Lock()
	s.lanes.ripen(int64(document.TimestampOf(want.now)))
	s.mu.Unlock()
	if s.pass.isUnderWay { // One page at a time, so that known lanes do not starve the others.
		err = s.further(ctx, want)
	}
	return want.now, true, err
}

// pollsPerPass is the number of polls between two passes if the store sends notices.
const pollsPerPass = 10

// plan begins a pass if one is due, because of a poll or because notices may be lost. It also makes parked lanes
// available again. It reports whether there are lanes to read, or lanes that wait.
func (s *distributed) plan(want want) (hasWork bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	isDue := s.hasMissed
	if want.isNew {
		isDue = isDue || s.notifier == nil || s.polls%pollsPerPass == 0
		s.polls++
	}
	s.hasMissed = false
	if isDue && !s.pass.isUnderWay {
		s.pass, s.hasSkipped = pass{isUnderWay: true}, false
	}
	if isDue || want.isNew {
		s.lanes.askAll()
	}
	return s.pass.isUnderWay || s.hasSkipped || s.lanes.ready.Len() > 0 || len(s.lanes.waiting) > 0
}

func (s *distributed) more(ctx context.Context, want want) (bool, error) {
	if !s.pass.isUnderWay {
		return s.resumes(want), nil
	}
	return true, s.further(ctx, want)
}

func (s *distributed) open(ctx context.Context, name string, want want) (w work, ok bool, err error) {
	names, seen := s.upcoming(name, want)
	if seen != nil {
		return cut(*seen, want.each), true, nil
	}
	at := s.config.Env.Now()
	if !s.isExact {
		if want.now, err = s.leases.Now(ctx); err != nil {
			return work{}, false, err
		}
	}
	found, err := s.lookInto(ctx, names, want.now)
	if err != nil {
		return work{}, false, err
	}
	s.note(names[1:], found, at)
	if free := found.free[name]; free != nil {
		return cut(*free, want.each), true, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	of := s.lanes.get(name)
	isNews := of.isNews
	s.lanes.remove(of)
	s.place(of, found)
	if isNews {
		s.lanes.makeReady(s.lanes.get(name))
	}
	return work{}, false, nil
}

// cut limits the number of events of a lane.
func cut(w work, most int) work {
	w.hasMore = w.hasMore || len(w.events) > most
	w.events = w.events[:min(len(w.events), most)]
	return w
}

// upcoming returns the snapshot of a lane that was taken, unless it is older than a quarter of a lease. If
// there is no snapshot, it returns the lanes to read: this one, and the lanes whose turn comes next.
func (s *distributed) upcoming(name string, want want) (names []string, seen *work) {
	s.mu.Lock()
	defer s.mu.Unlock()
	of := s.lanes.get(name)
	age := s.config.Env.Now().Sub(of.seenAt)
	if of.seen != nil && age >= 0 && age < s.leases.Duration()/lease.BeatsPerLease {
		return nil, of.seen
	}
	names = append(names, name)
	s.lanes.ready.All(func(k fair.Key, lanes *list.List) bool {
		if !want.shares.May(k) {
			return true
		}
		for at := lanes.Front(); at != nil && len(names) < window; at = at.Next() {
			if next, _ := at.Value.(*lane); next.seen == nil {
				next.isNews = false
				names = append(names, next.name)
			}
		}
		return len(names) < window
	})
	return names, nil
}

// note stores snapshots of ready lanes, but not of lanes that have changed since they were read.
func (s *distributed) note(names []string, found snapshot, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range names {
		of := s.lanes.known[name]
		switch {
		case of == nil || of.place != placeReady || of.isNews:
		case found.free[name] != nil:
			of.seen, of.seenAt = found.free[name], at
		default:
			s.place(of, found)
		}
	}
}

// place moves a lane that has no work now to the place that found determines. The caller holds mu.
func (s *distributed) place(of *lane, found snapshot) {
	switch {
	case found.held[of.name] != 0:
		if of.isAccepted {
			s.notify(noticeHeld, of.name)
		}
		s.lanes.park(of, found.held[of.name])
	case found.waiting[of.name] != 0:
		s.lanes.wait(of, found.waiting[of.name])
	default:
		s.lanes.drop(of)
	}
}

func (*distributed) begun(context.Context, []work) error { return nil }

func (s *distributed) left(_ context.Context, w work, left laneState) {
	w.leave()
	s.mu.Lock()
	defer s.mu.Unlock()
	of := s.lanes.get(w.lane)
	isNews := of.isNews || left.hasMore
	s.lanes.remove(of)
	switch {
	case !left.retryAt.IsZero():
		s.lanes.wait(of, int64(document.TimestampOf(left.retryAt)))
	case left.isBroken:
		s.lanes.park(of, 0)
	case isNews:
		s.lanes.makeReady(of)
	default:
		s.lanes.drop(of) // A later pass finds the lane's events, if there are any.
	}
	if of.place == placeReady || of.place == placeWaiting || s.suspects.IsDraining() {
		s.signal()
	}
}

func (s *distributed) accepted(name string) {
	p := s.pool.Load()
	if _, isOnly := s.suspects.Only(s.config.Env.Now()); isOnly || p == nil || !p.shares.May(keyOf(name)) {
		s.notify(noticeReady, name)
	}
	if !s.running.Load() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	of := s.lanes.get(name)
	of.isAccepted = true
	s.lanes.makeReady(of)
	s.signal()
}

// topic is the topic of notices about lanes.
const topic = "inbox"

// Prefixes of notices. The name of a lane follows.
const (
	// noticeReady asks processes with free places to handle a lane, because the process that accepted an event
	// has none.
	noticeReady = "+"
	// noticeHeld informs the process that holds a lane: another process has accepted an event of the lane.
	noticeHeld = "="
)

func (s *distributed) notify(kind, lane string) {
	if s.notifier != nil {
		s.notifier.Notify(topic, kind+lane)
	}
}

// listen subscribes to the notices of other processes until stop is called.
func (s *distributed) listen() (stop func()) {
	if s.notifier == nil {
		return func() {}
	}
	return s.notifier.Listen(topic, s.heard)
}

// heard handles a notice. An empty text means that notices may be lost. If enough lanes of a channel are known,
// heard leaves further ones to a pass, so that notices need little memory.
func (s *distributed) heard(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if text == "" {
		s.hasMissed = true
		s.signal()
		return
	}
	kind, name := text[:1], text[1:]
	of := s.lanes.known[name]
	switch {
	case of != nil && of.place == placeTaken:
		of.isNews = true // The lane becomes ready when it is left.
	case kind != noticeReady:
	case s.lanes.count(keyOf(name)) < window:
		s.lanes.makeReady(s.lanes.get(name))
		s.signal()
	default:
		s.hasMissed = s.hasMissed || !s.hasSkipped // After skipped lanes, a pass follows once there are places.
	}
}

func (*distributed) counted(string) (pending int64, oldest document.Object, ok bool) {
	return 0, document.Object{}, false
}

func (s *distributed) close(context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pass, s.lanes, s.hasSkipped, s.hasMissed, s.polls = pass{}, newLanes(), false, false, 0
}

func (s *distributed) next(ctx context.Context) (at time.Time, ok bool, err error) {
	fresh := newDistributed(s.Inbox)
	taken, _, err := take(ctx, fresh, want{lanes: 1, each: 1, isNew: true})
	if err != nil {
		return time.Time{}, false, err
	}
	now, err := s.leases.Now(ctx)
	if len(taken) > 0 || err != nil {
		for _, w := range taken {
			w.leave()
		}
		return now, err == nil, err
	}
	retried, err := s.findSorted(ctx, document.O(
		fieldState, statePending, fieldRetryAt, document.O("$gt", int64(document.TimestampOf(now)))), fieldRetryAt, store.FindOptions{Limit: 1})
	if err != nil {
		return time.Time{}, false, err
	}
	if len(retried) > 0 {
		at, ok = document.Timestamp(number(retried[0], fieldRetryAt)).Time(), true
	}
	if waiting := fresh.lanes.waiting; len(waiting) > 0 {
		if first := document.Timestamp(waiting[0].until).Time(); !ok || first.Before(at) {
			at, ok = first, true
		}
	}
	return at, ok, nil
}

// pass is a scan of the queue of events in the order of acceptance.
type pass struct {
	isUnderWay bool
	// after is the acceptance time of the last event that was read. there holds the ids of the events read
	// with that time.
	after int64
	there []any
	// skipped are the channels that the pass has left out because enough of their lanes are known. since is
	// the value of after when the first channel was left out.
	skipped map[fair.Key]bool
	since   int64
	// long are the lanes that the rest of the pass omits because they have many events.
	long []any
}

const (
	// skips is the maximum number of channels, and of lanes, that a pass omits.
	skips = 64
	// many is the number of events in one page from which a pass omits the lane.
	many = pageSize / 16
)

// further reads the next page of the pass, and makes its lanes ready unless they are known to be taken, parked
// or waiting.
func (s *distributed) further(ctx context.Context, want want) error {
	page, err := s.page(ctx, want.now, s.crowded(want))
	if err != nil {
		return err
	}
	s.pass.isUnderWay = len(page) == pageSize
	for _, o := range page {
		at := number(o, fieldAcceptedAt)
		if at != s.pass.after {
			s.pass.after, s.pass.there = at, nil
		}
		s.pass.there = append(s.pass.there, text(o, fieldID))
	}
	s.leaveOutLong(page)
	if err := s.repairLanes(ctx, page); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range page {
		name := laneOf(o)
		known := s.lanes.known[name]
		// An event with a retry that is in the page can be tried now, for example because of Retry. Other events may
		// follow one for which the lane waits.
		if name != "" && (known == nil || known.isAsked || o.Has(fieldRetryAt)) {
			s.lanes.makeReady(s.lanes.get(name))
		}
	}
	return nil
}

// repairLanes sets fieldLane of the waiting events of a page that lack it.
func (s *distributed) repairLanes(ctx context.Context, page []document.Object) error {
	for _, o := range page {
		if text(o, fieldLane) != "" { // Only edited records lack a lane.
			continue
		}
		which := document.O(fieldID, o.Value(fieldID), fieldState, statePending)
		found, err := s.find(ctx, which, store.FindOptions{Limit: 1})
		for _, broken := range found {
			lane := ownLane(broken)
			if _, err = s.setAll(ctx, which, document.O(fieldLane, lane), document.O()); err == nil {
				s.markReady(lane)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// markReady makes a lane ready.
func (s *distributed) markReady(lane string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lanes.makeReady(s.lanes.get(lane))
}

// leaveOutLong makes the pass omit lanes that fill a page.
func (s *distributed) leaveOutLong(page []document.Object) {
	events := map[string]int{}
	for _, o := range page {
		lane := laneOf(o)
		events[lane]++
		if events[lane] == many && len(s.pass.long) < skips {
			s.pass.long = append(s.pass.long, lane)
		}
	}
}

// crowded returns the channels that have no free place and enough known lanes. The pass leaves them out, so
// that their backlog does not delay other channels.
func (s *distributed) crowded(want want) []fair.Key {
	s.mu.Lock()
	defer s.mu.Unlock()
	var keys []fair.Key
	s.lanes.ready.All(func(k fair.Key, lanes *list.List) bool {
		if lanes.Len() >= window && !want.shares.May(k) {
			if s.pass.skipped == nil {
				s.pass.skipped, s.pass.since = map[fair.Key]bool{}, s.pass.after
			}
			s.pass.skipped[k], s.hasSkipped = true, true
			keys = append(keys, k)
		}
		return len(keys) < skips
	})
	return keys
}

// resumes begins a pass if the last one left out a channel that now has a free place and no known ready lanes.
// It reports whether it did.
func (s *distributed) resumes(want want) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k := range s.pass.skipped {
		if _, isKnown := s.lanes.ready.Find(k); !isKnown && want.shares.May(k) {
			s.pass, s.hasSkipped = pass{isUnderWay: true, after: s.pass.since}, false
			return true
		}
	}
	return false
}

// page returns the next events of the pass, without events that must wait, and without the channels in but.
func (s *distributed) page(ctx context.Context, now time.Time, but []fair.Key) ([]document.Object, error) {
	at := int64(document.TimestampOf(now))
	which := document.O(
		fieldState, statePending, fieldAcceptedAt, document.O("$gte", s.pass.after),
		"$or", document.A( // See isPaused.
			document.O(fieldRetryAt, document.O("$not", document.O("$gt", at))),
			document.O(fieldPausedAt, document.O("$gt", at+clockSlack)),
		),
	)
	if len(s.pass.there) > 0 {
		which = which.With(fieldID, document.O("$nin", document.A(s.pass.there...)))
	}
	if len(s.pass.long) > 0 {
		which = which.With(fieldLane, document.O("$nin", document.A(s.pass.long...)))
	}
	if len(but) > 0 {
		var channels []any
		for _, k := range but {
			channels = append(channels, document.O(fieldApp, k.App, fieldChannel, k.Channel))
		}
		which = which.With("$nor", document.A(channels...))
	}
	shown, err := query.CompileProjection(document.O(fieldLane, 1, fieldState, 1, fieldAcceptedAt, 1, fieldRetryAt, 1))
	if err != nil {
		return nil, err
	}
	return s.findSorted(ctx, which, fieldAcceptedAt, store.FindOptions{Limit: pageSize, Projection: shown})
}

const (
	// window is the maximum number of lanes read at once, and readAhead the maximum number of their events.
	// pageSize is the number of events in a page of a pass.
	window    = 64
	readAhead = 2 * window
	pageSize  = 2 * window
	// perLease is the maximum number of events handled under one lease of a lane. After longLease, no further
	// event begins under it, and other lanes have their turn.
	perLease  = 16
	longLease = 50 * time.Millisecond
)

// A snapshot is the result of reading lanes. free maps lanes to their work, waiting to the time until which the
// first event waits, and held to the end of another process's lease. Lanes in no map have no events.
type snapshot struct {
	free          map[string]*work
	waiting, held map[string]int64
}

// lookInto reads lanes. now is the time of the store's clock.
//
// It reads the documents of lanes before their events: a process that handles an event in between takes a lease and
// so changes the document. A claim based on the earlier snapshot then fails.
func (b *Inbox) lookInto(ctx context.Context, names []string, now time.Time) (snapshot, error) {
	found := snapshot{free: map[string]*work{}, waiting: map[string]int64{}, held: map[string]int64{}}
	seen, err := b.leases.Look(ctx, names)
	if err != nil {
		return snapshot{}, err
	}
	var free []string
	for _, name := range names {
		if lease.IsHeld(seen[name], now) {
			found.held[name] = int64(document.TimestampOf(lease.Until(seen[name])))
		} else {
			free = append(free, name)
		}
	}
	err = b.addFree(ctx, &found, free, seen, now)
	return found, err
}

// addFree adds the events of lanes that no process holds. If a lane with many events fills the batch, the
// others are read again without that lane.
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
			return nil // The records were edited, and name other lanes.
		}
		free = left
	}
	return nil
}

// add adds events, and returns the set of their lanes. isCut is true if there may be more events.
func (found *snapshot) add(
	events []document.Object, seen map[string]document.Object, now time.Time, isCut bool,
) (reached map[string]bool) {
	reached = map[string]bool{}
	for _, o := range events {
		e := read(o)
		isFirst := !reached[e.lane]
		reached[e.lane] = true
		w := found.free[e.lane]
		switch {
		case found.waiting[e.lane] != 0:
		case isPaused(e.retryAt, e.pausedAt, int64(document.TimestampOf(now))):
			found.waiting[e.lane] = e.retryAt // Later events of the lane must wait, too.
		case isFirst:
			found.free[e.lane] = &work{lane: e.lane, seen: seen[e.lane], events: []stored{e}, hasMore: isCut}
		case len(w.events) < perLease:
			w.events = append(w.events, e)
		default:
			w.hasMore = true
		}
	}
	return reached
}

func anyOf(texts []string) []any {
	values := make([]any, len(texts))
	for i, text := range texts {
		values[i] = text
	}
	return values
}
