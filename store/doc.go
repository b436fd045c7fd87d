// Package store is the port to a database: collections of documents, and a clock that all
// processes share.
//
// Package memstore is the store in memory, and package storetest the suite that every store
// passes. Stores over databases are modules of their own.
package store
