package sqlite

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/botctx/go-sdk/document"
)

// watchers follow the changes of a collection, which may not exist yet.
type watchers struct {
	mu  sync.Mutex
	all []*watcher
}

type watcher struct {
	changed func(before, after document.Object)
}

// Watch implements store.Watcher: changed is called once a change is on disk.
func (s *Store) Watch(
	name string, changed func(before, after document.Object), _ func(),
) (stop func()) {
	w, of := &watcher{changed: changed}, s.watchersOf(name)
	of.mu.Lock()
	defer of.mu.Unlock()
	of.all = append(slices.Clone(of.all), w)
	return func() { of.remove(w) }
}

// watchersOf returns the watchers of a collection.
func (s *Store) watchersOf(name string) *watchers {
	of, _ := s.watched.LoadOrStore(name, &watchers{})
	return of.(*watchers) //nolint:forcetypeassert // There are no others.
}

func (of *watchers) remove(w *watcher) {
	of.mu.Lock()
	defer of.mu.Unlock()
	of.all = slices.DeleteFunc(slices.Clone(of.all), func(known *watcher) bool { return known == w })
}

// notify calls the watchers. It returns the first panic. The other watchers are called all the same, even if
// one ends the goroutine.
func (of *watchers) notify(changes []change) (thrown any) {
	of.mu.Lock()
	defer of.mu.Unlock()
	defer func() { thrown = recover() }()
	notifyAll(of.all, changes)
	return nil
}

func notifyAll(watchers []*watcher, changes []change) {
	if len(watchers) == 0 {
		return
	}
	defer notifyAll(watchers[1:], changes)
	for i := range changes {
		watchers[0].changed(changes[i].before, changes[i].after)
	}
}

// follower collects the changes of a collection for a write that searches on a reader. Only the writer
// appends to changes.
type follower struct {
	changes []change
	hasLeft atomic.Bool
}

// forgetLeft removes the followers that need no more changes.
func (c *collection) forgetLeft() {
	c.followers = slices.DeleteFunc(c.followers, func(f *follower) bool { return f.hasLeft.Load() })
}

// follow passes changes to the followers.
func (c *collection) follow(changes []change) {
	c.forgetLeft()
	for _, f := range c.followers {
		f.changes = append(f.changes, changes...)
	}
}
