// Package document is MongoDB's query and update language over JSON-like
// values: null, bool, int64, float64, string, time, arrays and objects.
//
// Values are immutable. An Object or an Array that was handed out never changes,
// whoever holds it: Object.Set gives the variable a new version and leaves every
// other holder with the old one. So nothing has to be copied between a caller, a
// store and its readers, and nobody can change what another one reads.
//
// Filters, updates, sorts and projections are compiled once with CompileFilter,
// CompileUpdate, CompileSort and CompileProjection, and can then be used many times and
// from many goroutines. They behave as MongoDB documents it; an operator that is not
// supported is an error that names it.
//
// Aggregation expressions stand in the $expr of a filter and in projections. What one
// evaluation may do is bounded: 16 MiB for each value that it makes, and about 64 MiB of
// work.
//
// Store is the port that databases implement; package memstore is the one in
// memory, and package documenttest the suite that all of them pass.
package document
