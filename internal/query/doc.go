// Package query is MongoDB's language over documents: filters, updates, sorts, projections,
// aggregation expressions and places.
//
//   - To find documents, compile a filter with [CompileFilter] and a sort with [CompileSort].
//   - To change them, compile an update with [CompileUpdate].
//
// What is compiled can be used many times and from many goroutines. It behaves as MongoDB
// documents it; an operator that is not supported is an error that names it. Documents have no type
// for regular expressions: on a field, in $not, and as an element of $in, $nin and $all a pattern is
// {$regex, $options}.
//
// Aggregation expressions stand in the $expr of a filter and in projections. What one evaluation
// may do is bounded: 16 MiB for each value that it makes, and about 64 MiB of work. Evaluation is
// the budget of one call of a store.
//
// The files are named by the part of the language: filter, update, projection, sort, expression
// and geo. One operator stands in one place, so that a further one is a change of one file.
package query
