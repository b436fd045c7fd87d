package memstore

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/botctx/go-sdk/boterr"
)

// commits hands the writes to a store to its journal, in groups. A writer that finds nobody
// who leads does: it runs its own write and those that come after it, one after the other,
// on versions that are not published yet. When the journal is free, it hands it what they
// did, publishes the versions and answers; and while the journal is at work, the next
// writer leads the next group, on top of this one. So writers that are many divide in two
// groups that take turns, of which the one runs while the journal has the other.
type commits struct {
	journal Journal

	mu sync.Mutex
	// changed is told when a write comes, when a group is handed to the journal, and when
	// the journal is free again.
	changed sync.Cond
	// waiting are the writes that have not begun.
	waiting []*pendingWrite
	// led tells that somebody leads, busy that the journal is at work.
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
	c.changed.L = &c.mu
	return c
}

// pendingWrite is a write whose caller waits.
type pendingWrite struct {
	ctx      context.Context //nolint:containedctx // It belongs to this one call, which another goroutine carries out.
	versions *versions
	run      func(*transaction) error
	// leads tells that the caller was chosen to lead, and cannot withdraw.
	leads bool
	// woken gets true where the caller is to lead, false where the write has ended.
	woken chan bool
	// made is what the write made, nil where it failed.
	made *transaction
	err  error
	// panicked is what a watcher panicked with that was told of the write.
	panicked any
}

// write runs a transaction on the newest content of a collection, and publishes what it
// made once the journal keeps it, unless either failed. Where ctx ends before the
// transaction has begun, it never does; afterwards the outcome is waited for.
func (c *commits) write(ctx context.Context, v *versions, run func(*transaction) error) error {
	p := &pendingWrite{ctx: ctx, versions: v, run: run, woken: make(chan bool, 1)}
	c.mu.Lock()
	if err := c.checkOpen(); err != nil {
		c.mu.Unlock()
		return err
	}
	c.waiting = append(c.waiting, p)
	leads := !c.led
	p.leads, c.led = leads, true
	if !leads {
		c.changed.Broadcast()
	}
	c.mu.Unlock()
	if !leads {
		select {
		case leads = <-p.woken:
		case <-ctx.Done():
			if c.withdraw(p) {
				return checkEnded(ctx)
			}
			leads = <-p.woken
		}
	}
	if leads {
		c.lead(&group{})
	}
	if p.panicked != nil {
		panic(p.panicked)
	}
	return p.err
}

// withdraw takes back a write that has not begun, and reports whether it could.
func (c *commits) withdraw(p *pendingWrite) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := slices.Index(c.waiting, p)
	if at < 0 || p.leads {
		return false
	}
	c.waiting = slices.Delete(c.waiting, at, at+1)
	return true
}

// lead brings a group of writes to their end. A function of a caller that ends the goroutine,
// by runtime.Goexit, ends neither the group nor the writes of others: another goroutine goes
// on where this one stopped.
func (c *commits) lead(g *group) {
	ended := false
	defer func() {
		if !ended {
			go c.lead(g)
		}
	}()
	if !g.isTaken {
		c.gather(g)
	}
	if !g.isHanded {
		c.hand(g)
	}
	if g.err != nil {
		g.fail()
	} else {
		g.publish()
	}
	c.end(g)
	ended = true
}

// gather runs the writes that wait, and those that come while the journal is at work, and
// takes the journal.
func (c *commits) gather(g *group) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !g.hasBegun {
		g.hasBegun, g.failures = true, c.failures
	}
	for known := 0; ; {
		switch {
		case len(g.taken) > 0:
			c.unlocked(g.perform)
		case !c.busy && c.isLarge(g):
			c.take(g)
			return
		case len(c.waiting) > 0:
			g.taken, c.waiting = c.waiting, nil
		case c.busy:
			c.changed.Wait()
		case len(g.writes) > known:
			known = len(g.writes)
			c.unlocked(runtime.Gosched)
		default:
			c.take(g)
			return
		}
	}
}

// isLarge reports whether a group need not wait for more writes: there are about half as
// many as there are writers, going by the groups before.
func (c *commits) isLarge(g *group) bool {
	return len(g.writes) > 0 && 4*len(g.writes) >= c.last+c.lastButOne
}

// unlocked calls a function while others may come.
func (c *commits) unlocked(call func()) {
	c.mu.Unlock()
	defer c.mu.Lock()
	call()
}

// take gives a group the journal, and lets the first of the writes that wait lead the next
// one.
func (c *commits) take(g *group) {
	g.isTaken = true
	if g.failures != c.failures {
		g.err = boterr.New(boterr.Unavailable, "", "nothing was written, since it rests on a write that failed: %w", c.failed)
	}
	c.busy, c.last, c.lastButOne = true, len(g.writes), c.last
	c.led = len(c.waiting) > 0
	if c.led {
		next := c.waiting[0]
		next.leads = true
		next.woken <- true
	}
}

// end gives the journal to the next group, and answers the callers.
func (c *commits) end(g *group) {
	c.mu.Lock()
	c.busy = false
	if g.isLost {
		c.failures++
		c.failed = g.err
	}
	c.changed.Broadcast()
	c.mu.Unlock()
	for _, p := range g.writes {
		p.woken <- false
	}
}

// errJournalEnded is the error of a journal that ends the goroutine.
var errJournalEnded = boterr.New(boterr.Unavailable, "", "the journal did not return, and it is not known whether it kept the write")

// hand hands what a group did to the journal, unless it rests on what is not there.
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
	return boterr.New(boterr.FailedPrecondition, "", "the store was closed; open it anew")
}

// close refuses further writes and waits for those that are under way.
func (c *commits) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed.Store(true)
	for c.led || c.busy {
		c.changed.Wait()
	}
}
