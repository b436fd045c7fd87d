// Package store is the port to a database: collections of documents, and a clock that all processes share.
//
//   - To run a host, open a [Store], such as memstore.New() or a backend's, and set it in botctx.Config.
//   - To keep records in another database, implement [Store] and [Collection].
//   - To create another index, use EnsureIndex of a [Collection] with an [Index].
//
// Package memstore is the store in memory, and package storetest the suite that every store passes. Stores
// over databases are separate modules.
package store

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/botctx/go-sdk/boterr"
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
	// has changed. The exceptions are Unavailable and Canceled, after which some may have.
	Update(ctx context.Context, filter *query.Filter, change query.Change, options UpdateOptions) (UpdateResult, error)

	// FindAndModify finds the first document in the order of the sort, changes it and returns it, in one atomic
	// step: each of several concurrent callers sees the change of the previous one. A call after which the
	// document no longer matches, such as a worker's claim of a job, may skip documents that other calls are
	// changing at that moment, so that workers do not wait for each other. If it finds no other document, it
	// waits. The same goes for Update and Delete of one document.
	FindAndModify(ctx context.Context, filter *query.Filter, change query.Change, options FindAndModifyOptions) (FindAndModifyResult, error)

	// Delete removes the first matching document, or all of them, and returns the number removed. After
	// Unavailable or Canceled, some may be removed.
	Delete(ctx context.Context, filter *query.Filter, options DeleteOptions) (int64, error)

	// EnsureIndex creates an index unless one with the same keys and options exists. AlreadyExists: documents
	// violate a unique index. FailedPrecondition: there is an index with the same keys and other options.
	EnsureIndex(ctx context.Context, index Index) error
}

// FindOptions select the documents that Find returns from the matching ones.
type FindOptions struct {
	// Sort is the order. If Evaluation.CheckSort refuses a matching document, the error is InvalidArgument with a Field
	// in "sort", here and in the other options.
	Sort *query.Sort
	// Skip is the number of documents to skip at the beginning.
	Skip int64
	// Limit is the maximum number of documents to return. 0 means all.
	Limit int64
	// Projection selects the fields of the returned documents; nil means all. Filter and sort apply to the
	// whole documents. An error of Evaluation.Project has a Field in "projection".
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
	// elements. The SDK's stores refuse a document with more than 100,000
	// keys in an index, with InvalidArgument.
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

// Notifier is an optional port of a Store that processes share. With it, code that polls the store learns of
// the work of other processes sooner, and polls less often. It must still poll, since notices may be lost.
type Notifier interface {
	// Notify sends a short text to the listeners of a topic in all processes, including this one. It does not
	// wait: the text arrives some milliseconds later, and only once if it is sent several times before that.
	// Call it after the write that it announces.
	Notify(topic, text string)
	// Listen calls heard with each text of a topic, and with "" if texts may have been lost, for example before
	// the connection was made. The calls come one at a time. heard must return soon, and must not call stop.
	// Once stop has returned, heard is no longer called.
	Listen(topic string, heard func(text string)) (stop func())
}

// Watcher is an optional port of a Store whose documents all change through this process. Code that caches
// values derived from documents can follow their changes, instead of reading all documents again.
type Watcher interface {
	// Watch calls changed after each change of a document in a collection, with the document before and
	// after: the zero Object means that there was, or is, no document. The calls come one at a time, in the
	// order in which the changes take effect. reset is called if all documents have changed at once, for
	// example by going back to a snapshot.
	//
	// Both are called before any other write to the collection: they must return soon, must not write to the
	// store, and must not call stop. If they read, they see the change, and may see later ones. Reads of others
	// may see a change before changed is called for it. Neither is called after stop.
	Watch(collection string, changed func(before, after document.Object), reset func()) (stop func())
}

// Refuser decides whether work in progress may still write, such as a run that holds a lane.
type Refuser interface {
	// Refusal returns the reason why no further writes are allowed, or nil. It returns at once, without a call
	// to the store.
	Refusal() error
}

// refuserKey is the key of the Refuser in a context.Context.
type refuserKey struct{}

// WithRefuser returns a ctx whose operations may write only while a Refuser allows it. A store that carries
// out an operation by several commands asks the Refuser before each command that writes. So a process that
// was suspended between two commands, while another process took over, does not write when it continues.
func WithRefuser(ctx context.Context, refuser Refuser) context.Context {
	return context.WithValue(ctx, refuserKey{}, refuser)
}

// RefuserOf returns the Refuser of a ctx, or nil.
func RefuserOf(ctx context.Context) Refuser {
	refuser, _ := ctx.Value(refuserKey{}).(Refuser)
	return refuser
}

// Refusal returns the reason why an operation with a ctx may no longer write, or nil.
func Refusal(ctx context.Context) error {
	if refuser := RefuserOf(ctx); refuser != nil {
		return refuser.Refusal()
	}
	return nil
}

// MaxName is the maximum length of a collection's name in bytes.
const MaxName = 200

// CheckName returns InvalidArgument for an invalid name of a collection.
func CheckName(name string) error {
	const field = "collection"
	switch {
	case name == "":
		return boterr.Invalid(field, "the name is empty")
	case len(name) > MaxName:
		return boterr.Invalid(field, "the name has %d bytes; shorten it to at most %d", len(name), MaxName)
	case !utf8.ValidString(name), strings.ContainsRune(name, 0):
		return boterr.Invalid(field, "the name %q must be UTF-8 without NUL", name)
	case strings.HasPrefix(name, "system."):
		return boterr.Invalid(field, `the name %q begins with "system.", which is reserved`, name)
	default:
		return nil
	}
}

// Check returns InvalidArgument for a negative skip or limit.
func (o FindOptions) Check() error {
	if o.Skip < 0 {
		return boterr.Invalid("skip", "must not be negative, got %d", o.Skip)
	}
	if o.Limit < 0 {
		return boterr.Invalid("limit", "must not be negative, got %d", o.Limit)
	}
	return nil
}

// Check returns InvalidArgument for a change that is impossible for every document, and for options that
// contradict the change or each other.
func (o UpdateOptions) Check(change query.Change) error {
	if err := change.Check(); err != nil {
		return err
	}
	switch {
	case o.Multi && change.Update.IsReplacement():
		return boterr.Invalid("multi", "a replacement changes one document only; use operators such as $set for many")
	case o.Multi && o.Sort != nil:
		return boterr.Invalid("sort", "multi changes all documents, so there is no first one; leave out the sort")
	default:
		return nil
	}
}

// Check returns InvalidArgument for a change that is impossible for every document, and for options that
// contradict each other.
func (o FindAndModifyOptions) Check(change query.Change) error {
	if err := change.Check(); err != nil {
		return err
	}
	if o.New && o.Projection.IsPositional() {
		return boterr.Invalid("projection", "a path that ends in $ needs the document before the change; set New to false")
	}
	return nil
}

// Check returns InvalidArgument for an invalid index, and Unsupported for a unique geo index. A 2d key must
// be the first and only geo key of an index.
func (i Index) Check() error {
	if len(i.Keys) == 0 {
		return boterr.Invalid("keys", "an index has at least one key")
	}
	for at, key := range i.Keys {
		field := "keys" + boterr.Index(at)
		isSecond := slices.ContainsFunc(i.Keys[:at], func(before IndexKey) bool { return before.Path == key.Path })
		switch {
		case slices.Contains(strings.Split(key.Path, "."), ""):
			return boterr.Invalid(field+".path", "the path %q has an empty part", key.Path)
		case !utf8.ValidString(key.Path):
			return boterr.Invalid(field+".path", "the path %q is not UTF-8", key.Path)
		case strings.ContainsRune(key.Path, 0) || slices.ContainsFunc(strings.Split(key.Path, "."), isOperator):
			return boterr.Invalid(field+".path", "the path %q contains a NUL byte, or a part that begins with $", key.Path)
		case isSecond:
			return boterr.Invalid(field+".path", "the path %q appears twice", key.Path)
		case !slices.Contains(indexKinds, key.Kind):
			return boterr.Invalid(field+".kind", "%q is not a kind of key; the kinds are %q", key.Kind, indexKinds)
		case i.Unique && key.Kind.IsGeo():
			return boterr.New(boterr.Unsupported, field+".kind", "a geo index cannot be unique")
		case at > 0 && key.Kind.IsGeo() && (key.Kind == query.Geo2D || i.Keys[0].Kind == query.Geo2D):
			return boterr.Invalid(field+".kind", "a key of the kind %q must be the first and only geo key of an index", query.Geo2D)
		}
	}
	return nil
}

// isOperator reports whether a part of a path begins with $, and is not a field of a reference to a document,
// such as $id.
func isOperator(part string) bool {
	return strings.HasPrefix(part, "$") && part != "$id" && part != "$ref" && part != "$db"
}

var indexKinds = []query.IndexKind{query.Ascending, query.Descending, query.Geo2D, query.Geo2DSphere}
