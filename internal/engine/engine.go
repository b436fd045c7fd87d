// Package engine implements the operations of package store for databases. It plans which index serves a filter,
// creates the keys of documents, and evaluates reads and writes. A database provides a collection's content as a
// [Source] and accepts changes as a [Transaction].
//
//   - A store returns a [Collection], which implements store.Collection over the store's [Port].
//   - A database that holds keys as bytes gets the keys of a document from [Schema.Changes].
package engine

import (
	"context"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
	"github.com/botctx/go-sdk/store"
)

// Schema is the name and the indexes of a collection. It is immutable; a change creates another Schema.
type Schema struct {
	// Name is the name of the collection, for errors.
	Name    string
	Indexes []Index
}

// Placed is a document with its position in the order of insertion.
type Placed struct {
	Document document.Object
	Position uint64
}

// Visitor receives documents in sequence.
type Visitor interface {
	// Visit receives a document. It returns false to end the search.
	Visit(position uint64, o document.Object) bool
}

// Yield adapts a function to a Visitor.
type Yield func(position uint64, o document.Object) bool

// Visit implements Visitor.
func (y Yield) Visit(position uint64, o document.Object) bool { return y(position, o) }

// Batch is a list of up to query.BatchSize documents in the order of insertion.
type Batch struct {
	Documents []document.Object
	// Used has a bit for each element of Documents that is not empty.
	Used uint32
	// From is the position of the first element. The position of each further element is one higher.
	From uint64
}

// BatchVisitor is a Visitor that also receives batches, from a Source that has them.
type BatchVisitor interface {
	Visitor

	// VisitBatch receives a batch. It returns false to end the search.
	VisitBatch(b *Batch) bool
}

// Range is a part of an index.
type Range struct {
	// Index is the position of the index in Schema.Indexes.
	Index int
	// Keys are the ranges to read, in ascending order.
	Keys []query.KeyRange
	// OneKey is true if Keys is a single complete key.
	OneKey bool
	// Sorted requests the order of keys, and the order of insertion among equal keys. Backward requests the opposite
	// order of keys. Without either, documents come once each, in the order of insertion.
	Sorted, Backward bool
	// Exact is true if all documents in the part match, and at most Hint documents are needed.
	Exact bool
	// Hint is the number of documents that are probably needed, or 0 for all.
	Hint int64
}

// Source is the content of a collection at one moment. It must not be used by several goroutines at once.
type Source interface {
	// Close releases the source.
	Close()
	// Len returns the number of documents.
	Len() (int64, error)
	// ByID returns the document with an _id.
	ByID(id any) (found Placed, exists bool, err error)
	// ByIDs visits the documents whose _ids have these keys, once each, in the order of insertion.
	ByIDs(keys []query.KeyRange, to Visitor) error
	// All visits all documents in the order of insertion. Hint is as in Range.
	All(hint int64, to Visitor) error
	// Range visits the documents of a part of an index.
	Range(r Range, to Visitor) error
	// CountRange returns the number of entries in a part of an index.
	CountRange(r Range) (int64, error)
	// Cells visits the documents with a cell, in a geo key of an index, whose CellKey is in one of the ranges. It
	// visits each once, in the order of insertion.
	Cells(index, key int, ranges []query.KeyRange, to Visitor) error
	// Around returns up to n cells of entries from a cell upwards, and up to n cells below it.
	Around(index, key int, cell uint64, n int) ([]uint64, error)
}

// KeySource is a Source that finds the documents of a key faster than a plan can be made.
type KeySource interface {
	Source

	// IsEmpty reports whether there are no documents.
	IsEmpty() bool
	// ByKey returns up to limit documents (0 means all) with one whole key of an index, in the order of
	// insertion. isKey is false if Index.AppendKeyOf reports false for the filter.
	ByKey(index int, filter *query.Filter, limit int64) (found []document.Object, isKey bool)
}

// View is the schema and content of a collection at one moment.
type View struct {
	*Schema
	Source
}

// Transaction changes a collection.
type Transaction interface {
	// View returns the content before the transaction.
	View() View
	// Insert adds a document at the end.
	Insert(o document.Object) error
	// Replace replaces a document by its next version, which has the same _id.
	Replace(position uint64, before, after document.Object) error
	// Remove removes a document.
	Remove(position uint64, o document.Object) error
}

// Recorder is a Transaction that only records changes, for another one to make them. Its View never shows them, so a
// write may record a document while it still searches, and need not hold all documents that it finds.
type Recorder interface {
	Transaction

	// IsRecorder marks the type.
	IsRecorder()
}

// Port is the database's side of a Collection.
type Port interface {
	// Read returns the content to read. The caller closes it.
	Read(ctx context.Context) (View, error)
	// Again is called with a closed View after a read of it failed. It returns the View for another attempt, or
	// the error for the caller.
	Again(ctx context.Context, failed View, err error) (View, error)
	// Write carries out a write in a transaction, all or nothing. It may run op several times; only the last run
	// counts.
	Write(ctx context.Context, op Op) error
	// EnsureIndex creates an index, unless Schema.Existing finds it.
	EnsureIndex(ctx context.Context, index store.Index) error
	// Now returns the time of the store's clock.
	Now(ctx context.Context) (time.Time, error)
}

// CheckEnded returns an error with the code Canceled if ctx has ended.
func CheckEnded(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	return boterr.New(boterr.Canceled, "", "the context ended: %w", context.Cause(ctx))
}

// EmptyView returns the view of a collection that does not exist.
func EmptyView(name string) View { return View{Schema: &Schema{Name: name}, Source: empty{}} }

type empty struct{}

var _ Source = empty{}

func (empty) Close()                                          {}
func (empty) Len() (int64, error)                             { return 0, nil }
func (empty) ByID(any) (Placed, bool, error)                  { return Placed{}, false, nil }
func (empty) ByIDs([]query.KeyRange, Visitor) error           { return nil }
func (empty) All(int64, Visitor) error                        { return nil }
func (empty) Range(Range, Visitor) error                      { return nil }
func (empty) CountRange(Range) (int64, error)                 { return 0, nil }
func (empty) Cells(int, int, []query.KeyRange, Visitor) error { return nil }
func (empty) Around(int, int, uint64, int) ([]uint64, error)  { return nil, nil }
