package memstore

import (
	"iter"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store/memstore/internal/persistent"
)

// Snapshot is the content of a whole store at one moment. It never changes. The
// zero Snapshot is that of an empty store.
type Snapshot struct {
	// contents are those of the collections, in the order of their names.
	contents []*content
}

// Snapshot returns what the store holds now, in all collections at the same
// moment: it waits for the writers that are at work, and then takes time for each
// collection, not for each document.
func (s *Store) Snapshot() Snapshot {
	s.making.Lock()
	defer s.making.Unlock()
	defer unlockAll(s.lockAll())
	all := s.collections.Load()
	taken := Snapshot{contents: make([]*content, 0, all.Len())}
	for _, v := range all.All() {
		taken.contents = append(taken.contents, v.newest.Load())
	}
	return taken
}

// Collections returns the names of the collections, sorted.
func (s Snapshot) Collections() []string {
	names := make([]string, len(s.contents))
	for i, c := range s.contents {
		names[i] = c.name
	}
	return names
}

// Documents yields the documents of a collection in the order in which they were inserted, none where there is no
// such collection.
func (s Snapshot) Documents(collection string) iter.Seq[document.Object] {
	return func(yield func(document.Object) bool) {
		for _, c := range s.contents {
			if c.name == collection {
				c.documents.All()(func(_ uint64, one document.Object) bool { return yield(one) })
			}
		}
	}
}

// Restore puts the store back to a snapshot, of this store or of another one:
// collections, documents and indexes. A reader that is at work goes on with what
// it began with; each collection is put back in one step.
func (s *Store) Restore(snapshot Snapshot) {
	s.making.Lock()
	defer s.making.Unlock()
	s.makeAll(snapshot.contents)
	defer unlockAll(s.lockAll())
	kept := snapshot.contents
	for name, v := range s.collections.Load().All() {
		if len(kept) > 0 && kept[0].name == name {
			v.restore(kept[0])
			kept = kept[1:]
		} else {
			v.restore(newContent(name))
		}
	}
}

// makeAll makes the collections of contents where there are none. The caller holds the lock.
func (s *Store) makeAll(contents []*content) {
	next, edit := *s.collections.Load(), persistent.NewEdit()
	room := make([]versions, len(contents))
	for i, c := range contents {
		if _, ok := next.Get(c.name); !ok {
			next.Set(edit, c.name, room[i].begin(s, c))
		}
	}
	s.collections.Store(&next)
}

// restore puts a collection back to a content. The caller has its lock.
func (v *versions) restore(to *content) {
	v.newest.Store(to)
	for _, f := range v.followers {
		f.isReset = true
	}
	v.notifyReset()
}

// MakeEmpty makes the empty collections of a snapshot, with their indexes, that the store does not have.
func (s *Store) MakeEmpty(snapshot Snapshot) {
	s.making.Lock()
	defer s.making.Unlock()
	s.makeAll(withOwnShapes(snapshot.contents))
}

// withOwnShapes returns those contents that have no documents, each with shapes of its own.
func withOwnShapes(contents []*content) []*content {
	room := make([]struct {
		content content
		shapes  document.Shapes
	}, len(contents))
	made := make([]*content, 0, len(contents))
	for i, c := range contents {
		if c.documents.Len() == 0 {
			room[i].content = *c
			room[i].content.shapes = &room[i].shapes
			made = append(made, &room[i].content)
		}
	}
	return made
}

// Fork returns a store of its own with the same content and, unless an option
// says otherwise, the same clock. What is written to one of the two is not seen
// in the other. It costs what Snapshot costs.
func (s *Store) Fork(options ...Option) *Store {
	fork := New(append([]Option{WithNow(s.now)}, options...)...)
	fork.Restore(s.Snapshot())
	return fork
}

// lockAll keeps all writers out, and returns the collections, which unlockAll lets them into again. The caller
// holds s.making: a writer waits for nothing while it holds its lock, and only
// who holds s.making takes more than one, so that nobody waits for ever.
func (s *Store) lockAll() *directory {
	all := s.collections.Load()
	for _, v := range all.All() {
		v.writing.Lock()
	}
	return all
}

// unlockAll lets writers in again.
func unlockAll(all *directory) {
	for _, v := range all.All() {
		v.writing.Unlock()
	}
}
