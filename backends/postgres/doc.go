// Package postgres implements store.Store on a PostgreSQL database, for any number of processes.
//
//   - To open a database, use [Open], and make it the Store of botctx.Config.
//   - To see how it finds documents, use [Store.Explain].
//
// In a host:
//
//	database, err := postgres.Open(ctx, "postgres://bots@db.example/bots?sslmode=verify-full")
//
// Each collection has a view of its name, with documents as JSON, for psql.
//
// The server is PostgreSQL 14 or later, and its database is encoded in UTF8. pgx reads TLS, the size of the
// pool and all other settings of connections from the address: see pgxpool.ParseConfig.
// docs/guides/postgres.md is for operators.
//
// The engine of the SDK evaluates filters and changes in this process, as for the embedded stores. PostgreSQL
// stores documents and index entries as bytes, reads entries in order, and provides locks. A write locks the
// documents that it changes, so any number of processes can share one database.
//
// The store repeats a call if another write interferes or the connection is lost. If the connection is lost
// during a commit, the write may or may not have been kept: the error is Unavailable, and its text says so.
// Errors of the server are wrapped as *pgconn.PgError, with their SQLSTATE.
package postgres
