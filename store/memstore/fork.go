package memstore

import (
	"iter"

	"github.com/botctx/go-sdk/document"
)

// Snapshot is the content of a whole store at one moment. It never changes. The zero Snapshot is the snapshot
// of an empty store.
type Snapshot struct {
	// contents are the contents of the collections, in the order of their names.
	contents []*content
}

// Snapshot returns the content of all collections at one moment: it waits for active writers, and then takes
// time proportional to the number of collections, not of documents.
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
		names[i] = c.schema.Name
	}
	return names
}

// Documents yields the documents of a collection in the order in which they were inserted. A collection that
// does not exist has none.
func (s Snapshot) Documents(collection string) iter.Seq[document.Object] {
	return func(yield func(document.Object) bool) {
		for _, c := range s.contents {
			if c.schema.Name == collection {
				c.documents.All()(func(_ uint64, one document.Object) bool { return yield(one) })
			}
		}
	}
}

// Restore sets the store's collections, documents and indexes to a snapshot of this store or of another one.
// A current reader keeps the content with which it began; each collection is restored in one step. A panic of a
// watcher's reset is passed on after all is restored.
func (s *Store) Restore(snapshot Snapshot) {
	s.making.Lock()
	defer s.making.Unlock()
	s.makeAll(snapshot.contents)
	defer unlockAll(s.lockAll())
	kept := snapshot.contents
	for name, v := range s.collections.Load().All() {
		var to *content
		if len(kept) > 0 && kept[0].schema.Name == name {
			to, kept = kept[0], kept[1:]
		} else {
			to = newContent(name)
		}
		v.newest.Store(to)
		v.resets++
		for _, w := range v.watchers {
			defer w.Reset() //nolint:gocritic,revive // All are called after the last collection is restored, even if one panics.
		}
	}
}

// makeAll creates the collections of contents that do not exist. The caller holds the lock.
func (s *Store) makeAll(contents []*content) {
	next, edit := *s.collections.Load(), s.nextEdit()
	room := make([]versions, len(contents))
	for i, c := range contents {
		if _, ok := next.Get(c.schema.Name); !ok {
			next.Set(edit, c.schema.Name, room[i].begin(s, c))
		}
	}
	s.collections.Store(&next)
}

// MakeEmpty creates the empty collections of a snapshot that the store lacks, with their indexes.
func (s *Store) MakeEmpty(snapshot Snapshot) {
	s.making.Lock()
	defer s.making.Unlock()
	s.makeAll(withOwnShapes(snapshot.contents))
}

// withOwnShapes gives contents without documents new shapes.
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

// Fork returns a separate store with the same content and, unless an option changes it, the same clock.
// Writes to one of the two are not visible in the other. It costs the same as Snapshot.
func (s *Store) Fork(options ...Option) *Store {
	fork := New(append([]Option{WithNow(s.now)}, options...)...)
	fork.Restore(s.Snapshot())
	return fork
}

// lockAll locks out all writers, and returns the collections; unlockAll lets writers continue. The caller holds
// s.making. There is no deadlock: a writer waits for nothing while it holds its lock, and only the holder of
// s.making takes more than one.
func (s *Store) lockAll() *directory {
	all := s.collections.Load()
	for _, v := range all.All() {
		v.writing.Lock()
	}
	return all
}

func unlockAll(all *directory) {
	for _, v := range all.All() {
		v.writing.Unlock()
	}
}
