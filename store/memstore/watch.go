package memstore

import (
	"slices"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
)

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
// are still called.
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
