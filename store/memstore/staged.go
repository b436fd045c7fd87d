package memstore

import (
	"context"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/store/memstore/internal/persistent"
)

// Nobody reads what a group makes before all of it is published. So the writes of a group change one
// content in place where they can: it is copied, and so are the nodes on the way to what they change,
// once for all of them. What fails after it has changed something is taken back:
// the content is made anew of the one before the group, by the changes that did not fail.

// stagedContent is what a group has made of a collection.
type stagedContent struct {
	*content

	// failures is that of the group.
	failures int
	// edit is the edit in which the content is changed in place, nil where it stays as it is.
	edit *persistent.Edit
	// base is the content before that, and since the number of the group's writes before.
	base  *content
	since int
	// hasOwnIndexes is that of the transactions in place.
	hasOwnIndexes bool
}

// performOne runs a write.
func (g *group) performOne(p *pendingWrite) {
	v := p.versions
	defer func() { // Also where the write ends the goroutine.
		if p.made == nil && p.tried != nil && p.tried.isTouched && v.staged.edit != nil && p.tried.edit == v.staged.edit {
			g.takeBack(v)
		}
	}()
	p.perform(g.begin)
	if p.made == nil {
		return
	}
	if v.staged.edit != nil && p.made.edit == v.staged.edit {
		v.staged.hasOwnIndexes = p.made.hasOwnIndexes
		return
	}
	v.staged = stagedContent{content: p.made.next, failures: g.failures}
}

// begin begins the transaction of a write.
func (g *group) begin(p *pendingWrite) *transaction {
	v := p.versions
	if !p.run.changesInPlace() {
		g.edit = nil // It may keep a hold of what it sees, which stays as it is.
		t := p.run.room()
		t.begin(p.ctx, g.newest(v))
		t.isObserved = true
		t.next.writes++
		t.number = t.next.writes
		return t
	}
	if g.edit == nil {
		g.edit = persistent.NewEdit()
	}
	if v.staged.edit != g.edit {
		base := g.newest(v)
		next := *base
		v.staged = stagedContent{content: &next, failures: g.failures, edit: g.edit, base: base, since: len(g.writes) - 1}
	}
	now := v.staged.content
	now.writes++
	t := p.run.room()
	*t = transaction{
		ctx: p.ctx, before: now, next: now, edit: g.edit, isObserved: true, number: now.writes,
		hasOwnIndexes: v.staged.hasOwnIndexes,
	}
	return t
}

// settle is called when the group takes no more writes: what it has made stays as it is.
func (g *group) settle() {
	for _, p := range g.writes {
		p.versions.staged.edit, p.versions.staged.base = nil, nil
	}
}

// newest returns the content that the next write begins with.
func (g *group) newest(v *versions) *content {
	if v.staged.content != nil && v.staged.failures == g.failures {
		return v.staged.content
	}
	return v.newest.Load()
}

// takeBack makes a content anew, without the write that failed.
func (g *group) takeBack(v *versions) {
	t := new(transaction)
	t.begin(context.Background(), v.staged.base) // It is for others than the caller whose write failed.
	t.next.writes = v.staged.writes
	for _, p := range g.writes[v.staged.since:] {
		if p.versions != v || p.made == nil {
			continue
		}
		for _, c := range p.made.changes {
			if err := t.repeat(c); err != nil {
				g.err = boterr.New(boterr.Internal, "", "a write could not be repeated after another one failed: %w", err)
				g.isLost = true
			}
		}
		p.made.next = t.next
	}
	v.staged = stagedContent{content: t.next, failures: g.failures}
}
