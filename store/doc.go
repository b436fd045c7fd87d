// Package store is the port to a database: collections of documents, and a clock that all processes share.
//
//   - To run a host, open a [Store], such as memstore.New() or a backend's, and set it in botctx.Config.
//   - To keep records in another database, implement [Store] and [Collection].
//   - To create another index, use EnsureIndex of a [Collection] with an [Index].
//
// Package memstore is the store in memory, and package storetest the suite that every store passes. Stores
// over databases are separate modules.
package store
