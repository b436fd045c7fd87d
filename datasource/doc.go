// Package datasource is the table-like storage of bot logic: entries in data
// sources, and the seven operations on them.
//
// The entries of one data source of one app are a collection of their own. An entry
// has _id, createdAt and updatedAt, and the columns that its writer chose. Its _id is
// any string, number, boolean or date. Fetch and FindAndModify give entries as structs.
package datasource
