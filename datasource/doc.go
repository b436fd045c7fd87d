// Package datasource is the table-like storage of bot logic: entries in data
// sources, and the seven operations on them.
//
//   - To read entries as structs, use [Fetch].
//   - To take one that nobody else gets, use [FindAndModify].
//   - To make a filter fast, use [EnsureIndex] in the host.
//
// The entries of one data source of one app are a collection of their own. An entry
// has _id, createdAt and updatedAt, and the columns that its writer chose. Its _id is
// any string, number, boolean or date.
package datasource
