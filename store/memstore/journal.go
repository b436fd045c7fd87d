package memstore

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/absent"
	"github.com/botctx/go-sdk/internal/query"
	"github.com/botctx/go-sdk/store"
)

// Journal keeps what is written to a Journaled store, so that a store that is opened
// with the same journal later holds it again.
type Journal interface {
	// Load yields what the journal keeps as entries whose Before is absent: of each
	// collection the documents, lowest position first, and then the indexes in the
	// order in which they were made. It stops at the first error of yield, and returns it.
	Load(yield func(Entry) error) error

	// Commit keeps entries, all or none, in their order: once it has returned nil, Load
	// yields what they made. It is called by one goroutine at a time, and must not hold
	// the entries any longer. An error that is no *boterr.Error counts as Unavailable.
	Commit(entries []Entry) error
}

// Encoder is a Journal that makes the form in which it keeps an entry beforehand: while it
// commits other entries.
type Encoder interface {
	Journal

	// AppendEntry appends that form to a text, which Commit is given as Entry.Text. It is called by one
	// goroutine at a time, for entries in the order of their commits, and may be called during Commit.
	// It does not fail.
	AppendEntry(text []byte, entry *Entry) []byte
}

// Entry is one thing that a write did.
type Entry struct {
	Collection string
	// Index is the index that was made, nil for what was done to a document.
	Index *store.Index
	// Position is the place of the document in the order of insertion. It does not change until the document
	// is removed.
	Position uint64
	// Before is the document before the change, After the document after it; absent for no document.
	Before, After document.Object
	// Text is the result of Encoder.AppendEntry for the entry, nil for another Journal.
	Text []byte
}

// Journaled is a store.Store in memory whose writes are kept in a journal before they are published and their
// callers are answered. Reads never wait. Writes of all collections take turns, like the writes of one
// collection of a Store; writes that come while the journal works are handed to it together. Open makes one.
type Journaled struct{ store *Store }

var (
	_ store.Store   = (*Journaled)(nil)
	_ store.Watcher = (*Journaled)(nil)
)

// Open returns a store with what a journal keeps, whose writes the journal keeps, too.
// InvalidArgument: there is no journal. FailedPrecondition: it yields what no store could
// have written.
func Open(journal Journal, options ...Option) (*Journaled, error) {
	if absent.Is(journal) {
		return nil, boterr.Invalid("journal", "it is nil; give one, or use New")
	}
	s := New(options...)
	if err := s.load(journal); err != nil {
		return nil, err
	}
	s.commits = newCommits(journal)
	return &Journaled{store: s}, nil
}

// Collection implements store.Store. If the journal fails, the write returns the error of Journal.Commit, and
// has no effect; the same holds for the writes that were handed to the journal together with it, and for
// writes that ran meanwhile.
func (j *Journaled) Collection(name string) store.Collection { return j.store.Collection(name) }

// Now implements store.Store as Store.Now does.
func (j *Journaled) Now(ctx context.Context) (time.Time, error) {
	if err := j.store.commits.checkOpen(); err != nil {
		return time.Time{}, err
	}
	return j.store.Now(ctx)
}

// Watch implements store.Watcher.
func (j *Journaled) Watch(
	collection string, changed func(before, after document.Object), reset func(),
) (stop func()) {
	return j.store.Watch(collection, changed, reset)
}

// Explain finds documents and describes how, as Store.Explain does.
func (j *Journaled) Explain(
	ctx context.Context, collectionName string, filter *query.Filter, options store.FindOptions,
) (Explanation, error) {
	return j.store.Explain(ctx, collectionName, filter, options)
}

// Close refuses everything that is asked of the store from now on, with
// Unavailable, and waits for the writes that are under way. The journal is not
// used any more when it returns.
func (j *Journaled) Close() { j.store.commits.close() }

// load fills an empty store with what a journal keeps.
func (s *Store) load(journal Journal) error {
	var at *versions
	var t *transaction
	publish := func() {
		if t != nil {
			at.newest.Store(t.next)
		}
	}
	err := journal.Load(func(entry Entry) error {
		if t == nil || t.next.name != entry.Collection {
			if err := store.CheckName(entry.Collection); err != nil {
				return invalidEntry(entry, err)
			}
			publish()
			at = s.named(entry.Collection)
			t = new(transaction)
			t.begin(context.Background(), at.newest.Load())
		}
		return invalidEntry(entry, t.load(entry))
	})
	publish()
	return err
}

// load puts what a journal yields into the content.
func (t *transaction) load(entry Entry) error {
	if entry.Index == nil {
		if entry.Position < t.next.end {
			return boterr.New(boterr.Internal, "", "the position is out of order")
		}
		t.next.end = entry.Position
		return t.insert(entry.After)
	}
	if err := entry.Index.Check(); err != nil {
		return err
	}
	// An index is made of the documents that were there before the transaction.
	loaded := *t.next
	t.before = &loaded
	return t.ensure(*entry.Index)
}

// invalidEntry is the error for what a journal yields and no store could have written.
func invalidEntry(entry Entry, err error) error {
	switch {
	case err == nil:
		return nil
	case entry.Index != nil:
		return boterr.New(boterr.FailedPrecondition, "", "the index %v of the collection %q cannot be made again: %w",
			entry.Index.Keys, entry.Collection, err)
	default:
		return boterr.New(boterr.FailedPrecondition, "", "the document at position %d of the collection %q cannot be loaded: %w",
			entry.Position, entry.Collection, err)
	}
}

// follower collects what is written to a collection. All of it but hasLeft is guarded by the lock
// of the collection.
type follower struct {
	changes []documentChange
	// isReset is true if everything was changed.
	isReset bool
	// hasLeft is true once the subscriber has left.
	hasLeft atomic.Bool
}

// addFollower adds one. The caller has the lock.
func (v *versions) addFollower(f *follower) {
	v.forgetFollowers()
	v.followers = append(v.followers, f)
}

// notifyFollowers tells the followers what a transaction did. The caller has the lock.
func (v *versions) notifyFollowers(changes []documentChange) {
	if len(v.followers) == 0 {
		return
	}
	v.forgetFollowers()
	for _, f := range v.followers {
		f.changes = append(f.changes, changes...)
	}
}

// forgetFollowers forgets those who left.
func (v *versions) forgetFollowers() {
	v.followers = slices.DeleteFunc(v.followers, func(f *follower) bool { return f.hasLeft.Load() })
}

var _ store.Watcher = (*Store)(nil)

// A watcher follows the changes of a collection.
type watcher struct {
	changed func(before, after document.Object)
	reset   func()
}

// documentChange is a transaction's change of one document.
type documentChange struct {
	position      uint64
	before, after document.Object
}

// Watch implements store.Watcher. A store that is forked from this one has no
// watchers.
func (s *Store) Watch(
	collection string, changed func(before, after document.Object), reset func(),
) (stop func()) {
	if store.CheckName(collection) != nil {
		return func() {} // Nothing is ever written there.
	}
	watched := s.named(collection)
	w := &watcher{changed: changed, reset: reset}
	watched.writing.Lock()
	defer watched.writing.Unlock()
	watched.watchers = append(watched.watchers, w)
	return func() { watched.unwatch(w) }
}

func (v *versions) unwatch(w *watcher) {
	v.writing.Lock()
	defer v.writing.Unlock()
	v.watchers = slices.DeleteFunc(v.watchers, func(known *watcher) bool { return known == w })
}

// notifyAll calls watchers, one after the other. If one panics or ends the goroutine, the watchers after it
// are called all the same.
func notifyAll(watchers []*watcher, changes []documentChange) {
	if len(watchers) == 0 {
		return
	}
	defer notifyAll(watchers[1:], changes)
	for i := range changes {
		watchers[0].changed(changes[i].before, changes[i].after)
	}
}

// notifyReset tells the watchers that everything changed. The caller holds the lock.
func (v *versions) notifyReset() {
	for _, w := range v.watchers {
		w.reset()
	}
}

// note keeps the change of a document if a watcher or a journal wants it.
func (t *transaction) note(position uint64, before, after document.Object) {
	if t.isObserved {
		t.changes = append(t.changes, documentChange{position: position, before: before, after: after})
	}
}
