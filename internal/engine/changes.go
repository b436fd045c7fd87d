package engine

import (
	"slices"
	"sync/atomic"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
)

// Errors for a write that must not block others. It is evaluated while other writes change the content, and its
// changes are repeated afterwards.
var (
	// ErrTooLong ends a write that would block other writes for too long.
	ErrTooLong = boterr.New(boterr.Internal, "", "the write takes longer than it may keep others waiting")
	// ErrLost is the error of a write that read data that another write has since changed.
	ErrLost = boterr.New(boterr.Internal, "", "another write came first")
)

// Change is the change of a document from one version to the next. The zero Object means no document.
type Change struct {
	Position      uint64
	Before, After document.Object
}

// Affects reports whether the change, made by another write, affects the result of op.
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

// Repeat makes the change in a transaction.
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

// Follower collects the changes of a collection while a write is evaluated. The writer of the collection guards
// Changes.
type Follower struct {
	Changes []Change
	hasLeft atomic.Bool
}

// Leave stops the collecting.
func (f *Follower) Leave() { f.hasLeft.Store(true) }

// Followers are the followers of a collection.
type Followers []*Follower

// Add adds a follower.
func (all *Followers) Add(f *Follower) {
	all.forget()
	*all = append(*all, f)
}

// Tell passes changes to all followers.
func (all *Followers) Tell(changes []Change) {
	all.forget()
	for _, f := range *all {
		f.Changes = append(f.Changes, changes...)
	}
}

// forget removes followers that have left.
func (all *Followers) forget() {
	*all = slices.DeleteFunc(*all, func(f *Follower) bool { return f.hasLeft.Load() })
}

// Watcher is a caller of Watch of package store.
type Watcher struct {
	Changed func(before, after document.Object)
	Reset   func()
}

// NotifyAll calls watchers in order. If one panics or ends its goroutine, the others are still called.
func NotifyAll(watchers []*Watcher, changes []Change) {
	if len(watchers) == 0 {
		return
	}
	defer NotifyAll(watchers[1:], changes)
	for i := range changes {
		watchers[0].Changed(changes[i].Before, changes[i].After)
	}
}
