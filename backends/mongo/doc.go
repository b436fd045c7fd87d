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
// Filters go to the server unchanged, except for patterns in lists, which become BSON regular expressions. So
// do updates that certainly change every matching document; any other change is computed by package query and
// written if the document has not changed since it was read. Either way it is atomic, so that any number of
// processes can share one database: schedulers, claims, findAndModify.
//
// Each stored document has one hidden field, _botctx, with its place in the order of insertion and a
// revision. docs/scaling.md lists the index and the round trips of each operation, and the keys for sharding.
//
// The store is not a store.Watcher: change streams are delayed and can break off, so everything derived from
// them would still have to be queried again. Instead, schedulers query the database once per poll.
//
// Documents that other programs write to the same collections can be read: integers of 32 bits are int64.
// Reading a document with a type that package document does not have, such as an ObjectID or a Decimal128, is
// FailedPrecondition; the error names the document and the field. If another program changes a document but
// leaves _botctx unchanged, a concurrent change of the same document here does not notice it.
//
// A context that ends while the server works gives Canceled, and a broken connection Unavailable: it is then
// unknown whether the server has written. The driver repeats commands if the server can recognise the
// repetition, and the store repeats nothing.
package mongo
