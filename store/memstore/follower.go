package memstore

import (
	"slices"
	"sync/atomic"
)

// follower collects what is written to a collection. All of it but hasLeft is guarded by the lock
// of the collection.
type follower struct {
	changes []documentChange
	// isReset tells that everything was changed.
	isReset bool
	// hasLeft tells that nobody asks any more.
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
