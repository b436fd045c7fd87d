package memstore

import (
	"bytes"
	"context"
	"hash/maphash"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store/memstore/internal/persistent"
)

// commits is the group commit of a store with a journal. A write that finds no leader begins a group and
// leads it. The leader runs the writes of the group one after the other on versions that are not published
// yet. When the journal is free, the leader hands it the group's changes, publishes the versions and answers
// the writers. While the journal works, the next group already runs on top of this one, and follows as soon
// as the journal is free: so many writers divide into two groups, one running and one in the journal.
type commits struct {
	journal Journal
	// encoder is the journal, nil if it is none.
	encoder Encoder

	mu sync.Mutex
	// idle is signaled when there is no leader and the journal is free.
	idle sync.Cond
	// waiting are the writes that have not begun.
	waiting []*pendingWrite
	// spare are groups that have ended, whose room is used again.
	spare []*group
	// open is the group that writes join, nil before the first one does.
	open *group
	// led is true while a leader runs the waiting writes, busy while the journal works. Without a leader and
	// with the journal free, no write waits and no group is open.
	led, busy bool
	// last and lastButOne are the numbers of writes in these groups.
	last, lastButOne int
	// failures is the number of groups that the journal did not keep, failed the error of
	// the last one.
	failures int
	failed   error
	closed   atomic.Bool
}

func newCommits(journal Journal) *commits {
	c := &commits{journal: journal}
	c.encoder, _ = journal.(Encoder)
	c.idle.L = &c.mu
	return c
}

// write runs a transaction on the newest content of a collection, and publishes the result once the journal
// keeps it, unless either failed. If ctx ends before that is known, the error is Canceled, and its text
// states whether the transaction was run.
func (c *commits) write(ctx context.Context, v *versions, looks int, run inTransaction) error {
	p := &pendingWrite{ctx: ctx, versions: v, looks: looks, run: run, ended: make(chan struct{}, 1)}
	if err := c.add(p); err != nil {
		return err
	}
	select {
	case <-p.ended:
	case <-ctx.Done():
		return p.leave()
	}
	if p.panicked != nil {
		panic(p.panicked)
	}
	return p.err
}

// add adds a write to the waiting ones, and makes sure that there is a leader.
func (c *commits) add(p *pendingWrite) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.checkOpen(); err != nil {
		return err
	}
	c.waiting = append(c.waiting, p)
	if !c.led {
		c.led = true
		go c.lead(c.opened())
	}
	return nil
}

// opened returns the group that writes join. The caller holds mu.
func (c *commits) opened() *group {
	if c.open != nil {
		return c.open
	}
	c.open = &group{}
	if last := len(c.spare) - 1; last >= 0 {
		c.open, c.spare = c.spare[last], c.spare[:last]
	}
	c.open.failures = c.failures
	return c.open
}

// lead brings groups of writes to their end, as long as there are any. It belongs to no caller, so
// that each of them can go when its context ends. A function of a caller that ends the goroutine, by
// runtime.Goexit, ends neither the group nor the writes of others: another goroutine goes
// on where this one stopped.
func (c *commits) lead(g *group) {
	ended := false
	defer func() {
		if !ended {
			go c.lead(g)
		}
	}()
	for g != nil && (g.isTaken || c.gather(g)) {
		if !g.isHanded {
			c.hand(g)
		}
		if g.err != nil {
			g.fail()
		} else {
			g.publish()
		}
		g = c.end(g)
	}
	ended = true
}

// gather runs the writes that wait, and takes the journal if that is free. Otherwise it
// reports false: who has the journal goes on with the group.
func (c *commits) gather(g *group) (isTaken bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for known := 0; ; {
		switch {
		case len(g.taken) > 0:
			c.unlocked(func() { g.perform(c.encoder) })
		case !c.busy && c.isLarge(g):
			c.take(g)
			return true
		case len(c.waiting) > 0:
			c.waiting = g.takeAll(c.waiting)
		case c.busy:
			c.led = false
			return false
		case len(g.writes) > known:
			known = len(g.writes)
			c.unlocked(runtime.Gosched)
		default:
			c.take(g)
			return true
		}
	}
}

// isLarge reports whether a group need not wait for more writes: it has about half as many as there
// are writers, judged by the groups before.
func (c *commits) isLarge(g *group) bool {
	return len(g.writes) > 0 && 4*len(g.writes) >= c.last+c.lastButOne
}

// unlocked calls a function while others may come.
func (c *commits) unlocked(call func()) {
	c.mu.Unlock()
	defer c.mu.Lock()
	call()
}

// take gives a group the journal, and begins the next one where writes wait.
func (c *commits) take(g *group) {
	g.isTaken = true
	if g.failures != c.failures {
		g.err = boterr.New(boterr.Unavailable, "", "nothing was written, since it rests on a write that failed: %w", c.failed)
	}
	c.busy, c.last, c.lastButOne = true, len(g.writes), c.last
	c.open = nil
	c.led = len(c.waiting) > 0
	if c.led {
		go c.lead(c.opened())
	}
}

// end gives the journal free, and answers the callers. It returns the next group, nil if
// there is none or another one leads it.
func (c *commits) end(g *group) (next *group) {
	c.mu.Lock()
	c.busy = false
	if g.isLost {
		c.failures++
		c.failed = g.err
	}
	if !c.led {
		next, c.led = c.open, c.open != nil
	}
	if !c.led {
		c.idle.Broadcast()
	}
	c.mu.Unlock()
	for _, p := range g.writes {
		p.ended <- struct{}{}
	}
	c.keep(g)
	return next
}

// keep keeps the room of a group that has ended. There are few: one that ends, one that the journal
// has, and one that is open.
func (c *commits) keep(g *group) {
	g.empty()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.spare = append(c.spare, g)
}

var errJournalEnded = boterr.New(boterr.Unavailable, "", "the journal did not return, and it is not known whether it kept the write")

// hand hands the changes of a group to the journal, unless an earlier group that they build on has
// failed.
func (c *commits) hand(g *group) {
	g.isHanded = true
	if g.err != nil || len(g.entries) == 0 {
		return
	}
	g.err, g.isLost = errJournalEnded, true // Until it returns.
	g.err = c.commit(g.entries)
	g.isLost = g.err != nil
}

// commit hands entries to the journal.
func (c *commits) commit(entries []Entry) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = boterr.New(boterr.Unavailable, "", "the journal panicked, and it is not known whether it kept the write: %v", cause)
		}
	}()
	err = c.journal.Commit(entries)
	if _, ok := boterr.AsError(err); err == nil || ok {
		return err
	}
	return boterr.New(boterr.Unavailable, "", "the journal did not keep the write: %w", err)
}

// checkOpen refuses what is asked of a store that was closed.
func (c *commits) checkOpen() error {
	if !c.closed.Load() {
		return nil
	}
	return boterr.New(boterr.Unavailable, "", "the store was closed; open it anew")
}

// close refuses further writes and waits for those that are under way.
func (c *commits) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed.Store(true)
	for c.led || c.busy {
		c.idle.Wait()
	}
}

// pendingWrite is a write whose caller waits.
type pendingWrite struct {
	ctx      context.Context //nolint:containedctx // It belongs to this one call, which another goroutine carries out.
	versions *versions
	looks    int
	run      inTransaction

	// running is held while the write runs, and guards hasLeft.
	running sync.Mutex
	// hasLeft is true once the caller no longer waits.
	hasLeft bool

	// ended is closed when the write has ended.
	ended chan struct{}
	// made is the transaction, nil unless it has succeeded.
	made *transaction
	err  error
	// panicked is the panic of a watcher of the write.
	panicked any
}

var errWriteEnded = boterr.New(boterr.Internal, "", "the write did not return, and was not carried out")

// leave is called if the context of the caller has ended. A write that is running notices that soon, and
// leave waits for it; one that has not begun is never run.
func (p *pendingWrite) leave() error {
	p.running.Lock()
	defer p.running.Unlock()
	p.hasLeft = true
	if p.made == nil {
		return checkEnded(p.ctx)
	}
	return boterr.New(boterr.Canceled, "", "the context ended before the journal answered, and it is not known whether it keeps the write: %w",
		context.Cause(p.ctx))
}

// perform runs the write in a transaction of a group, unless the caller has left. A panic ends this
// write only.
func (p *pendingWrite) perform(g *group) {
	p.running.Lock()
	defer p.running.Unlock()
	if p.hasLeft {
		return
	}
	p.err = errWriteEnded // Until it returns.
	t := p.run.room()
	t.begin(p.ctx, g.newest(p.versions))
	t.isObserved = true
	if p.err = p.runIn(t); p.err == nil {
		p.made = t
	}
}

func (p *pendingWrite) runIn(t *transaction) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = boterr.New(boterr.Internal, "", "the write panicked: %v", cause)
		}
	}()
	if err := checkEnded(p.ctx); err != nil {
		return err
	}
	return t.runLocked(p.looks, p.run)
}

// publish shows what the write made. A watcher that panics does so in the goroutine of the
// write, as if there were no group, once all writes are published.
func (p *pendingWrite) publish() {
	p.versions.writing.Lock()
	defer p.versions.writing.Unlock()
	defer func() { p.panicked = recover() }()
	p.versions.newest.Store(p.made.next)
	notifyAll(p.versions.watchers, p.made.changes)
}

// idIndex finds the position of a document by its _id.
type idIndex struct {
	hashing *idHashing
	// byHash holds the position by the hash of the _id's key. If two _ids have the same hash, the later one
	// is in collided, by its key.
	byHash   persistent.Trie[uint64]
	collided persistent.Tree[string, uint64]
}

// idHashing hashes the keys of _ids; all versions of a collection share it.
type idHashing struct {
	seed maphash.Seed
	// mask takes bits out of the hashes, so that a test can make them collide.
	mask uint64
}

func newIDIndex() idIndex {
	return idIndex{hashing: &idHashing{seed: maphash.MakeSeed(), mask: ^uint64(0)}}
}

// documents are the documents of a collection by position.
type documents = persistent.Sequence[document.Object]

func (x *idIndex) find(among *documents, id any) (position uint64, o document.Object, ok bool) {
	var buffer [64]byte
	key := document.AppendKey(buffer[:0], id)
	if position, ok = x.byHash.Get(x.hash(key)); ok {
		if o, ok = among.Get(position); ok && hasID(o, id) {
			return position, o, true
		}
	}
	return x.findCollided(among, key)
}

func (x *idIndex) findKey(among *documents, key []byte) (position uint64, ok bool) {
	if position, ok = x.byHash.Get(x.hash(key)); ok {
		if o, ok := among.Get(position); ok && hasKey(o, key) {
			return position, true
		}
	}
	position, _, ok = x.findCollided(among, key)
	return position, ok
}

// findCollided finds the document whose _id has a key among those whose hash another _id has as well.
func (x *idIndex) findCollided(among *documents, key []byte) (position uint64, o document.Object, ok bool) {
	if x.collided.Len() == 0 {
		return 0, document.Object{}, false
	}
	if position, ok = x.collided.Get(string(key)); ok {
		o, ok = among.Get(position)
	}
	return position, o, ok
}

func (x *idIndex) hash(key []byte) uint64 { return maphash.Bytes(x.hashing.seed, key) & x.hashing.mask }

func hasID(o document.Object, id any) bool {
	value, ok := o.Field(document.IDField)
	return ok && document.Equal(value, id)
}

func hasKey(o document.Object, key []byte) bool {
	value, ok := o.Field(document.IDField)
	var buffer [64]byte
	return ok && bytes.Equal(document.AppendKey(buffer[:0], value), key)
}

// add adds the position of a document, whose _id no other document has.
func (x *idIndex) add(edit persistent.Edit, position uint64, id any) {
	key := document.AppendKey(nil, id)
	hash := x.hash(key)
	if _, taken := x.byHash.Get(hash); taken {
		x.collided.Set(edit, string(key), position)
	} else {
		x.byHash.Set(edit, hash, position)
	}
}

// remove takes the position of a document out.
func (x *idIndex) remove(edit persistent.Edit, position uint64, id any) {
	key := document.AppendKey(nil, id)
	hash := x.hash(key)
	if at, ok := x.byHash.Get(hash); ok && at == position {
		x.byHash.Delete(edit, hash)
		return
	}
	x.collided.Delete(edit, string(key))
}
