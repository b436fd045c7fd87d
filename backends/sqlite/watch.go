package sqlite

import (
	"slices"
	"sync"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/engine"
)

// watchers are the watchers of a collection, which may not exist yet.
type watchers struct {
	mu  sync.Mutex
	all []*engine.Watcher
}

// Watch implements store.Watcher. changed is called after a change is on disk.
func (s *Store) Watch(
	name string, changed func(before, after document.Object), _ func(),
) (stop func()) {
	w, of := &engine.Watcher{Changed: changed}, s.watchersOf(name)
	of.mu.Lock()
	defer of.mu.Unlock()
	of.all = append(slices.Clone(of.all), w)
	return func() { of.remove(w) }
}

func (s *Store) watchersOf(name string) *watchers {
	of, _ := s.watched.LoadOrStore(name, &watchers{})
	return of.(*watchers) //nolint:forcetypeassert // The map has no other type.
}

func (of *watchers) remove(w *engine.Watcher) {
	of.mu.Lock()
	defer of.mu.Unlock()
	of.all = slices.DeleteFunc(slices.Clone(of.all), func(known *engine.Watcher) bool { return known == w })
}

// notify calls all watchers, even if one panics or ends the goroutine. It returns the value of the first panic,
// or nil.
func (of *watchers) notify(changes []engine.Change) (thrown any) {
	of.mu.Lock()
	defer of.mu.Unlock()
	defer func() { thrown = recover() }()
	engine.NotifyAll(of.all, changes)
	return nil
}
