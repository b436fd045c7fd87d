// Package differential holds memstore to an independent implementation of
// MongoDB's language: it makes random collections and operations, runs each on
// memstore and on lungo (github.com/256dpi/lungo, in memory), and reports where
// they differ, shrunk to a small case.
//
// Where they differ for good because lungo does not do what MongoDB documents, a
// named deviation says which cases that concerns, and why; its own test fails as
// soon as lungo has changed.
//
//	go test ./...
//	go test -run '^$' -fuzz FuzzDifferential -fuzztime 10m -fuzzminimizetime 10x .
package differential
