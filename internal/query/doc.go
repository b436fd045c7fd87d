// Package query implements MongoDB's language for documents: filters, updates, sorts, projections, aggregation
// expressions and geo queries.
//
//   - To find documents, compile a filter with [CompileFilter] and a sort with [CompileSort].
//   - To change them, compile an update with [CompileUpdate].
//
// Compiled values can be used many times and by many goroutines. They behave as described in MongoDB's documentation.
// For an unsupported operator, the error names the operator. Documents have no type for regular expressions: on a
// field, in $not, and as an element of $in, $nin and $all, a pattern is {$regex, $options}.
//
// Aggregation expressions are allowed in the $expr of a filter and in projections. One evaluation is bounded:
// 16 MiB for each value that it makes, and about 64 MiB of work. An [Evaluation] is the budget of one store
// call.
//
// Files are named for parts of the language: filter, update, projection, sort, expression and geo. Each operator is
// in one place, so adding one changes one file.
package query
