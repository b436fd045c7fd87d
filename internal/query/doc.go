// Package query is MongoDB's language over documents: filters, updates, sorts, projections,
// aggregation expressions and places.
//
//   - To find documents, compile a filter with [CompileFilter] and a sort with [CompileSort].
//   - To change them, compile an update with [CompileUpdate].
//
// Compiled values can be used many times and from many goroutines. They behave as MongoDB documents them; an
// operator that is not supported is an error that names it. Documents have no type for regular expressions:
// on a field, in $not, and as an element of $in, $nin and $all a pattern is {$regex, $options}.
//
// Aggregation expressions are allowed in the $expr of a filter and in projections. One evaluation is bounded:
// 16 MiB for each value that it makes, and about 64 MiB of work. An [Evaluation] is the budget of one store
// call.
//
// The files are named by the part of the language: filter, update, projection, sort, expression and geo. Each
// operator is in one place, so adding one changes one file.
package query
