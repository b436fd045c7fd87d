package memstore

import (
	"github.com/botctx/go-sdk/boterr"
)

// group is the writes that are handed to the journal together.
type group struct {
	// taken are the writes that it took and has not run, writes those that it ran, published
	// how many of these are published.
	taken, writes []*pendingWrite
	published     int
	// hasBegun tells that failures is set, isTaken that the group has the journal, isHanded
	// that the journal was given the entries.
	hasBegun, isTaken, isHanded bool
	// entries are what they did.
	entries []Entry
	// failures is the number of groups that had failed when this one began. Where another one fails
	// before its turn comes, it builds on content that does not exist.
	failures int
	// err is why none of the writes is kept, isLost tells that it is the error of the journal.
	err    error
	isLost bool
}

// stagedContent is what a group has made of a collection.
type stagedContent struct {
	*content

	// failures is that of the group.
	failures int
}

// perform runs the writes that were taken, on versions that are not published yet.
func (g *group) perform() {
	for len(g.taken) > 0 {
		p := g.taken[0]
		g.taken = g.taken[1:]
		g.writes = append(g.writes, p)
		p.perform(g.newest(p.versions))
		if p.made == nil {
			continue
		}
		p.versions.staged = stagedContent{content: p.made.next, failures: g.failures}
		p.versions.notifyFollowers(p.made.changes)
		g.entries = p.made.appendEntries(g.entries)
	}
}

// newest returns the content that the next write begins with.
func (g *group) newest(v *versions) *content {
	if v.staged.content != nil && v.staged.failures == g.failures {
		return v.staged.content
	}
	return v.newest.Load()
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

// fail gives all writes the group's error, also those that failed by themselves, since what they
// saw was not published. Only those that were canceled keep their error.
func (g *group) fail() {
	for _, p := range g.writes {
		if boterr.CodeOf(p.err) != boterr.Canceled {
			p.err = g.err
		}
	}
}

// publish shows the new versions to readers and tells who watches, write by write. A watcher that
// begins meanwhile is told of exactly the writes that were not published before.
func (g *group) publish() {
	for g.published < len(g.writes) {
		p := g.writes[g.published]
		g.published++
		if p.made != nil {
			p.publish()
		}
	}
}
