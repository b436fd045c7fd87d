// Package postgres is the store.Store in a PostgreSQL database, for any number of processes.
//
//   - To open one, use [Open], and make it the Store of botctx.Config.
//   - To see how it finds documents, use [Store.Explain].
//
// In a host:
//
//	database, err := postgres.Open(ctx, "postgres://bots@db.example/bots?sslmode=verify-full")
//
// Each collection has a view of its name, with documents as JSON, for psql.
//
// The server is PostgreSQL 14 or later, and its database is encoded in UTF8. pgx reads TLS, the size of
// the pool and all other settings of connections from the address: see pgxpool.ParseConfig. docs/guides/postgres.md is for
// operators.
//
// The engine of the SDK evaluates filters and changes in the process, as for the other embedded stores; PostgreSQL keeps
// documents and index entries as bytes, finds entries in order, and locks. A write locks the documents that it changes,
// so that any number of processes share one database: schedulers, claims, findAndModify.
//
// The store repeats what another write or a lost connection has undone. If the connection is lost while a write is
// committed, the write may have been kept or not: the error is Unavailable, and its text says so. Errors of the server
// are behind the errors of the store as *pgconn.PgError, with their SQLSTATE.
package postgres
