package engine

import (
	"slices"
	"sync/atomic"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
)

// The errors of a write that would keep others waiting: it is evaluated on content that others change meanwhile, and then its
// changes are repeated.
var (
	// ErrTooLong ends a write that takes longer than it may keep others waiting.
	ErrTooLong = boterr.New(boterr.Internal, "", "the write takes longer than it may keep others waiting")
	// ErrLost is the error of a write that read data which another write has changed since.
	ErrLost = boterr.New(boterr.Internal, "", "another write came first")
)

// Change is the change of a document from one version to the next. The zero Object means no document.
type Change struct {
	Position      uint64
	Before, After document.Object
}

// Affects reports whether the change, of another write, affects the result of a write.
func (c *Change) Affects(call *query.Evaluation, op Op) bool {
	for _, o := range []document.Object{c.Before, c.After} {
		if o.IsZero() {
			continue
		}
		if matched, err := op.Matches(call, o); matched || err != nil {
			return true
		}
	}
	return false
}

// Repeat carries out the change in a transaction.
func (c *Change) Repeat(t Transaction) error {
	switch {
	case c.Before.IsZero():
		return t.Insert(c.After)
	case c.After.IsZero():
		return t.Remove(c.Position, c.Before)
	default:
		return t.Replace(c.Position, c.Before, c.After)
	}
}

// Follower collects the changes of a collection for a write that is evaluated meanwhile. The one who writes guards Changes.
type Follower struct {
	Changes []Change
	hasLeft atomic.Bool
}

// Leave ends the collecting.
func (f *Follower) Leave() { f.hasLeft.Store(true) }

// Followers are the followers of a collection.
type Followers []*Follower

// Add adds a follower.
func (all *Followers) Add(f *Follower) {
	all.forget()
	*all = append(*all, f)
}

// Tell passes changes to the followers.
func (all *Followers) Tell(changes []Change) {
	all.forget()
	for _, f := range *all {
		f.Changes = append(f.Changes, changes...)
	}
}

// forget forgets those who left.
func (all *Followers) forget() {
	*all = slices.DeleteFunc(*all, func(f *Follower) bool { return f.hasLeft.Load() })
}

// Watcher is a caller of Watch of package store.
type Watcher struct {
	Changed func(before, after document.Object)
	Reset   func()
}

// NotifyAll calls watchers, one after the other. If one panics or ends the goroutine, the watchers after it are still called.
func NotifyAll(watchers []*Watcher, changes []Change) {
	if len(watchers) == 0 {
		return
	}
	defer NotifyAll(watchers[1:], changes)
	for i := range changes {
		watchers[0].Changed(changes[i].Before, changes[i].After)
	}
}
