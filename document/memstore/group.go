package memstore

import (
	"github.com/botctx/go-sdk/boterr"
)

// group is the writes that are handed to the journal together.
type group struct {
	writes []*pendingWrite
	// locked are the collections that they write to.
	locked []*versions
}

// perform runs the writes on versions that are not published yet, and returns what they
// did.
func (g *group) perform() []Entry {
	var entries []Entry
	for _, p := range g.writes {
		g.lock(p.versions)
		t := begin(p.versions.staged)
		t.noted = true
		if p.err = p.perform(t); p.err != nil {
			continue
		}
		p.made, p.versions.staged = t, t.next
		entries = t.appendEntries(entries)
	}
	return entries
}

// lock keeps others out of a collection: who begins to watch it sees either none of the
// group or all.
func (g *group) lock(v *versions) {
	if v.staged == nil {
		v.writing.Lock()
		v.staged = v.newest.Load()
		g.locked = append(g.locked, v)
	}
}

// perform runs the write. A panic ends this write only.
func (p *pendingWrite) perform(t *transaction) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = boterr.New(boterr.Internal, "", "the write panicked: %v", cause)
		}
	}()
	if err := checkEnded(p.ctx); err != nil {
		return err
	}
	return p.run(t)
}

// appendEntries appends what a transaction did.
func (t *transaction) appendEntries(entries []Entry) []Entry {
	for _, c := range t.changes {
		entries = append(entries, Entry{Collection: t.next.name, Position: c.position, Before: c.before, After: c.after})
	}
	if t.indexed != nil {
		entries = append(entries, Entry{Collection: t.next.name, Index: t.indexed})
	}
	return entries
}

// fail gives all writes the error of the journal, those that failed by themselves
// included: what they saw was not published. Who withdrew keeps that.
func (g *group) fail(err error) {
	for _, p := range g.writes {
		if boterr.CodeOf(p.err) != boterr.Canceled {
			p.err = err
		}
	}
}

// publish shows the new versions to readers and tells who watches, write by write.
func (g *group) publish() {
	for _, p := range g.writes {
		if p.made != nil {
			p.versions.newest.Store(p.made.next)
			p.versions.tell(p.made.changes)
		}
	}
}

// end lets others write to the collections, and answers the callers.
func (g *group) end() {
	for _, v := range g.locked {
		v.staged = nil
		v.writing.Unlock()
	}
	for _, p := range g.writes {
		p.woken <- false
	}
}
