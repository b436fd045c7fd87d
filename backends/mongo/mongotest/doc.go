// Package mongotest holds package mongo to the same suites as every other store, and the
// SDK's operations over it to theirs.
//
// The usual tests run against package memserver, a server in the process of the tests that has
// every capability and does many commands at once. The thorough ones run against it, too, and
// against a stand-in that they build and start: FerretDB over SQLite, in a process of its own,
// so that the race detector does not slow it down. With BOTCTX_MONGO_URI they run against the
// server that it names. Each test has a database of its own, whose name begins with
// "botctx_test_", and drops it.
//
// This is a module of its own, so that the 55 modules behind FerretDB stay out of what
// uses the store.
package mongotest
