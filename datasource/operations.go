package datasource

import (
	"context"

	"github.com/botctx/go-sdk/document"
)

// Operations are the operations on data sources. Filters, patches and sorts are
// those of package document: what it refuses is InvalidArgument with the path in the
// parameter. (Specification: Member and data-source operations.)
type Operations interface {
	// FindAndModifyDataFromDataSource finds the first entry that matches, in the order
	// of SortBy, and changes it in one atomic step: of many callers at once, each sees
	// the change of the one before. A filter that the change makes false, such as
	// taken: false, lets each entry be claimed once. Value is nil where none matched.
	//
	// InvalidArgument: a parameter is missing, or what package document refuses, or
	// _id or createdAt would change. AlreadyExists: an upsert would insert an _id that
	// an entry has.
	FindAndModifyDataFromDataSource(
		ctx context.Context, p FindAndModifyDataFromDataSourceParams) (FindAndModifyDataFromDataSourceResult, error)

	// UpsertDataToDataSource changes the entries whose _id exists, and inserts the
	// others: the given columns are set, others stay. Elements are written one after
	// the other; where the store fails in between, the same call again completes it.
	//
	// InvalidArgument: Data is missing; an _id is null, an object or an array, or comes
	// twice; a column's name begins with $ or holds a dot; createdAt is given and not
	// what the entry has. Then nothing is written.
	UpsertDataToDataSource(ctx context.Context, p UpsertDataToDataSourceParams) (UpsertDataToDataSourceResult, error)

	// CountDataSource returns the number of entries that match.
	//
	// InvalidArgument: none of CollectionName and DataSourceID, or two that differ, are given, or
	// what package document refuses.
	CountDataSource(ctx context.Context, p CountDataSourceParams) (int64, error)

	// FetchDataFromDataSource returns the entries that match, in the order of SortBy or
	// of their insertion; with Count their number alone.
	//
	// InvalidArgument: none of CollectionName and DataSourceID, or two that differ, are given, or
	// what package document refuses.
	FetchDataFromDataSource(ctx context.Context, p FetchDataFromDataSourceParams) (FetchDataFromDataSourceResult, error)

	// FetchDistinctDataFromDataSource returns the different values of one column, in
	// the order in which they were first seen; with Count their number alone. The
	// elements of a list count one by one; 1 and 1.0 are one value.
	//
	// InvalidArgument: Key is missing, none of CollectionName and DataSourceID, or two that differ,
	// are given, or what package document refuses.
	FetchDistinctDataFromDataSource(
		ctx context.Context, p FetchDistinctDataFromDataSourceParams) (FetchDistinctDataFromDataSourceResult, error)

	// FetchGeoNearFromDataSource returns the entries near a point, nearest first.
	//
	// The points are in the column that key in Data names, else in the column of the
	// store's geo index, else in "location", else in the only column that holds any.
	//
	// InvalidArgument: none of CollectionName and DataSourceID, or two that differ, are given, what
	// query.CompileGeoNear refuses, such as a point off the globe, or points are in
	// several columns and key does not say which is meant.
	FetchGeoNearFromDataSource(ctx context.Context, p FetchGeoNearFromDataSourceParams) (FetchGeoNearFromDataSourceResult, error)

	// PatchDataToDataSource changes the first entry that matches, or all of them with
	// Multi.
	//
	// InvalidArgument: Patch is missing, none of CollectionName and
	// DataSourceID are given, what package document refuses, a replacement with Multi,
	// or _id or createdAt would change. AlreadyExists: an upsert would insert an _id
	// that an entry has.
	PatchDataToDataSource(ctx context.Context, p PatchDataToDataSourceParams) (PatchDataToDataSourceResult, error)
}

// FindAndModifyDataFromDataSourceParams are the parameters of
// FindAndModifyDataFromDataSource.
type FindAndModifyDataFromDataSourceParams struct {
	// DataSourceID is the data source. Required.
	DataSourceID string `json:"dataSourceId"`
	// Filter says which entries. Required; document.O() means all.
	Filter document.Object `json:"filter"`
	// Patch is the change: an update document such as document.Set("taken", true), or
	// a replacement. Required.
	Patch document.Object `json:"patch"`
	// WithModifier false makes Patch the fields to set. The default is true.
	WithModifier *bool `json:"withModifier,omitempty"`
	// SortBy says which of several matches is the first. The default is the order of
	// insertion.
	SortBy document.Object `json:"sortBy,omitzero"`
	// Option says how to find and modify.
	Option FindAndModifyOption `json:"option,omitzero"`
}

// FindAndModifyOption says how to find and modify.
type FindAndModifyOption struct {
	// New returns the entry as it is after the change, else as it was before.
	New bool `json:"new,omitempty"`
	// Upsert inserts an entry where none matches.
	Upsert bool `json:"upsert,omitempty"`
	// ArrayFilters are the filters of "$[name]" in paths of Patch.
	ArrayFilters []document.Object `json:"arrayFilters,omitempty"`
	// ReturnDocument is "after" in place of New, or "before". ReturnOriginal is the opposite
	// of New.
	ReturnDocument string `json:"returnDocument,omitempty"`
	ReturnOriginal *bool  `json:"returnOriginal,omitempty"`
	// Projection says which columns of the entry come back, as
	// query.CompileProjection reads it. The default is all. Fields is another name of it.
	Projection document.Object `json:"projection,omitzero"`
	Fields     document.Object `json:"fields,omitzero"`
	// Sort is another name of SortBy.
	Sort document.Object `json:"sort,omitzero"`
	// Unknown are options of other names. What changes no outcome, such as maxTimeMS, has no
	// effect; others are refused.
	Unknown document.Object `json:"-" document:"unknown"`
}

// FindAndModifyDataFromDataSourceResult is what FindAndModifyDataFromDataSource did.
type FindAndModifyDataFromDataSourceResult struct {
	// OK is 1.
	OK int `json:"ok"`
	// Value is the entry, nil where none matched, and where one was inserted without
	// Option.New.
	Value *document.Object `json:"value"`
}

// UpsertDataToDataSourceParams are the parameters of UpsertDataToDataSource.
type UpsertDataToDataSourceParams struct {
	// DataSourceID is the data source. Required.
	DataSourceID string `json:"dataSourceId"`
	// Data are the entries, one or several. Required.
	Data document.OneOrMany[document.Object] `json:"data"`
}

// UpsertDataToDataSourceResult is what UpsertDataToDataSource did.
type UpsertDataToDataSourceResult struct {
	Result UpsertOutcome `json:"result"`
}

// UpsertOutcome is what became of the elements of an upsert.
type UpsertOutcome struct {
	DocsIDs UpsertedIDs `json:"_docsIds"`
	// Matched is the number of elements whose _id existed.
	Matched int64 `json:"matched"`
	// Modified is the number of entries that changed.
	Modified int64 `json:"modified"`
	// Inserted is the number of entries that were inserted, with a given _id or not.
	Inserted int64 `json:"inserted"`
	// Deleted is 0.
	Deleted int64 `json:"deleted"`
}

// UpsertedIDs are the ids of the elements of an upsert, by what became of them.
type UpsertedIDs struct {
	// Updated existed.
	Updated []any `json:"updated"`
	// Inserted were made for elements without _id.
	Inserted []any `json:"inserted"`
	// Upserted were given and did not exist.
	Upserted []any `json:"upserted"`
}

// CountDataSourceParams are the parameters of CountDataSource.
type CountDataSourceParams struct {
	// CollectionName or DataSourceID is the data source. One of them is required.
	CollectionName string `json:"collectionName,omitempty"`
	DataSourceID   string `json:"dataSourceId,omitempty"`
	// Filter says which entries. The default is all.
	Filter document.Object `json:"filter,omitzero"`
}

// FetchDataFromDataSourceParams are the parameters of FetchDataFromDataSource.
type FetchDataFromDataSourceParams struct {
	// CollectionName or DataSourceID is the data source. One of them is required.
	CollectionName string `json:"collectionName,omitempty"`
	DataSourceID   string `json:"dataSourceId,omitempty"`
	// Filter says which entries. The default is all.
	Filter document.Object `json:"filter,omitzero"`
	// SortBy is the order: document.O("price", 1, "name", -1). The default is the order
	// of insertion.
	SortBy document.Object `json:"sortBy,omitzero"`
	// Count returns the number of entries alone. The default is false.
	Count bool `json:"count,omitempty"`
}

// FetchDataFromDataSourceResult is an array of entries in JSON, or their number.
type FetchDataFromDataSourceResult struct {
	// Entries are the entries. It is nil where the number alone was asked for, and
	// never nil otherwise.
	Entries []document.Object
	// Count is the number of entries.
	Count int64
}

// FetchDistinctDataFromDataSourceParams are the parameters of
// FetchDistinctDataFromDataSource.
type FetchDistinctDataFromDataSourceParams struct {
	// CollectionName or DataSourceID is the data source. One of them is required.
	CollectionName string `json:"collectionName,omitempty"`
	DataSourceID   string `json:"dataSourceId,omitempty"`
	// Key is the column, or a dotted path. Required.
	Key string `json:"key"`
	// Filter says which entries. The default is all.
	Filter document.Object `json:"filter,omitzero"`
	// Count returns the number of values alone. The default is false.
	Count bool `json:"count,omitempty"`
}

// FetchDistinctDataFromDataSourceResult is an array of values in JSON, or their
// number.
type FetchDistinctDataFromDataSourceResult struct {
	// Entries are the values. It is nil where the number alone was asked for, and never
	// nil otherwise.
	Entries []any
	// Count is the number of values.
	Count int64
}

// FetchGeoNearFromDataSourceParams are the parameters of FetchGeoNearFromDataSource.
type FetchGeoNearFromDataSourceParams struct {
	// CollectionName or DataSourceID is the data source. One of them is required.
	CollectionName string `json:"collectionName,omitempty"`
	DataSourceID   string `json:"dataSourceId,omitempty"`
	// Data is what is looked for, the argument of query.CompileGeoNear: near, key,
	// maxDistance, minDistance, limit, query, distanceField and others. Required.
	Data document.Object `json:"data"`
}

// FetchGeoNearFromDataSourceResult is an array of entries in JSON.
type FetchGeoNearFromDataSourceResult struct {
	// Entries are the entries, nearest first, never nil. They have their distance where
	// distanceField asked for it.
	Entries []document.Object
	// Count is the number of entries.
	Count int64
}

// PatchDataToDataSourceParams are the parameters of PatchDataToDataSource.
type PatchDataToDataSourceParams struct {
	// CollectionName or DataSourceID is the data source. One of them is required.
	CollectionName string `json:"collectionName,omitempty"`
	DataSourceID   string `json:"dataSourceId,omitempty"`
	// Filter says which entries. The default is all.
	Filter document.Object `json:"filter,omitzero"`
	// Patch is the change: fields to set, or with WithModifier an update document or a
	// replacement. Required.
	Patch document.Object `json:"patch"`
	// Options says how to change.
	Options PatchOptions `json:"options,omitzero"`
	// Multi changes all entries that match, else the first. The default is false.
	Multi bool `json:"multi,omitempty"`
	// WithModifier makes Patch an update document or a replacement. The default is
	// false.
	WithModifier bool `json:"withModifier,omitempty"`
}

// PatchOptions says how to change entries.
type PatchOptions struct {
	// Upsert inserts an entry where none matches.
	Upsert bool `json:"upsert,omitempty"`
	// ArrayFilters are the filters of "$[name]" in paths of Patch.
	ArrayFilters []document.Object `json:"arrayFilters,omitempty"`
	// Sort says which of several matches is the first. It cannot stand beside Multi.
	Sort document.Object `json:"sort,omitzero"`
	// Multi is another place for the parameter Multi.
	Multi bool `json:"multi,omitempty"`
	// Unknown are options of other names. What changes no outcome, such as maxTimeMS, has no
	// effect; others are refused.
	Unknown document.Object `json:"-" document:"unknown"`
}

// PatchDataToDataSourceResult is what PatchDataToDataSource did.
type PatchDataToDataSourceResult struct {
	// Matched is the number of entries that matched.
	Matched int64 `json:"matched"`
	// Modified is the number of entries that changed.
	Modified int64 `json:"modified"`
	// Inserted is 1 where an upsert inserted an entry.
	Inserted int64 `json:"inserted"`
	// Deleted is 0.
	Deleted int64 `json:"deleted"`
}
