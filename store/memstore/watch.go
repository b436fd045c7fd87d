package memstore

import (
	"slices"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/engine"
	"github.com/botctx/go-sdk/store"
)

var _ store.Watcher = (*Store)(nil)

// Watch implements store.Watcher. A store that is forked from this one has no
// watchers.
func (s *Store) Watch(
	collection string, changed func(before, after document.Object), reset func(),
) (stop func()) {
	if store.CheckName(collection) != nil {
		return func() {} // A collection with an invalid name never changes.
	}
	watched := s.named(collection)
	w := &engine.Watcher{Changed: changed, Reset: reset}
	watched.writing.Lock()
	defer watched.writing.Unlock()
	watched.watchers = append(watched.watchers, w)
	return func() { watched.unwatch(w) }
}

func (v *versions) unwatch(w *engine.Watcher) {
	v.writing.Lock()
	defer v.writing.Unlock()
	v.watchers = slices.DeleteFunc(v.watchers, func(known *engine.Watcher) bool { return known == w })
}

// notifyReset tells the watchers that everything changed. The caller holds the lock.
func (v *versions) notifyReset() {
	for _, w := range v.watchers {
		w.Reset()
	}
}
