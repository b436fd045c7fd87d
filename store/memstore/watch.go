package memstore

import (
	"slices"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
)

var _ store.Watcher = (*Store)(nil)

// watcher is who follows the changes of a collection.
type watcher struct {
	changed func(before, after document.Object)
	reset   func()
	// from is content.writes when it began to watch: it is not told of these.
	from uint64
}

// documentChange is what a transaction did to one document.
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
	w.from = watched.newest.Load().writes
	watched.watchers = append(watched.watchers, w)
	return func() { watched.unwatch(w) }
}

func (v *versions) unwatch(w *watcher) {
	v.writing.Lock()
	defer v.writing.Unlock()
	v.watchers = slices.DeleteFunc(v.watchers, func(known *watcher) bool { return known == w })
}

// notify tells the watchers what a transaction did. The caller holds the lock.
func (v *versions) notify(changes []documentChange) { notifyAll(v.watchers, changes) }

// notifyOf tells the watchers what a transaction of a group did, but for those who began to watch when
// it was published together with one before it. The caller holds the lock.
func (v *versions) notifyOf(t *transaction) {
	later := func(w *watcher) bool { return w.from >= t.number }
	if slices.ContainsFunc(v.watchers, later) {
		notifyAll(slices.DeleteFunc(slices.Clone(v.watchers), later), t.changes)
		return
	}
	notifyAll(v.watchers, t.changes)
}

// notifyAll tells watchers, one after the other. Where one panics or ends the goroutine, those
// after it are told all the same.
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

// note keeps what was done to a document where somebody wants to know it.
func (t *transaction) note(position uint64, before, after document.Object) {
	if t.isObserved {
		t.changes = append(t.changes, documentChange{position: position, before: before, after: after})
	}
}
