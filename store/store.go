package store

import (
	"context"
	"time"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store/query"
)

// Store is the port to a database. Package storetest checks implementations against this contract.
//
// All methods are safe for concurrent use. Errors are *boterr.Error without an operation: InvalidArgument for
// anything that MongoDB refuses too, AlreadyExists for a second document with the same _id or the same key of
// a unique index, Unsupported for features that the database lacks, Unavailable if it did not answer, and
// Canceled if ctx ended. After an error nothing was written, unless the method documents that this is unknown. The
// Field of an InvalidArgument begins with the argument at fault: "filter", "update", "sort", "projection",
// and so on; for Insert with the index of the document. For GeoNear it is a path in the query's document, in
// which "query" is the filter.
type Store interface {
	// Collection returns the collection with a name. A collection exists once it is written to; until then it
	// reads as empty. Names are up to 200 bytes of UTF-8 without NUL and do not begin with "system.".
	Collection(name string) Collection

	// Now returns the time of the store's clock, which decides when leases expire. All processes that share
	// the store see the same clock.
	Now(ctx context.Context) (time.Time, error)
}

// Collection is a collection of a Store.
//
// Documents are stored exactly as given, including the order of fields and the types of numbers. Documents
// and values in results are immutable, like all values of package document, so the caller cannot change the
// store through them. Without a sort, documents come in the order of insertion, or of the filter's $near, and
// an operation on one document takes the first match. A filter with $near needs an index that serves it, and
// is InvalidArgument otherwise.
//
// A nil *Filter matches every document, a nil *Sort means the order of insertion.
type Collection interface {
	// Get returns the document with an _id, and reports whether there is one. It is equivalent to Find with
	// that _id. InvalidArgument: id is not a value.
	Get(ctx context.Context, id any) (found document.Object, exists bool, err error)

	// Find returns the documents that match, or an empty slice.
	Find(ctx context.Context, filter *query.Filter, options FindOptions) ([]document.Object, error)

	// Count returns the number of matching documents.
	Count(ctx context.Context, filter *query.Filter) (int64, error)

	// Distinct returns the distinct values at a dotted path in the matching documents, in the order of their
	// first occurrence. An array counts as its elements; 1 and 1.0 are one value; a missing field gives none.
	// A path that CheckReadPath refuses is InvalidArgument at "path".
	Distinct(ctx context.Context, path string, filter *query.Filter) ([]any, error)

	// GeoNear returns the documents that match the query's filter and have a valid place, nearest first, with
	// ties in the order of insertion. A query without a field uses the field of the only geo index.
	// InvalidArgument: there is none, with the cause ErrNoGeoIndex, or there are several. A query with a
	// field needs no index, but if the collection has geo indexes, one of them must serve the query.
	GeoNear(ctx context.Context, query *query.GeoNear) ([]query.GeoResult, error)

	// Insert adds all of the documents or none. Each must have an _id, which is any value except an array or
	// an object with a field that begins with "$".
	Insert(ctx context.Context, documents ...document.Object) error

	// Update changes the first matching document, or all of them, each atomically. After an error none of them
	// has changed. The exception is Unavailable, after which some may have.
	Update(ctx context.Context, filter *query.Filter, change query.Change, options UpdateOptions) (UpdateResult, error)

	// FindAndModify finds the first document in the order of the sort, changes it and returns it, in one atomic
	// step: each of several concurrent callers sees the change of the previous one. A call after which the
	// document no longer matches, such as a worker's claim of a job, may skip documents that other calls are
	// changing at that moment, so that workers do not wait for each other. If it finds no other document, it
	// waits. The same goes for Update and Delete of one document.
	FindAndModify(ctx context.Context, filter *query.Filter, change query.Change, options FindAndModifyOptions) (FindAndModifyResult, error)

	// Delete removes the first matching document, or all of them, and returns the number removed.
	Delete(ctx context.Context, filter *query.Filter, options DeleteOptions) (int64, error)

	// EnsureIndex creates an index unless one with the same keys and options exists. AlreadyExists: documents
	// violate a unique index. FailedPrecondition: there is an index with the same keys and other options.
	EnsureIndex(ctx context.Context, index Index) error
}

// FindOptions select the documents that Find returns from the matching ones.
type FindOptions struct {
	// Sort is the order. If Sort.Check refuses a matching document, the error is InvalidArgument with a Field
	// in "sort", here and in the other options.
	Sort *query.Sort
	// Skip is the number of documents to skip at the beginning.
	Skip int64
	// Limit is the maximum number of documents to return. 0 means all.
	Limit int64
	// Projection selects the fields of the returned documents; nil means all. Filter and sort apply to the
	// whole documents. An error of Projection.Apply has a Field in "projection".
	Projection *query.Projection
}

// UpdateOptions select the documents that Update changes.
type UpdateOptions struct {
	// Multi changes all documents that match. A replacement cannot.
	Multi bool
	// Sort decides which document is the first, without Multi.
	Sort *query.Sort
	// Upsert inserts a document if none matches: the fields for which the filter requires a value, changed by
	// the update. If the filter requires a value for _id or for the fields of a unique index, only one of several
	// concurrent upserts inserts a document. Otherwise each of them may.
	Upsert bool
}

// UpdateResult is the result of Update.
type UpdateResult struct {
	// Matched is the number of documents that matched; 0 after an upsert that
	// inserted.
	Matched int64
	// Modified is the number of documents that changed. A replacement without _id always counts, as in
	// MongoDB, although one that leaves the document unchanged does not renew its stamps.
	Modified int64
	// UpsertedID is the _id of the inserted document, or nil.
	UpsertedID any
}

// FindAndModifyOptions select the document that FindAndModify changes and returns.
type FindAndModifyOptions struct {
	Sort *query.Sort
	// Upsert inserts a document if none matches, as in UpdateOptions.
	Upsert bool
	// New returns the document after the change instead of before.
	New bool
	// Projection selects the fields of the returned document, as in FindOptions. If it fails, nothing has
	// changed. A positional projection with New is InvalidArgument, because the filter did not match the
	// changed document.
	Projection *query.Projection
}

// FindAndModifyResult is the result of FindAndModify.
type FindAndModifyResult struct {
	// Document is the document before the change, or after it with New. It is the zero Object if none
	// matched, also if a document was inserted without New.
	Document document.Object
	// Matched is true if a document matched.
	Matched bool
	// Modified is true if it changed, as in UpdateResult.
	Modified bool
	// UpsertedID is the _id of the inserted document, or nil.
	UpsertedID any
}

// DeleteOptions select the documents that Delete removes.
type DeleteOptions struct {
	// Multi removes all matching documents instead of the first.
	Multi bool
}

// Index describes an index of a collection.
type Index struct {
	// Keys are the dotted paths in order. An array at a path counts as its
	// elements.
	Keys []IndexKey
	// Unique refuses a second document with the same key. A missing field counts
	// as null.
	Unique bool
	// Sparse leaves out documents that have none of the keys.
	Sparse bool
}

// IndexKey is one part of an index.
type IndexKey struct {
	Path string
	Kind query.IndexKind
}

// Ascending returns an index of paths, each in ascending order.
func Ascending(paths ...string) Index {
	var index Index
	for _, path := range paths {
		index.Keys = append(index.Keys, IndexKey{Path: path, Kind: query.Ascending})
	}
	return index
}

// Explanation describes how a store finds documents.
type Explanation struct {
	// Index is the name of the index that the store uses, as MongoDB names it: "area_1_price_-1", "_id_" for
	// the _id. It is empty if all documents are read.
	Index string
	// Bound is the number of the index's first keys that the filter bounds.
	Bound int
	// Exact is true if all documents from the index match. The filter is then not tested.
	Exact bool
	// Sorted is true if the index gives the order of the sort. Then nothing is sorted, and a limit ends the
	// search.
	Sorted bool
	// Examined is the number of documents that the store reads. Returned is the number that it returns.
	Examined, Returned int64
}
