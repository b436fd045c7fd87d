// Package bolt is the store.Store of a host on one machine: one file, in which every
// write is before it is answered.
//
//   - To open a file, use [Open], and make it the Store of botctx.Config.
//   - To back it up while it is in use, use [Store.Backup].
//   - To shrink it, or to see how it is, use [Store.Compact] and [Store.Stats].
//
// A host has it so:
//
//	store, err := bolt.Open("bots.db")
//	...
//	defer store.Close()
//	platform, err := botctx.New(botctx.Config{Store: store, ...})
//
// All documents are in memory as well, where package memstore reads and indexes them, so
// that the memory of the machine bounds the store: reads never wait, and cost what they cost
// there. A write runs in memory, goes into the file, and is published and answered once
// the disk has it; writers that come in the meantime share the next commit, so that many
// at once cost little more than one. All operations, index kinds and the order of
// insertion are memstore's.
//
// # What is on disk
//
// The file is one of go.etcd.io/bbolt. It survives the end of the process, of the machine
// and of the power at any moment, as far as the disk keeps what it says that it has: a
// write that was answered is there, one that was not is there whole or not at all. Each
// document has a checksum, and each collection one over all of its documents. Opening
// reads and checks all of it, and refuses a file that is damaged with
// FailedPrecondition and the place of the damage; put a backup in its place then.
//
// One case cannot be told apart without waiting for the disk twice as often: where the
// machine stops within seconds after a commit, and the first page of the file that the
// commit wrote last is then damaged as well, it looks like a commit that was interrupted.
// The store opens without it, writes a warning to its logger, and says so in
// Stats.HasFallenBack. So it is where old pages, the first two among them, have
// taken the place of new ones; only where they took the place of the page with the number of
// the newest commit, too, nothing tells.
//
// Once a commit fails, as on a full or broken disk, it is not known what the disk has of
// it. The writes that shared it are answered with Unavailable, and so are all writes from
// then on, until the store is opened anew; reads go on.
//
// One process at a time has the file open. Another Open is FailedPrecondition, also within
// the process.
package bolt
