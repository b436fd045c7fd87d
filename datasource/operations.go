package datasource

import (
	"context"
	"time"

	"github.com/botctx/go-sdk/document"
)

// Operations are the operations on data sources. Filters, patches and sorts are
// MongoDB's: what is not supported is InvalidArgument with the path in the
// parameter. So is a required parameter that is missing. (Specification: Member and data-source operations.)
type Operations interface {
	// FindAndModifyDataFromDataSource finds the first entry that matches, in the order
	// of SortBy, and changes it in one atomic step: of many callers at once, each sees
	// the change of the one before. A filter that the change makes false, such as
	// taken: false, lets each entry be claimed once. Value is nil where none matched.
	//
	// Errors:
	//   - InvalidArgument: Filter has an unknown operator or an operand of the wrong type.
	//   - InvalidArgument: Patch mixes operators with plain fields, has paths that conflict,
	//     or would change _id or createdAt.
	//   - InvalidArgument: SortBy holds something other than 1 and -1.
	//   - InvalidArgument: Option.Projection includes some columns and excludes others, has
	//     paths that collide, or needs a position in an array that the filter does not give.
	//   - AlreadyExists: Option.Upsert would insert an _id that an entry has.
	FindAndModifyDataFromDataSource(
		ctx context.Context, p FindAndModifyParams) (FindAndModifyResult, error)

	// UpsertDataToDataSource changes the entries whose _id exists, and inserts the
	// others: the given columns are set, others stay. Elements are written one after
	// the other; where the store fails in between, the same call again completes it.
	//
	// Errors:
	//   - InvalidArgument: Data is neither an object nor a list of objects, or holds the
	//     same _id twice, an _id that is null, an object or a list, or a column whose name
	//     begins with $ or has a dot. Then nothing is written.
	//   - InvalidArgument: an element would change createdAt of an entry.
	UpsertDataToDataSource(ctx context.Context, p UpsertParams) (UpsertResult, error)

	// CountDataSource returns the number of entries that match.
	//
	// Errors:
	//   - InvalidArgument: none of CollectionName and DataSourceID is given, or two that
	//     differ.
	//   - InvalidArgument: Filter has an unknown operator or an operand of the wrong type.
	CountDataSource(ctx context.Context, p CountParams) (int64, error)

	// FetchDataFromDataSource returns the entries that match, in the order of SortBy or
	// of their insertion; with Count their number alone.
	//
	// Errors:
	//   - InvalidArgument: none of CollectionName and DataSourceID is given, or two that
	//     differ.
	//   - InvalidArgument: Filter has an unknown operator or an operand of the wrong type.
	//   - InvalidArgument: SortBy holds something other than 1 and -1.
	FetchDataFromDataSource(ctx context.Context, p FetchParams) (FetchResult, error)

	// FetchDistinctDataFromDataSource returns the different values of one column, in
	// the order in which they were first seen; with Count their number alone. The
	// elements of a list count one by one; 1 and 1.0 are one value.
	//
	// Errors:
	//   - InvalidArgument: none of CollectionName and DataSourceID is given, or two that
	//     differ.
	//   - InvalidArgument: Filter has an unknown operator or an operand of the wrong type.
	FetchDistinctDataFromDataSource(
		ctx context.Context, p FetchDistinctParams) (FetchDistinctResult, error)

	// FetchGeoNearFromDataSource returns the entries near a point, nearest first.
	//
	// The points are in the column that key in Data names, else in the column of the
	// store's geo index, else in "location", else in the only column that holds any.
	//
	// Errors:
	//   - InvalidArgument: none of CollectionName and DataSourceID is given, or two that
	//     differ.
	//   - InvalidArgument: Data has a near that is no point or lies off the globe, a
	//     distance or a limit that is negative, or a query that is no filter.
	//   - InvalidArgument: the entries have locations in several columns, and key in Data
	//     does not say which is meant.
	FetchGeoNearFromDataSource(ctx context.Context, p FetchGeoNearParams) (FetchGeoNearResult, error)

	// PatchDataToDataSource changes the first entry that matches, or all of them with
	// Multi.
	//
	// Errors:
	//   - InvalidArgument: none of CollectionName and DataSourceID is given, or two that
	//     differ.
	//   - InvalidArgument: Filter has an unknown operator or an operand of the wrong type.
	//   - InvalidArgument: Patch mixes operators with plain fields, has paths that conflict,
	//     or would change _id or createdAt.
	//   - InvalidArgument: Options.Sort holds something other than 1 and -1, or Patch is a
	//     replacement document and Multi is true.
	//   - AlreadyExists: Options.Upsert would insert an _id that an entry has.
	PatchDataToDataSource(ctx context.Context, p PatchParams) (PatchResult, error)
}

// FindAndModifyParams are the parameters of
// FindAndModifyDataFromDataSource.
type FindAndModifyParams struct {
	// DataSourceID is the data source. Required.
	DataSourceID string `json:"dataSourceId"`
	// Filter says which entries. Required; an empty one means all.
	Filter document.Object `json:"filter"`
	// Patch is the change: an update document such as document.Set("taken", true). One without
	// operators replaces the whole entry. Required.
	Patch document.Object `json:"patch"`
	// WithModifier false makes Patch the fields to set. The default is true.
	WithModifier *bool `json:"withModifier,omitempty"`
	// SortBy says which of several matches is the first. The default is the order of
	// insertion.
	SortBy document.Object `json:"sortBy,omitzero"`
	// Option says how to find and modify. Those of drivers that change no outcome (maxTimeMS,
	// writeConcern, comment, hint and the like) have no effect, others are refused by name.
	Option FindAndModifyOption `json:"option,omitzero"`
}

// FindAndModifyOption says how to find and modify. Those of drivers that change no outcome (maxTimeMS,
// writeConcern, comment, hint and the like) have no effect, others are refused by name.
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
	// Projection says which columns of the entry come back: paths with 1 or 0, or with
	// $slice or $elemMatch of an array. The default is all. Fields is another name of it.
	Projection document.Object `json:"projection,omitzero"`
	Fields     document.Object `json:"fields,omitzero"`
	// Sort is another name of SortBy.
	Sort document.Object `json:"sort,omitzero"`
	// Unknown are options of other names. What changes no outcome, such as maxTimeMS, has no
	// effect; others are refused.
	Unknown document.Object `json:"-" document:"unknown"`
}

// FindAndModifyResult is what FindAndModifyDataFromDataSource did.
type FindAndModifyResult struct {
	// OK is 1.
	OK int `json:"ok"`
	// Value is the entry, nil where none matched, and where one was inserted without
	// Option.New.
	Value *document.Object `json:"value"`
}

// UpsertParams are the parameters of UpsertDataToDataSource.
type UpsertParams struct {
	// DataSourceID is the data source. Required.
	DataSourceID string `json:"dataSourceId"`
	// Data are the entries, one or several. Given fields are set, other fields of an existing
	// entry stay. Required.
	Data document.OneOrMany[document.Object] `json:"data"`
}

// UpsertResult is what UpsertDataToDataSource did.
type UpsertResult struct {
	// Result is what was done.
	Result UpsertOutcome `json:"result"`
}

// UpsertOutcome is what became of the elements of an upsert.
type UpsertOutcome struct {
	// DocsIDs are the ids, by what became of each.
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

// CountParams are the parameters of CountDataSource.
type CountParams struct {
	// CollectionName or DataSourceID is the data source. One of them is required.
	CollectionName string `json:"collectionName,omitempty"`
	DataSourceID   string `json:"dataSourceId,omitempty"`
	// Filter says which entries. The default is all.
	Filter document.Object `json:"filter,omitzero"`
}

// FetchParams are the parameters of FetchDataFromDataSource.
type FetchParams struct {
	// CollectionName or DataSourceID is the data source. One of them is required.
	CollectionName string `json:"collectionName,omitempty"`
	DataSourceID   string `json:"dataSourceId,omitempty"`
	// Filter says which entries. The default is all.
	Filter document.Object `json:"filter,omitzero"`
	// SortBy is the order: document.O("price", 1, "name", -1). The default is the order
	// of insertion.
	SortBy document.Object `json:"sortBy,omitzero"`
	// Skip is the number of entries to leave out at the beginning. The default is 0.
	Skip int64 `json:"skip,omitzero"`
	// Limit is the number of entries to return at most. The default is 0, for all.
	Limit int64 `json:"limit,omitzero"`
	// Count returns the number of entries alone, whatever Skip and Limit are. The default is false.
	Count bool `json:"count,omitempty"`
}

// FetchResult is an array of entries in JSON, or their number.
type FetchResult struct {
	// Entries are the entries. It is nil where the number alone was asked for, and
	// never nil otherwise.
	Entries []document.Object
	// Count is the number of entries.
	Count int64
}

// FetchDistinctParams are the parameters of
// FetchDistinctDataFromDataSource.
type FetchDistinctParams struct {
	// CollectionName or DataSourceID is the data source. One of them is required.
	CollectionName string `json:"collectionName,omitempty"`
	DataSourceID   string `json:"dataSourceId,omitempty"`
	// Key is the column, or a dotted path. The elements of a list count one by one. Required.
	Key string `json:"key"`
	// Filter says which entries. The default is all.
	Filter document.Object `json:"filter,omitzero"`
	// Count returns the number of values alone. The default is false.
	Count bool `json:"count,omitempty"`
}

// FetchDistinctResult is an array of values in JSON, or their
// number.
type FetchDistinctResult struct {
	// Entries are the values. It is nil where the number alone was asked for, and never
	// nil otherwise.
	Entries []any
	// Count is the number of values.
	Count int64
}

// FetchGeoNearParams are the parameters of FetchGeoNearFromDataSource.
type FetchGeoNearParams struct {
	// CollectionName or DataSourceID is the data source. One of them is required.
	CollectionName string `json:"collectionName,omitempty"`
	DataSourceID   string `json:"dataSourceId,omitempty"`
	// Data is what is looked for, as in MongoDB's $geoNear: near, key,
	// maxDistance, minDistance, limit, query, distanceField and others. Required.
	Data document.Object `json:"data"`
}

// FetchGeoNearResult is an array of entries in JSON.
type FetchGeoNearResult struct {
	// Entries are the entries, nearest first, never nil. They have their distance where
	// distanceField asked for it.
	Entries []document.Object
	// Count is the number of entries.
	Count int64
}

// PatchParams are the parameters of PatchDataToDataSource.
type PatchParams struct {
	// CollectionName or DataSourceID is the data source. One of them is required.
	CollectionName string `json:"collectionName,omitempty"`
	DataSourceID   string `json:"dataSourceId,omitempty"`
	// Filter says which entries. The default is all.
	Filter document.Object `json:"filter,omitzero"`
	// Patch is the change: fields to set, or with WithModifier an update document or a
	// replacement. Required.
	Patch document.Object `json:"patch"`
	// Options says how to change. Those of drivers that change no outcome (maxTimeMS,
	// writeConcern, comment, hint and the like) have no effect, others are refused by name.
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

// PatchResult is what PatchDataToDataSource did.
type PatchResult struct {
	// Matched is the number of entries that matched.
	Matched int64 `json:"matched"`
	// Modified is the number of entries that changed.
	Modified int64 `json:"modified"`
	// Inserted is 1 where an upsert inserted an entry.
	Inserted int64 `json:"inserted"`
	// Deleted is 0.
	Deleted int64 `json:"deleted"`
}

// EraseEntriesParams says which entries EraseEntries removes: those that match the filter and are older than
// OlderThan. At least one of both is required, so that no call empties a data source by mistake; a filter of
// {"_id": {"$exists": true}} does so on purpose.
type EraseEntriesParams struct {
	// DataSourceID is the data source. Required.
	DataSourceID string
	// Filter matches the entries, such as those of a member. It has no update modifiers.
	Filter document.Object
	// OlderThan is how long ago an entry was last changed, by the store's clock. 0 means of any age.
	OlderThan time.Duration
}
