// Package sqlite is the store.Store of a host on one machine: one file of SQLite, in which every write is before it
// is answered.
//
//   - To open a file, use [Open], and make it the Store of botctx.Config.
//   - To back it up while it is in use, use [Store.Backup], and to look for damage, [Store.Check].
//   - To look into it, use [Store.WriteJSON] and [Store.Stats]; to shrink it, [Store.Compact].
//
// In a host:
//
//	store, err := sqlite.Open("bots.db")
//	...
//	defer store.Close()
//	platform, err := botctx.New(botctx.Config{Store: store, ...})
//
// Documents and indexes are in the file, so that neither memory nor the time to open it grows with them. Documents in
// use are in a cache. Queries, updates and indexes work as in package memstore.
//
// Writers that come together share a commit, so that many at once cost little more than one. A write that takes
// longer than some milliseconds, as one without an index does, searches while others write, and so does not hold them
// up; one on more than a few hundred documents is then committed in parts, as MongoDB does it. An error in a later
// part leaves the earlier ones; errors of the update itself are found before the first. An Insert of many documents is
// always one commit.
//
// # On disk
//
// The log is next to the file, with "-wal" behind the name, and while the store is open an index of the log, "-shm".
// The log holds the last writes, a few MiB of them. It is brought into the file all the time, and is gone after Close.
// To copy a file that is open, use Backup.
//
// The file survives the end of the process, of the machine and of the power at any moment, as far as the disk keeps
// the data that it reports as written: an answered write is there; an unanswered one is there whole or not at all.
// Each document has a checksum. Damage is FailedPrecondition where it is read, and Open finds it in the head of the
// file and in its log. Only Check finds lost entries of an index; it reads the whole file while reads and writes continue. Put
// a backup in the place of a damaged file, and remove the log of that file: Open refuses the log of another file.
//
// One case cannot be told from a crash: damage to the last commit in the log of a process that did not close the
// store. Open continues without that commit, and writes a warning to its logger.
//
// If the file cannot be written, as on a full disk, writes are Unavailable and reads continue. Writes work again as
// soon as there is space.
//
// One process at a time can open the file. Another Open is FailedPrecondition, also within the process, and by every
// path and link to the file. Tools such as the sqlite3 command can read it meanwhile.
package sqlite
