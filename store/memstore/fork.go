package memstore

import (
	"context"
	"iter"
	"slices"
	"sync/atomic"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore/internal/persistent"
)

// Snapshot is the content of a whole store at one moment. It never changes. The zero Snapshot is the snapshot
// of an empty store.
type Snapshot struct {
	// contents are the contents of the collections, in the order of their names.
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

// Documents yields the documents of a collection in the order in which they were inserted. A collection that
// does not exist has none.
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

// makeAll makes the collections of contents if there are none. The caller holds the lock.
func (s *Store) makeAll(contents []*content) {
	next, edit := *s.collections.Load(), s.nextEdit()
	room := make([]versions, len(contents))
	for i, c := range contents {
		if _, ok := next.Get(c.name); !ok {
			next.Set(edit, c.name, room[i].begin(s, c))
		}
	}
	s.collections.Store(&next)
}

// versions is one collection: its newest content, and the lock under which the
// next one is made.
type versions struct {
	// asCollection is the store's collection for callers.
	asCollection collection
	writing      writeLock
	newest       atomic.Pointer[content]
	// staged is the content after the writes of groups, published or not. It belongs to the leader of a
	// group.
	staged stagedContent
	// watchers get the changes of each transaction, under the lock.
	watchers []*watcher
	// followers are told so, too. They belong to the writer of the next version, who has the lock
	// or leads a group.
	followers []*follower
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

// lockAll keeps all writers out, and returns the collections; unlockAll lets writers in again. The caller
// holds s.making: a writer waits for nothing while it holds its lock, and only the holder of s.making takes
// more than one, so there is no deadlock.
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

// begin gives a collection its first content in the empty versions v, and returns them.
func (v *versions) begin(s *Store, first *content) *versions {
	v.asCollection = collection{store: s, name: first.name, found: v}
	v.newest.Store(first)
	return v
}

// write runs a transaction on the newest content, and publishes what it made
// unless it failed. The error is errTooLong if it looked at its context more often
// than allowed.
func (v *versions) write(ctx context.Context, looks int, run inTransaction) error {
	if err := v.writing.take(ctx); err != nil {
		return err
	}
	defer v.writing.Unlock()
	if err := checkEnded(ctx); err != nil {
		return err
	}
	t := run.room()
	t.begin(ctx, v.newest.Load())
	t.isObserved = len(v.watchers) > 0 || len(v.followers) > 0
	if err := t.runLocked(looks, run); err != nil {
		return err
	}
	v.newest.Store(t.next)
	v.notifyFollowers(t.changes)
	notifyAll(v.watchers, t.changes)
	return nil
}

// content is one version of what a collection holds. It never changes.
type content struct {
	// name is the collection's, for errors.
	name string
	// documents are at their positions in the order of insertion.
	documents persistent.Sequence[document.Object]
	ids       idIndex
	indexes   []index
	// end is the position of the next document.
	end uint64
	// edit is the transaction's edit in which the content was made.
	edit persistent.Edit
	// shapes are shared by all versions, including versions of forks.
	shapes *document.Shapes
}

func newContent(name string) *content {
	return &content{name: name, ids: newIDIndex(), shapes: &document.Shapes{}}
}

// transaction makes the next version of a content.
type transaction struct {
	// ctx is the context that the transaction checks while it works: bounded while it has the lock.
	ctx     context.Context //nolint:containedctx // It belongs to the one call that the transaction is made for.
	bounded countingContext
	// call is the budget of the call that the transaction is made for, nil if it evaluates nothing.
	call *query.Evaluation
	// before is the version that it began with, next the one that it makes. They
	// lie apart, so that the one does not keep the other in memory.
	before *content
	next   *content
	edit   persistent.Edit
	// hasOwnIndexes is true once the indexes of next are copies, isObserved if a watcher or a journal wants
	// the changes.
	hasOwnIndexes, isObserved bool
	// done is the number of documents that it changed since it looked whether its context has ended.
	done uint8
	// changes are its changes of documents, if it is observed.
	changes []documentChange
	// indexed is the index that it made, nil if it made none.
	indexed *store.Index
}

func (t *transaction) begin(ctx context.Context, before *content) {
	next := *before
	next.edit++
	*t = transaction{ctx: ctx, before: before, next: &next, edit: next.edit}
}

type inTransaction interface {
	in(t *transaction) error
	// room returns the memory for the transaction. It is free again once the transaction has failed.
	room() *transaction
}

type transactionFunc func(*transaction) error

func (f transactionFunc) in(t *transaction) error { return f(t) }

func (transactionFunc) room() *transaction { return new(transaction) }

// isChanged reports whether the transaction did anything.
func (t *transaction) isChanged() bool { return len(t.changes) > 0 || t.indexed != nil }

// changesBetweenLooks is the number of changed documents after which a transaction looks
// whether its context has ended.
const changesBetweenLooks = 32

// look looks now and then whether the context has ended.
func (t *transaction) look() error {
	t.done++
	if t.done < changesBetweenLooks {
		return nil
	}
	t.done = 0
	return checkEnded(t.ctx)
}

// reindex replaces the keys of one version of a document by the keys of the next, in all indexes. The first
// change copies the indexes, so that the version before keeps its own.
func (t *transaction) reindex(position uint64, before, after document.Object) error {
	if err := t.look(); err != nil {
		return err
	}
	for i := range t.next.indexes {
		if t.next.indexes[i].sameFields(before, after) {
			continue
		}
		if !t.hasOwnIndexes {
			t.next.indexes, t.hasOwnIndexes = slices.Clone(t.next.indexes), true
		}
		grown, err := t.next.indexes[i].replace(t.edit, position, before, after)
		if err == nil {
			err = t.keep(grown)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// keep counts memory that the call holds.
func (t *transaction) keep(bytes int) error {
	if t.call == nil {
		return nil
	}
	return t.call.Keep(bytes)
}

// insert adds a document at the end.
func (t *transaction) insert(o document.Object) error {
	if err := document.CheckInsert(o); err != nil {
		return err
	}
	o = t.next.shapes.Keep(o)
	id, _ := o.Field(document.IDField)
	if _, _, exists := t.next.ids.find(&t.next.documents, id); exists {
		return duplicate(t.next.name, "_id_", document.O(document.IDField, id))
	}
	position := t.next.end
	if err := t.reindex(position, document.Object{}, o); err != nil {
		return err
	}
	t.next.ids.add(t.edit, position, id)
	t.next.documents.Set(t.edit, position, o)
	t.next.end++
	t.note(position, document.Object{}, o)
	return nil
}

// replace puts the next version of a document in the place of the one before. Both
// have the same _id.
func (t *transaction) replace(position uint64, before, after document.Object) error {
	after = t.next.shapes.Share(after)
	if err := t.reindex(position, before, after); err != nil {
		return err
	}
	t.next.documents.Set(t.edit, position, after)
	t.note(position, before, after)
	return nil
}

// remove takes a document out.
func (t *transaction) remove(position uint64, o document.Object) error {
	if err := t.reindex(position, o, document.Object{}); err != nil {
		return err
	}
	id, _ := o.Field(document.IDField)
	t.next.ids.remove(t.edit, position, id)
	t.next.documents.Delete(t.edit, position)
	t.note(position, o, document.Object{})
	return nil
}
