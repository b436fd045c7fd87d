// Package mongo implements store.Store on a MongoDB database.
//
//   - To open a database, use [Open], and make it the Store of botctx.Config.
//   - To use an existing client, use [New].
//   - To access the database directly, use [Store.Database].
//
// In a host:
//
//	store, err := mongo.Open(ctx, "mongodb://localhost:27017/bots")
//
// Filters go to the server unchanged, except that patterns in lists become BSON regular expressions. Updates
// that are certain to change every matching document go to the server, too. For any other update, package query
// computes the change in this process, and the document is written if it has not changed since it was read.
// Both ways are atomic, so any number of processes can share one database.
//
// An update changes all matching documents or none. If there are more than 500, or more than 16 MiB, it is written in
// parts: an error in a later part does not undo the earlier ones, and is Unavailable or Canceled. Errors of the update
// itself are found before the first part.
//
// Each stored document has a hidden field, _botctx, with its place in the order of insertion and a revision.
// docs/scaling.md lists the index and the round trips of each operation, and the keys for sharding.
//
// The store is not a store.Watcher. Change streams are delayed and can break off, so everything derived from
// them would have to be queried again. Instead, schedulers query the database once per poll.
//
// Documents that other programs wrote to the same collections can be read; integers of 32 bits become int64. If
// a document contains a type that package document does not have, such as an ObjectID or a Decimal128, reading
// it is FailedPrecondition, and the error names the document and the field. If another program changes a
// document without changing _botctx, a concurrent change by this store does not notice it and may overwrite it.
//
// If a context ends while the server works, the error is Canceled; if the connection breaks, it is Unavailable.
// In both cases the server may or may not have written. The driver repeats commands for which the server
// recognises a repetition. The store itself repeats nothing.
package mongo
