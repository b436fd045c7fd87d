package memstore

import (
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/store/memstore/internal/persistent"
)

// group is the writes that are handed to the journal together.
type group struct {
	// taken are the writes that it took and has not run, writes those that it ran, published
	// how many of these are published.
	taken, writes []*pendingWrite
	published     int
	// takenRoom is the room of taken.
	takenRoom []*pendingWrite
	// isTaken tells that the group has the journal, isHanded that the journal was given the
	// entries.
	isTaken, isHanded bool
	// entries are what the writes did, and text is the room of their Entry.Text.
	entries []Entry
	text    []byte
	// failures is the number of groups that had failed when this one began. Where another one fails
	// before its turn comes, it builds on content that does not exist.
	failures int
	// edit is that of the writes which change a content in place.
	edit *persistent.Edit
	// err is why none of the writes is kept, isLost tells that it is the error of the journal.
	err    error
	isLost bool
}

// perform runs the writes that were taken, on versions that are not published yet.
func (g *group) perform(encoder Encoder) {
	for len(g.taken) > 0 {
		p := g.taken[0]
		g.taken = g.taken[1:]
		g.writes = append(g.writes, p)
		g.performOne(p)
		if p.made == nil {
			continue
		}
		p.versions.notifyFollowers(p.made.changes)
		before := len(g.entries)
		g.entries = p.made.appendEntries(g.entries)
		if encoder != nil {
			g.encode(encoder, g.entries[before:])
		}
	}
}

// encode has entries encoded. Where text has no more room it moves, and what was encoded before stays
// where it is.
func (g *group) encode(encoder Encoder, entries []Entry) {
	for i := range entries {
		begin := len(g.text)
		g.text = encoder.AppendEntry(g.text, &entries[i])
		entries[i].Text = g.text[begin:len(g.text):len(g.text)]
	}
}

// takeAll takes the writes that wait, and returns the room for others.
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
	// mostRoom is the number of writes and entries that a group keeps room for, mostText that of bytes.
	mostRoom = 1024
	mostText = 1 << 20
)

// reusable returns the room of a slice, empty, and none where there is more than most.
func reusable[E any](used []E, most int) []E {
	if cap(used) > most {
		return nil
	}
	clear(used)
	return used[:0]
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
