// Package mongotest starts a server of the MongoDB protocol inside a test: FerretDB over
// SQLite, behind a door that lets one command through at a time, because its
// findAndModify and its updates are not atomic. It is a module of its own, so that the 55
// modules behind it stay out of what uses the store.
//
// Its tests hold package mongo to the same suites as every other store. With
// BOTCTX_MONGO_URI they do so on the server that it names, without the door, and with
// every capability.
package mongotest
