// Package sqlite implements store.Store on one SQLite file, for a host on one machine. A write is on disk
// before it is answered.
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
//	rt, err := botctx.New(botctx.Config{Store: store, ...})
//
// Documents and indexes are in the file, so the required memory and the time to open it do not grow with them.
// Documents in use are cached. Queries, updates and indexes work as in package memstore.
//
// Writes that arrive at the same time share a commit, so many of them cost little more than one. A write that
// takes longer than some milliseconds, for example without a suitable index, searches while others write, so it
// does not delay them. If such a write changes more than a few hundred documents, it is committed in parts, as
// in MongoDB: an error in a later part does not undo the earlier ones, and is Unavailable or Canceled. Errors of
// the update itself are found before the first part. An Insert of many documents is always one commit.
//
// # On disk
//
// While the store is open, there are two more files: the log, whose name ends in "-wal", and its index, whose
// name ends in "-shm". The log has the last writes, a few MiB. It is copied into the file continually, and
// removed by Close. To copy an open file, use Backup.
//
// The file survives a crash of the process or machine and a loss of power at any time, if the disk keeps the
// data that it reports as written. An answered write is in the file. An unanswered write is in the file
// completely or not at all. Each document has a checksum. Reading damaged data is FailedPrecondition. Open
// notices damage in the header of the file and in its log. Only Check finds lost entries of an index; it reads
// the whole file while reads and writes continue. Replace a damaged file by a backup and remove its log,
// because Open refuses the log of another file.
//
// One case looks the same as a crash: damage to the last commit in the log of a process that did not close the
// store. Open then continues without that commit, and logs a warning.
//
// If the file cannot be written, for example because the disk is full, writes are Unavailable and reads
// continue. Writes work again once there is space.
//
// Only one process at a time can open the file. Another Open fails with FailedPrecondition, even in the same
// process or by another path or link to the file. Tools such as the sqlite3 command can read the open file.
package sqlite
