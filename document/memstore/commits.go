package memstore

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/botctx/go-sdk/boterr"
)

// commits hands the writes to a store to its journal, in groups. A writer that finds
// nobody at work leads: it takes all writes that wait, runs them one after the other on
// versions that are not published yet, hands what they did to the journal, publishes
// the versions and answers. Who comes in the meantime waits, and the first of them
// leads the next group.
type commits struct {
	journal Journal

	mu sync.Mutex
	// waiting are the writes of the next group.
	waiting []*pendingWrite
	// led tells that somebody leads.
	led bool
	// idle is told when nobody does any more.
	idle   sync.Cond
	closed atomic.Bool
}

func newCommits(journal Journal) *commits {
	c := &commits{journal: journal}
	c.idle.L = &c.mu
	return c
}

// pendingWrite is a write whose caller waits.
type pendingWrite struct {
	ctx      context.Context //nolint:containedctx // It belongs to this one call, which another goroutine carries out.
	versions *versions
	run      func(*transaction) error
	// leads tells that the caller was chosen to lead, and cannot withdraw.
	leads bool
	// woken gets true where the caller is to lead, false where the write is over.
	woken chan bool
	// made is what the write made, nil where it failed.
	made *transaction
	err  error
}

// write runs a transaction on the newest content of a collection, and publishes what it
// made once the journal keeps it, unless either failed.
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
		c.lead()
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

// lead brings the writes that wait to their end, and names who leads next.
func (c *commits) lead() {
	defer c.pass()
	g := group{writes: c.gather()}
	defer g.end()
	entries := g.perform()
	if len(entries) > 0 {
		if err := c.commit(entries); err != nil {
			g.fail(err)
			return
		}
	}
	g.publish()
}

// gather takes the writes that wait. Writers that were answered a moment ago often come
// again at once: as long as more come, others may run, so that they share the commit.
func (c *commits) gather() []*pendingWrite {
	const most = 1024
	c.mu.Lock()
	defer c.mu.Unlock()
	for known := 0; known < len(c.waiting) && known < most; {
		known = len(c.waiting)
		c.mu.Unlock()
		runtime.Gosched()
		c.mu.Lock()
	}
	taken := c.waiting
	c.waiting = nil
	return taken
}

// pass lets the first who waits lead.
func (c *commits) pass() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.waiting) == 0 {
		c.led = false
		c.idle.Broadcast()
		return
	}
	next := c.waiting[0]
	next.leads = true
	next.woken <- true
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

// close refuses further writes and waits for those that wait.
func (c *commits) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed.Store(true)
	for c.led {
		c.idle.Wait()
	}
}
