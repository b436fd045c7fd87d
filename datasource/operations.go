package datasource

import (
	"context"
	"time"

	"github.com/botctx/go-sdk/document"
)

// Operations are the operations on data sources. Filters, patches and sorts use MongoDB's syntax;
// anything unsupported is InvalidArgument with its path in the parameter. A missing required
// parameter is InvalidArgument, too.
//
// Specification: Member and data-source operations.
type Operations interface {
	// FindAndModifyDataFromDataSource atomically changes the first matching entry in the order of SortBy.
	// If the changed entry no longer matches Filter, concurrent callers cannot claim it twice: filter by
	// taken: false and set taken to true. Value is nil if none matched.
	//
	// Errors:
	//   - InvalidArgument: Filter has an unknown operator or an operand of the wrong type.
	//   - InvalidArgument: Patch mixes operators with plain fields, has conflicting paths, or would
	//     change _id or createdAt.
	//   - InvalidArgument: SortBy has a value other than 1 and -1.
	//   - InvalidArgument: Option.Projection includes some columns and excludes others, has
	//     conflicting paths, or needs an array position that the filter does not give.
	//   - AlreadyExists: Option.Upsert would insert an entry whose _id exists.
	FindAndModifyDataFromDataSource(
		ctx context.Context, p FindAndModifyParams) (FindAndModifyResult, error)

	// UpsertDataToDataSource updates the entries whose _id exists and inserts the others. It sets
	// the given columns and keeps all others. Elements are written one after the other; if the
	// store fails midway, repeat the call to write the rest. It inserts elements without _id again.
	//
	// Errors:
	//   - InvalidArgument: Data is neither an object nor a list of objects, or contains the same
	//     _id twice, an _id that is null, an object or a list, or a column name that begins with $
	//     or contains a dot. Then nothing is written.
	//   - InvalidArgument: an element would change an entry's createdAt.
	UpsertDataToDataSource(ctx context.Context, p UpsertParams) (UpsertResult, error)

	// CountDataSource returns the number of matching entries.
	//
	// Errors:
	//   - InvalidArgument: neither CollectionName nor DataSourceID is given, or both are and they
	//     differ.
	//   - InvalidArgument: Filter has an unknown operator or an operand of the wrong type.
	CountDataSource(ctx context.Context, p CountParams) (int64, error)

	// FetchDataFromDataSource returns the matching entries in the order of SortBy or, by default,
	// of insertion. With Count it returns only their number.
	//
	// Errors:
	//   - InvalidArgument: neither CollectionName nor DataSourceID is given, or both are and they
	//     differ.
	//   - InvalidArgument: Filter has an unknown operator or an operand of the wrong type.
	//   - InvalidArgument: SortBy has a value other than 1 and -1.
	FetchDataFromDataSource(ctx context.Context, p FetchParams) (FetchResult, error)

	// FetchDistinctDataFromDataSource returns the distinct values of one column, in the order in
	// which they first occur. With Count it returns only their number. Each element of a list
	// counts as a value; 1 and 1.0 are the same value.
	//
	// Errors:
	//   - InvalidArgument: neither CollectionName nor DataSourceID is given, or both are and they
	//     differ.
	//   - InvalidArgument: Filter has an unknown operator or an operand of the wrong type.
	FetchDistinctDataFromDataSource(
		ctx context.Context, p FetchDistinctParams) (FetchDistinctResult, error)

	// FetchGeoNearFromDataSource returns the entries near a point, nearest first.
	//
	// The points are in the column that Data's key names. Without key, the column of the store's
	// geo index is used, else "location", else the only column that contains points.
	//
	// Errors:
	//   - InvalidArgument: neither CollectionName nor DataSourceID is given, or both are and they
	//     differ.
	//   - InvalidArgument: Data has a near that is not a point on the globe, a negative distance or
	//     limit, or an invalid query.
	//   - InvalidArgument: the entries have points in several columns, and Data has no key to
	//     choose one.
	FetchGeoNearFromDataSource(ctx context.Context, p FetchGeoNearParams) (FetchGeoNearResult, error)

	// PatchDataToDataSource changes the first matching entry, or all of them with Multi.
	//
	// Errors:
	//   - InvalidArgument: neither CollectionName nor DataSourceID is given, or both are and they
	//     differ.
	//   - InvalidArgument: Filter has an unknown operator or an operand of the wrong type.
	//   - InvalidArgument: Patch mixes operators with plain fields, has conflicting paths, or would
	//     change _id or createdAt.
	//   - InvalidArgument: Options.Sort has a value other than 1 and -1, or Patch is a replacement
	//     document and Multi is true.
	//   - AlreadyExists: Options.Upsert would insert an entry whose _id exists.
	PatchDataToDataSource(ctx context.Context, p PatchParams) (PatchResult, error)
}

// FindAndModifyParams are the parameters of FindAndModifyDataFromDataSource.
type FindAndModifyParams struct {
	// DataSourceID is the data source. Required.
	DataSourceID string `json:"dataSourceId"`
	// Filter selects entries. An empty filter selects all. Required.
	Filter document.Object `json:"filter"`
	// Patch is the change: an update document such as document.Set("taken", true). Without
	// operators it replaces the whole entry. Required.
	Patch document.Object `json:"patch"`
	// WithModifier selects the form of Patch; if it is false, Patch holds the fields to set. The
	// default is true.
	WithModifier *bool `json:"withModifier,omitempty"`
	// SortBy decides which of several matches is first. The default is the order of insertion.
	SortBy document.Object `json:"sortBy,omitzero"`
	// Option controls the operation. Driver options that do not change the outcome (maxTimeMS,
	// writeConcern, comment, hint and the like) are ignored; others are InvalidArgument.
	Option FindAndModifyOption `json:"option,omitzero"`
}

// FindAndModifyOption controls FindAndModifyDataFromDataSource.
type FindAndModifyOption struct {
	// New returns the entry after the change. The default is the entry before it.
	New bool `json:"new,omitempty"`
	// Upsert inserts an entry if none matches. Two calls at the same time may both insert one,
	// unless the filter names _id, or columns that have a unique index.
	Upsert bool `json:"upsert,omitempty"`
	// ArrayFilters are conditions on array elements, one for each $[name] in a path of Patch.
	ArrayFilters []document.Object `json:"arrayFilters,omitempty"`
	// ReturnDocument is "after" to return the entry after the change, like New, or "before".
	// ReturnOriginal is the opposite of New.
	ReturnDocument string `json:"returnDocument,omitempty"`
	ReturnOriginal *bool  `json:"returnOriginal,omitempty"`
	// Projection selects the columns to return: paths with 1 or 0, or with $slice or $elemMatch for
	// an array. The default is all columns. Fields is another name for Projection.
	Projection document.Object `json:"projection,omitzero"`
	Fields     document.Object `json:"fields,omitzero"`
	// Sort is another name for SortBy.
	Sort document.Object `json:"sort,omitzero"`
	// Unknown holds other options. Those that do not change the outcome, such as maxTimeMS, are
	// ignored; others are InvalidArgument.
	Unknown document.Object `json:"-" document:"unknown"`
}

// FindAndModifyResult is the result of FindAndModifyDataFromDataSource.
type FindAndModifyResult struct {
	// OK is 1.
	OK int `json:"ok"`
	// Value is the entry. It is nil if no entry matched, or if one was inserted without Option.New.
	Value *document.Object `json:"value"`
}

// UpsertParams are the parameters of UpsertDataToDataSource.
type UpsertParams struct {
	// DataSourceID is the data source. Required.
	DataSourceID string `json:"dataSourceId"`
	// Data holds one entry or several. Given fields are set; other fields of an existing entry
	// stay. Required.
	Data document.OneOrMany[document.Object] `json:"data"`
}

// UpsertResult is the result of UpsertDataToDataSource.
type UpsertResult struct {
	// Result is the outcome.
	Result UpsertOutcome `json:"result"`
}

// UpsertOutcome is the outcome of an upsert.
type UpsertOutcome struct {
	// DocsIDs are the ids of the elements, grouped by outcome.
	DocsIDs UpsertedIDs `json:"_docsIds"`
	// Matched is the number of elements whose _id existed.
	Matched int64 `json:"matched"`
	// Modified is the number of entries that changed.
	Modified int64 `json:"modified"`
	// Inserted is the number of entries that were inserted, with or without a given _id.
	Inserted int64 `json:"inserted"`
	// Deleted is always 0: an upsert deletes no entries.
	Deleted int64 `json:"deleted"`
}

// UpsertedIDs are the ids of the elements of an upsert, grouped by outcome.
type UpsertedIDs struct {
	// Updated are the ids that already existed.
	Updated []any `json:"updated"`
	// Inserted are the ids generated for elements without _id.
	Inserted []any `json:"inserted"`
	// Upserted are the given ids that did not exist before.
	Upserted []any `json:"upserted"`
}

// CountParams are the parameters of CountDataSource.
type CountParams struct {
	// CollectionName or DataSourceID is the data source. One of them is required.
	CollectionName string `json:"collectionName,omitempty"`
	DataSourceID   string `json:"dataSourceId,omitempty"`
	// Filter selects entries. The default is all.
	Filter document.Object `json:"filter,omitzero"`
}

// FetchParams are the parameters of FetchDataFromDataSource.
type FetchParams struct {
	// CollectionName or DataSourceID is the data source. One of them is required.
	CollectionName string `json:"collectionName,omitempty"`
	DataSourceID   string `json:"dataSourceId,omitempty"`
	// Filter selects entries. The default is all.
	Filter document.Object `json:"filter,omitzero"`
	// SortBy is the order, such as document.O("price", 1, "name", -1). The default is the order of
	// insertion.
	SortBy document.Object `json:"sortBy,omitzero"`
	// Skip is the number of matches to skip. The default is 0.
	Skip int64 `json:"skip,omitzero"`
	// Limit is the maximum number of entries to return. The default is 0, for all.
	Limit int64 `json:"limit,omitzero"`
	// Count returns only the number of matches, regardless of Skip and Limit. The default is false.
	Count bool `json:"count,omitempty"`
}

// FetchResult is encoded as an array of entries or, with Count, as a number.
type FetchResult struct {
	// Entries are the matching entries. They are nil if Count was requested, and otherwise not nil.
	Entries []document.Object
	// Count is the number of entries.
	Count int64
}

// FetchDistinctParams are the parameters of FetchDistinctDataFromDataSource.
type FetchDistinctParams struct {
	// CollectionName or DataSourceID is the data source. One of them is required.
	CollectionName string `json:"collectionName,omitempty"`
	DataSourceID   string `json:"dataSourceId,omitempty"`
	// Key is the column, or a dotted path. Each element of a list counts as a value. Required.
	Key string `json:"key"`
	// Filter selects entries. The default is all.
	Filter document.Object `json:"filter,omitzero"`
	// Count returns only the number of values. The default is false.
	Count bool `json:"count,omitempty"`
}

// FetchDistinctResult is encoded as an array of values or, with Count, as a number.
type FetchDistinctResult struct {
	// Entries are the values. They are nil if Count was requested, and otherwise not nil.
	Entries []any
	// Count is the number of values.
	Count int64
}

// FetchGeoNearParams are the parameters of FetchGeoNearFromDataSource.
type FetchGeoNearParams struct {
	// CollectionName or DataSourceID is the data source. One of them is required.
	CollectionName string `json:"collectionName,omitempty"`
	DataSourceID   string `json:"dataSourceId,omitempty"`
	// Data is the query, as for MongoDB's $geoNear: near, key, maxDistance, minDistance, limit,
	// query, distanceField and others. A field that is null counts as absent. Required.
	Data document.Object `json:"data"`
}

// FetchGeoNearResult is encoded as an array of entries.
type FetchGeoNearResult struct {
	// Entries are the entries, nearest first. They are never nil. If Data has a distanceField, each
	// entry has its distance from the point in that field.
	Entries []document.Object
	// Count is the number of entries.
	Count int64
}

// PatchParams are the parameters of PatchDataToDataSource.
type PatchParams struct {
	// CollectionName or DataSourceID is the data source. One of them is required.
	CollectionName string `json:"collectionName,omitempty"`
	DataSourceID   string `json:"dataSourceId,omitempty"`
	// Filter selects entries. The default is all.
	Filter document.Object `json:"filter,omitzero"`
	// Patch is the change: the fields to set or, with WithModifier, an update document or a
	// replacement. Required.
	Patch document.Object `json:"patch"`
	// Options control the operation. Driver options that do not change the outcome (maxTimeMS,
	// writeConcern, comment, hint and the like) are ignored; others are InvalidArgument.
	Options PatchOptions `json:"options,omitzero"`
	// Multi changes all matching entries instead of the first. The default is false.
	Multi bool `json:"multi,omitempty"`
	// WithModifier makes Patch an update document or a replacement. The default is false.
	WithModifier bool `json:"withModifier,omitempty"`
}

// PatchOptions control PatchDataToDataSource.
type PatchOptions struct {
	// Upsert inserts an entry if none matches. Two calls at the same time may both insert one,
	// unless the filter names _id, or columns that have a unique index.
	Upsert bool `json:"upsert,omitempty"`
	// ArrayFilters are conditions on array elements, one for each $[name] in a path of Patch.
	ArrayFilters []document.Object `json:"arrayFilters,omitempty"`
	// Sort decides which of several matches is first. It cannot be combined with Multi.
	Sort document.Object `json:"sort,omitzero"`
	// Multi is the same as the parameter Multi.
	Multi bool `json:"multi,omitempty"`
	// Unknown holds other options. Those that do not change the outcome, such as maxTimeMS, are
	// ignored; others are InvalidArgument.
	Unknown document.Object `json:"-" document:"unknown"`
}

// PatchResult is the result of PatchDataToDataSource.
type PatchResult struct {
	// Matched is the number of entries that matched.
	Matched int64 `json:"matched"`
	// Modified is the number of entries that changed.
	Modified int64 `json:"modified"`
	// Inserted is 1 if an upsert inserted an entry.
	Inserted int64 `json:"inserted"`
	// Deleted is always 0: a patch deletes no entries.
	Deleted int64 `json:"deleted"`
}

// EraseEntriesParams select the entries that EraseEntries removes: an entry must match Filter and be older than
// OlderThan. At least one of the two is required, so that no call empties a data source by mistake. To empty one
// deliberately, use the filter {"_id": {"$exists": true}}.
type EraseEntriesParams struct {
	// DataSourceID is the data source. Required.
	DataSourceID string
	// Filter selects entries, such as the entries of one member. The default is all.
	Filter document.Object
	// OlderThan is the minimum time since an entry's last change, by the store's clock. 0 means any
	// age.
	OlderThan time.Duration
}
