package engine

import (
	"slices"
	"sync/atomic"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
)

// The errors of a write that would hold up other writes. Such a write is evaluated while they continue, and its
// changes are applied afterwards.
var (
	// ErrTooLong ends a write that holds up other writes for too long.
	ErrTooLong = boterr.New(boterr.Internal, "", "the write holds up other writes for too long")
	// ErrLost ends a write that read data which another write has changed since.
	ErrLost = boterr.New(boterr.Internal, "", "another write has changed the data meanwhile")
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

// Follower collects the changes that other writes make to a collection while a write is evaluated. Its fields are
// guarded by the lock under which the store writes.
type Follower struct {
	Changes []Change
	// IsFull is true if there were more changes than a follower keeps. The write must then run again.
	IsFull bool
	// size is the approximate size of all changes so far in bytes.
	size    int
	hasLeft atomic.Bool
}

// maxFollowed is the maximum size in bytes of the changes that a follower keeps, far more than most writes meet.
// changeSize is the size of a change without its documents.
const (
	maxFollowed = 256 << 20
	changeSize  = 64
)

func (f *Follower) add(changes []Change) {
	for i := range changes {
		f.size += changeSize + changes[i].Before.Size() + changes[i].After.Size()
	}
	f.Changes = append(f.Changes, changes...)
	if f.IsFull = f.size > maxFollowed; f.IsFull {
		f.Changes = nil
	}
}

// Leave stops collecting changes. It may be called from any goroutine.
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
		f.add(changes)
	}
}

func (all *Followers) forget() {
	*all = slices.DeleteFunc(*all, func(f *Follower) bool { return f.hasLeft.Load() })
}

// Watcher holds the callbacks of a call of store.Watcher.Watch.
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
