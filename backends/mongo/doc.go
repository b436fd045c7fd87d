// Package mongo is the store.Store on a MongoDB database.
//
//   - To open a database, use [Open], and make it the Store of botctx.Config.
//   - To use a client that you have, use [New].
//   - To see to the database by yourself, use [Store.Database].
//
// In a host:
//
//	store, err := mongo.Open(ctx, "mongodb://localhost:27017/bots")
//
// Filters go to the server as they were written, but for patterns in lists, which become regular
// expressions of BSON. So do updates that certainly change every document that they match; every
// other change is computed by package query and written if the document is still what was read.
// Either way it is atomic, so that any number of processes share one database: schedulers, claims,
// findAndModify.
//
// Each stored document has one hidden field, _botctx, with its place in the order of insertion and a
// revision. docs/scaling.md lists the index and the round trips of each operation, and the keys for sharding.
//
// The store is no store.Watcher: a change stream comes late and can break off, so everything derived from it
// would have to be looked up again all the same. Schedulers query the database once a poll.
//
// Documents that other programs write to the same collections can be read: integers of 32 bits are int64. A
// document with a type that package document does not have, such as an ObjectID or a Decimal128, is
// FailedPrecondition wherever it would be read; the error names the document and the field. A change of a
// document by another program that leaves _botctx unchanged goes unnoticed by a change of the same document
// that is under way here.
//
// A context that ends while the server works gives Canceled, and a connection that breaks Unavailable: it is
// unknown then whether the server has written. The driver repeats commands if the server can recognise the
// repetition, and the store repeats nothing.
package mongo
