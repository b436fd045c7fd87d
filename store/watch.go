package store

import "github.com/botctx/go-sdk/document"

// Watcher is a further port of a Store whose documents all change through this process: whoever
// keeps something that is derived from them is told of changes, and need not read all of them
// again.
type Watcher interface {
	// Watch calls changed after each change of a document in the collection of that
	// name, with what it was and what it is now: the zero Object stands for no document.
	// The calls come one at a time, in the order in which the changes take effect. reset
	// is called where all documents have changed at once, as by going back to a snapshot.
	//
	// Both are called before anybody else can write to the collection: they must return
	// soon, must not write to the store, and must not call stop. What they read has the change, and
	// may have later ones.
	// After stop neither is called any more.
	Watch(collection string, changed func(before, after document.Object), reset func()) (stop func())
}
