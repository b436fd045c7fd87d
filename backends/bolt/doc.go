// Package bolt is the store.Store of a host on one machine: one file, in which every
// write is before it is answered.
//
//   - To open a file, use [Open], and make it the Store of botctx.Config.
//   - To back it up while it is in use, use [Store.Backup].
//   - To shrink it, or to see how it is, use [Store.Compact] and [Store.Stats].
//
// In a host:
//
//	store, err := bolt.Open("bots.db")
//	...
//	defer store.Close()
//	platform, err := botctx.New(botctx.Config{Store: store, ...})
//
// All documents are in memory as well, where package memstore reads and indexes them, so that the memory of
// the machine bounds the store: reads never wait, and are as fast as in memstore. A write runs in memory,
// goes into the file, and is published and answered once it is on disk; writers that come in the meantime
// share the next commit, so that many at once cost little more than one. All operations, index kinds and the
// order of insertion are memstore's.
//
// # What is on disk
//
// The file is one of go.etcd.io/bbolt. It survives the end of the process, of the machine and of the power at
// any moment, as far as the disk keeps the data that it reports as written: an answered write is there; an
// unanswered one is there whole or not at all. Each document has a checksum, and each collection one over all
// of its documents. Opening reads and checks all of it, and refuses a damaged file with FailedPrecondition
// and the place of the damage; put a backup in its place then.
//
// One case cannot be detected without waiting for the disk twice as often. If the machine stops within
// seconds after a commit, and the first page that the commit wrote last is then damaged as well, it looks
// like an interrupted commit. The store opens without the commit, writes a warning to its logger, and sets
// Stats.HasFallenBack. The same happens if old pages, the first two among them, have replaced new ones; if
// they have also replaced the page with the number of the newest commit, the loss is not detected.
//
// Once a commit fails, as on a full or broken disk, the content of the disk is unknown. The writes that
// shared the commit are answered with Unavailable, and so are all later writes, until the store is opened
// again; reads continue.
//
// One process at a time can open the file. Another Open is FailedPrecondition, also within the process.
package bolt
