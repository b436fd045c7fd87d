package store

import (
	"context"
	"time"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store/query"
)

// Store is the port that a database implements. Package storetest holds every
// implementation to this contract.
//
// Everything in it is safe for concurrent use. Errors are *boterr.Error without an
// operation: InvalidArgument for what MongoDB refuses too, AlreadyExists for a
// second document with the same _id or the same key of a unique index,
// Unsupported for what the database lacks, Unavailable if it did not answer,
// and Canceled if ctx ended; then nothing was written, unless the text says
// that this is not known. The Field of an InvalidArgument begins with what is wrong: "filter",
// "update", "sort", "projection", and so on; of an Insert with the number of the document, and
// of a GeoNear it is a path in its document, if "query" is the filter.
type Store interface {
	// Collection returns the collection of that name. A collection exists as soon
	// as it is written to; one that does not exist reads as empty. Names are up to
	// 200 bytes of UTF-8 without NUL and do not begin with "system.".
	Collection(name string) Collection

	// Now returns the store's clock, against which leases are judged: one clock
	// for all processes that share the store.
	Now(ctx context.Context) (time.Time, error)
}

// Collection is one collection of a Store.
//
// Documents are kept exactly as they were given, including the order of fields and the types of numbers.
// Documents and values in results are immutable, as all values of package document, so nothing that the
// caller does changes the store. Without a sort, documents come in the order of their insertion, or of the
// filter's $near, and an operation on one document takes the first match. A filter with a $near needs an
// index that serves it, else it is InvalidArgument.
//
// A nil *Filter matches every document, a nil *Sort keeps the order of insertion.
type Collection interface {
	// Get returns the document with an _id, and whether there is one: what Find by that _id returns. InvalidArgument: id
	// is no value.
	Get(ctx context.Context, id any) (found document.Object, exists bool, err error)

	// Find returns the documents that match, or an empty slice.
	Find(ctx context.Context, filter *query.Filter, options FindOptions) ([]document.Object, error)

	// Count returns the number of documents that match.
	Count(ctx context.Context, filter *query.Filter) (int64, error)

	// Distinct returns the different values that the documents that match have at
	// a dotted path, in the order in which they were first seen. An array counts as
	// its elements; 1 and 1.0 are one value; a missing field gives none. What
	// CheckReadPath refuses is InvalidArgument at "path".
	Distinct(ctx context.Context, path string, filter *query.Filter) ([]any, error)

	// GeoNear returns the documents that match the query's filter and have a place, nearest first, ties in
	// the order of insertion. Documents without a valid place are left out. A query that names no field uses
	// the field of the only geo index. InvalidArgument: there is none, with the cause ErrNoGeoIndex, or there
	// are several. A query that names a field needs no index, but if the collection has geo indexes, one of
	// them must serve the query.
	GeoNear(ctx context.Context, query *query.GeoNear) ([]query.GeoResult, error)

	// Insert adds documents, all or none. Each has an _id, which is any value but
	// an array, and for objects has no field that begins with "$".
	Insert(ctx context.Context, documents ...document.Object) error

	// Update changes the first document that matches, or all of them, each
	// atomically. After an error nothing has changed in any of them, unless the
	// options allow that.
	Update(ctx context.Context, filter *query.Filter, change query.Change, options UpdateOptions) (UpdateResult, error)

	// FindAndModify finds the first document in the order of the sort, changes it
	// and returns it, in one atomic step: of many callers at once, each sees the
	// change of the one before.
	FindAndModify(ctx context.Context, filter *query.Filter, change query.Change, options FindAndModifyOptions) (FindAndModifyResult, error)

	// Delete removes the first document that matches, or all of them, and returns
	// how many it removed.
	Delete(ctx context.Context, filter *query.Filter, options DeleteOptions) (int64, error)

	// EnsureIndex makes an index unless there is one of the same keys and options.
	// AlreadyExists: documents violate a unique index; FailedPrecondition: there is
	// an index of the same keys with other options.
	EnsureIndex(ctx context.Context, index Index) error
}

// FindOptions select the documents that Find returns among the matching ones.
type FindOptions struct {
	// Sort is the order. What Sort.Check refuses in a document that matches is
	// InvalidArgument, its Field behind "sort", here and in the other options.
	Sort *query.Sort
	// Skip is the number of documents to leave out at the beginning.
	Skip int64
	// Limit is the most documents to return; 0 is all.
	Limit int64
	// Projection selects the fields of the returned documents; nil is all. Filter and sort see the whole
	// documents. Find returns an error of Projection.Apply with its Field behind "projection".
	Projection *query.Projection
}

// UpdateOptions select the documents that Update changes.
type UpdateOptions struct {
	// Multi changes all documents that match. A replacement cannot.
	Multi bool
	// Sort decides which document is the first, without Multi.
	Sort *query.Sort
	// Upsert inserts a document if none matches: the fields that the filter
	// requires to equal a value, changed by the update.
	Upsert bool
}

// UpdateResult is the result of Update.
type UpdateResult struct {
	// Matched is the number of documents that matched; 0 after an upsert that
	// inserted.
	Matched int64
	// Modified is the number of documents that changed. A replacement without _id
	// counts always, as in MongoDB, though one that leaves the document as it was renews
	// no stamps.
	Modified int64
	// UpsertedID is the _id of the document that was inserted, nil if none was.
	UpsertedID any
}

// FindAndModifyOptions select the document that FindAndModify changes and returns.
type FindAndModifyOptions struct {
	Sort *query.Sort
	// Upsert inserts a document if none matches, as UpdateOptions says.
	Upsert bool
	// New returns the document as it is after the change, else as it was before.
	New bool
	// Projection selects the fields of the returned document, as in FindOptions. If it fails, nothing has
	// changed. A positional one with New is InvalidArgument, since the filter did not match the changed
	// document.
	Projection *query.Projection
}

// FindAndModifyResult is the result of FindAndModify.
type FindAndModifyResult struct {
	// Document is the document before or after the change, as New says. It is the
	// zero Object if none matched, and where one was inserted without New.
	Document document.Object
	// Matched is true if a document matched.
	Matched bool
	// Modified is true if it changed, as in UpdateResult.
	Modified bool
	// UpsertedID is the _id of the document that was inserted, nil if none was.
	UpsertedID any
}

// DeleteOptions select the documents that Delete removes.
type DeleteOptions struct {
	// Multi removes all documents that match, else the first.
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
	// Sparse leaves out the documents that have none of the keys.
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
