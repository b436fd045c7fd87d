package store

import "github.com/botctx/go-sdk/document"

// Watcher is an optional port of a Store whose documents all change through this process. Code that caches
// values derived from documents can follow their changes, instead of reading all documents again.
type Watcher interface {
	// Watch calls changed after each change of a document in a collection, with the document before and
	// after: the zero Object means that there was, or is, no document. The calls come one at a time, in the
	// order in which the changes take effect. reset is called if all documents have changed at once, for
	// example by going back to a snapshot.
	//
	// Both are called before any other write to the collection: they must return soon, must not write to the
	// store, and must not call stop. If they read, they see the change, and may see later ones. Reads of others
	// may see a change before changed is called for it. Neither is called after stop.
	Watch(collection string, changed func(before, after document.Object), reset func()) (stop func())
}
