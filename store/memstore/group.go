package memstore

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
)

// group is the writes that are handed to the journal together.
type group struct {
	// taken are the writes that it took and has not run, writes those that it ran, published
	// how many of these are published.
	taken, writes []*pendingWrite
	published     int
	// takenRoom is the room of taken.
	takenRoom []*pendingWrite
	// isTaken is true once the group has the journal, isHanded once the journal has its entries.
	isTaken, isHanded bool
	// entries are the changes of the writes, and text is the memory of their Entry.Text.
	entries []Entry
	text    []byte
	// failures is the number of groups that had failed when this one began. If another one fails before its
	// turn, it builds on content that does not exist.
	failures int
	// err is the reason why none of the writes is kept; isLost is true if the journal returned it.
	err    error
	isLost bool
}

// perform runs the writes that were taken, on versions that are not published yet.
func (g *group) perform(encoder Encoder) {
	for len(g.taken) > 0 {
		p := g.taken[0]
		g.taken = g.taken[1:]
		g.writes = append(g.writes, p)
		p.perform(g)
		if p.made == nil {
			continue
		}
		p.versions.staged = stagedContent{content: p.made.next, failures: g.failures}
		p.versions.notifyFollowers(p.made.changes)
		before := len(g.entries)
		g.entries = p.made.appendEntries(g.entries)
		if encoder != nil {
			g.encode(encoder, g.entries[before:])
		}
	}
}

// stagedContent is a collection as a group has changed it.
type stagedContent struct {
	*content

	// failures is the failures of the group that staged it.
	failures int
}

// newest returns the content that the next write begins with.
func (g *group) newest(v *versions) *content {
	if v.staged.content != nil && v.staged.failures == g.failures {
		return v.staged.content
	}
	return v.newest.Load()
}

// encode encodes entries. If text has no more room it moves, and the earlier encodings stay at their old
// place.
func (g *group) encode(encoder Encoder, entries []Entry) {
	for i := range entries {
		begin := len(g.text)
		g.text = encoder.AppendEntry(g.text, &entries[i])
		entries[i].Text = g.text[begin:len(g.text):len(g.text)]
	}
}

func (g *group) takeAll(waiting []*pendingWrite) (room []*pendingWrite) {
	room = g.takenRoom
	g.taken, g.takenRoom = waiting, waiting
	clear(room)
	return room[:0]
}

// empty makes a group a new one that has the room of this one, unless that is so large that it is
// likely not to be needed again.
func (g *group) empty() {
	clear(g.takenRoom)
	*g = group{
		takenRoom: reusable(g.takenRoom, mostRoom), writes: reusable(g.writes, mostRoom),
		entries: reusable(g.entries, mostRoom), text: reusable(g.text, mostText),
	}
}

const (
	// mostRoom is the number of writes and entries for which a group keeps memory, mostText the number of
	// bytes.
	mostRoom = 1024
	mostText = 1 << 20
)

// reusable returns the memory of a slice, empty, and none if it is larger than most.
func reusable[E any](used []E, most int) []E {
	if cap(used) > most {
		return nil
	}
	clear(used)
	return used[:0]
}

func (t *transaction) appendEntries(entries []Entry) []Entry {
	for _, c := range t.changes {
		entries = append(entries, Entry{Collection: t.next.name, Position: c.position, Before: c.before, After: c.after})
	}
	if t.indexed != nil {
		entries = append(entries, Entry{Collection: t.next.name, Index: t.indexed})
	}
	return entries
}

// fail gives all writes the group's error, also those that failed by themselves, since what they
// saw was not published. Only those that were canceled keep their error.
func (g *group) fail() {
	for _, p := range g.writes {
		if boterr.CodeOf(p.err) != boterr.Canceled {
			p.err = g.err
		}
	}
}

// publish shows the new versions to readers and calls watchers, write by write.
func (g *group) publish() {
	for g.published < len(g.writes) {
		p := g.writes[g.published]
		g.published++
		if p.made != nil {
			p.publish()
		}
	}
}

type program interface {
	// run does it in a transaction, under the transaction's context. It may be called several
	// times: the last call counts, and all of them share one evaluation.
	run(call *query.Evaluation, t *transaction) error
	// matches reports whether a document, as it was before or after another write, affects what run
	// does.
	matches(call *query.Evaluation, o document.Object) (bool, error)
	// attempt returns the memory of an attempt, which is part of the program, so that a write is one piece of
	// memory.
	attempt() *attempted
}

type attempted struct {
	program program
	call    query.Evaluation
	trying  transaction
}

// attempt implements program for those that it is a part of.
func (a *attempted) attempt() *attempted { return a }

func (a *attempted) in(t *transaction) error {
	a.call.Resume(t.ctx)
	t.call = &a.call
	return a.program.run(&a.call, t)
}

func (a *attempted) room() *transaction { return &a.trying }

var (
	// errTooLong ends a transaction that takes longer than it may keep the lock.
	errTooLong = boterr.New(boterr.Internal, "", "the write takes longer than it may keep the lock")
	// errNothingToKeep ends a transaction that was made for another purpose than to write.
	errNothingToKeep = boterr.New(boterr.Internal, "", "there is nothing to keep")
	// errLost is the error of a transaction that builds on what another write has changed
	// meanwhile.
	errLost = boterr.New(boterr.Internal, "", "another write came first")
)

// carryOut carries out a write. A long one runs without the lock of its collection, so that it holds up no
// other, and takes the lock only to apply its changes on top of the writes meanwhile. If those writes affect
// it, it has lost and begins again; each time it may keep the lock longer, so that it succeeds in the end.
func (c *collection) carryOut(ctx context.Context, v *versions, p program) error {
	a := p.attempt()
	a.program, a.call = p, *query.NewEvaluation(ctx)
	a.call.Share(v.newest.Load().shapes)
	for looks := c.store.firstLooks; ; looks = moreLooks * (looks + 1) {
		err := c.writeLocked(ctx, v, looks, a)
		if err != errTooLong { //nolint:errorlint // It comes as it is.
			return err
		}
		w := concurrentWrite{collection: c, versions: v, program: p, call: &a.call}
		if err := w.carryOut(ctx); err != errLost { //nolint:errorlint // It comes as it is.
			return err
		}
	}
}

// writeLocked runs a transaction under the lock of its collection, and keeps what it made. The error
// is errTooLong if it looked at its context more often than allowed.
func (c *collection) writeLocked(ctx context.Context, v *versions, looks int, run inTransaction) error {
	if c.store.commits != nil {
		return c.store.commits.write(ctx, v, looks, run)
	}
	return v.write(ctx, looks, run)
}

func (t *transaction) runLocked(looks int, run inTransaction) error {
	t.bounded = countingContext{Context: t.ctx, left: looks}
	t.ctx = &t.bounded
	err := run.in(t)
	if t.bounded.left < 0 {
		return errTooLong
	}
	return err
}

// concurrentWrite is a write that runs without the lock of its collection.
type concurrentWrite struct {
	collection *collection
	versions   *versions
	program    program
	call       *query.Evaluation

	follower follower
	// made is the transaction that it made.
	made *transaction
	// missed are the changes of others that were not compared yet.
	missed []documentChange
}

// carryOut runs the write on the present content, and then applies its changes to the content of
// that time. The error is errLost if what others wrote meanwhile affects it.
func (w *concurrentWrite) carryOut(ctx context.Context) error {
	base, err := w.follow(ctx)
	if err != nil {
		return err
	}
	defer w.follower.hasLeft.Store(true)
	w.made = new(transaction)
	w.made.begin(ctx, base)
	w.made.isObserved, w.made.call = true, w.call
	w.call.Resume(ctx)
	if err := w.program.run(w.call, w.made); err != nil || !w.made.isChanged() {
		return err
	}
	for looks := w.collection.store.firstLooks; ; looks = moreLooks * (looks + 1) {
		err := w.collection.writeLocked(ctx, w.versions, looks, transactionFunc(func(now *transaction) error { return w.settle(ctx, now) }))
		if err != errTooLong { //nolint:errorlint // It comes as it is.
			return err
		}
		if err := w.compare(ctx); err != nil {
			return err
		}
	}
}

// follow returns the newest content, which the journal has kept, and collects what is
// written from then on.
func (w *concurrentWrite) follow(ctx context.Context) (base *content, err error) {
	err = w.collection.writeLocked(ctx, w.versions, 1, transactionFunc(func(t *transaction) error {
		base = t.before
		w.versions.addFollower(&w.follower)
		return errNothingToKeep
	}))
	if err == errNothingToKeep { //nolint:errorlint // It comes as it is.
		return base, nil
	}
	return nil, err
}

// settle puts what was made into a transaction that has the lock.
func (w *concurrentWrite) settle(ctx context.Context, now *transaction) error {
	w.missed = append(w.missed, w.follower.changes...)
	w.follower.changes = nil
	if w.follower.isReset {
		return errLost
	}
	if err := w.compare(now.ctx); err != nil { //nolint:contextcheck // That of the lock, which ends before ctx.
		return err
	}
	now.ctx = ctx
	return now.adopt(w.made)
}

// compare looks whether what others wrote bears on the write.
func (w *concurrentWrite) compare(ctx context.Context) error {
	w.call.Resume(ctx)
	for ; len(w.missed) > 0; w.missed = w.missed[1:] {
		if err := checkEnded(ctx); err != nil {
			return err
		}
		for _, o := range []document.Object{w.missed[0].before, w.missed[0].after} {
			if o.IsZero() {
				continue
			}
			if matched, err := w.program.matches(w.call, o); matched || err != nil {
				return errLost
			}
		}
	}
	return nil
}

// adopt repeats the changes of another transaction, which began with the content before this one,
// or with an earlier one that differs in nothing that affects it.
func (t *transaction) adopt(made *transaction) error {
	if t.before == made.before {
		t.next, t.changes, t.indexed = made.next, made.changes, made.indexed
		return nil
	}
	if made.indexed != nil {
		return errLost
	}
	for _, c := range made.changes {
		if err := t.repeat(c); err != nil {
			return asLost(err)
		}
	}
	return nil
}

// asLost returns errLost for the error of a key that another write has taken: when the write runs again, it
// finds which of its documents has that key.
func asLost(err error) error {
	if boterr.CodeOf(err) == boterr.AlreadyExists {
		return errLost
	}
	return err
}

func (t *transaction) repeat(c documentChange) error {
	switch {
	case c.before.IsZero():
		return t.insert(c.after)
	case c.after.IsZero():
		return t.remove(c.position, c.before)
	default:
		return t.replace(c.position, c.before, c.after)
	}
}

// writeLock is the lock under which the next content of a collection is made. Waiting for it ends
// with a context. The zero writeLock is free.
type writeLock struct {
	sync.Mutex

	// waiting is the number of those who wait with a context, freed the channel that tells one of
	// them that the lock is free. It is made before the first one waits.
	waiting atomic.Int32
	making  sync.Once
	freed   chan struct{}
}

// take takes the lock, unless ctx ends before.
func (t *writeLock) take(ctx context.Context) error {
	if t.TryLock() {
		return nil
	}
	t.making.Do(func() { t.freed = make(chan struct{}, 1) })
	t.waiting.Add(1)
	defer t.waiting.Add(-1)
	for !t.TryLock() {
		select {
		case <-t.freed:
		case <-ctx.Done():
			return checkEnded(ctx)
		}
	}
	return nil
}

// Unlock gives the lock back.
func (t *writeLock) Unlock() {
	t.Mutex.Unlock()
	if t.waiting.Load() == 0 {
		return
	}
	select {
	case t.freed <- struct{}{}:
	default: // The signal is pending already.
	}
}

const (
	// firstLooks is the number of times that a write may check its context under the lock, once after each
	// piece of work: about a quarter of a millisecond in all. A write that takes longer runs again without
	// the lock, and has wasted that time.
	firstLooks = 16
	// moreLooks is the factor by which that number grows after each time that it lost.
	moreLooks = 4
)

// countingContext is the context of a write under the lock. It ends when it was looked at often
// enough.
type countingContext struct {
	context.Context //nolint:containedctx // It is one.

	// left is the number of checks that remain, less than 0 once there were more.
	left int
}

func (c *countingContext) Err() error {
	if err := c.Context.Err(); err != nil {
		return err
	}
	if c.left <= 0 {
		c.left = -1
		return context.DeadlineExceeded
	}
	c.left--
	return nil
}
