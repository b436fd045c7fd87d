// Package query is the part of the query engine that databases need: compiled filters, updates, sorts,
// projections and geo searches in MongoDB's language.
//
//   - To query a store, compile a filter with [CompileFilter], and a sort with [CompileSort].
//   - To change documents, compile an update with [CompileUpdate], and use it in a [Change].
//   - To evaluate documents in your own store, use an [Evaluation], which bounds the work of a call.
//
// Invalid or unsupported expressions are refused by name when they are compiled, before a database sees them.
// A database that understands the language itself can use the sources.
//
// The types are aliases. Their methods, with documentation, are in the engine, package internal/query.
package query

import (
	"context"

	"github.com/botctx/go-sdk/document"
	engine "github.com/botctx/go-sdk/internal/query"
)

type (
	// Filter is a compiled query document. A nil *Filter matches every document. Source returns the document.
	// Near returns the search for its $near. Equality returns the value that a field must have. Match reports
	// whether a document matches. It is safe for concurrent use.
	Filter = engine.Filter

	// Update is a compiled update: operators such as $set, or a replacement. Source returns the update document.
	// Stores refuse the zero Update.
	Update = engine.Update

	// Change is a change of a document: the caller's Update, and what the layer above the store adds. Now is the
	// time that $currentDate writes. An update that changes one of the Fixed fields fails, and a replacement keeps
	// the Preserved fields that it lacks. Stamps are renewed if the update changes another field. OnInsert are
	// fields of a document that an upsert inserts.
	Change = engine.Change

	// Stamps are the fields that identify the version of a document. Each change gives the fields of Set their new
	// values, and adds one to the fields named in Increment.
	Stamps = engine.Stamps

	// Sort is a compiled sort. A nil *Sort and the zero Sort keep the order of insertion. Source returns the
	// document. Keys returns the paths.
	Sort = engine.Sort

	// Projection selects the fields of a document for a reader. A nil *Projection gives whole documents.
	Projection = engine.Projection

	// GeoNear is a search for the documents nearest to a point. Key is the field with the places, Kinds are the
	// kinds of index that can serve it, Filter selects the documents, and Measure returns the distance of a
	// document.
	GeoNear = engine.GeoNear

	// GeoResult is a result of a GeoNear: the Document, with what the query adds to it, and its Distance in metres,
	// radians or the unit of the coordinates.
	GeoResult = engine.GeoResult

	// Evaluation is the budget of a store's call. Check, Change, Insert, Project and Sort evaluate within it,
	// and fail with ResourceExhausted once it is spent. It must not be used by several goroutines at once.
	Evaluation = engine.Evaluation

	// IndexKind is the kind of an index's key.
	IndexKind = engine.IndexKind
)

// The kinds of keys.
const (
	// Ascending orders values as a sort does; it serves equality, ranges and sorts.
	Ascending = engine.Ascending
	// Descending is the reverse of Ascending.
	Descending = engine.Descending
	// Geo2D indexes legacy pairs on a plane, or arrays of them. Geo2DSphere indexes GeoJSON and pairs on the
	// globe. Documents with null, an empty array or no value at the path are not in the index, and neither are
	// other scalars for Geo2D. Any other value is InvalidArgument.
	Geo2D       = engine.Geo2D
	Geo2DSphere = engine.Geo2DSphere
)

// ErrNoGeoIndex is the cause of the error of a GeoNear without a field, on a collection without a geo index.
var ErrNoGeoIndex = engine.ErrNoGeoIndex

// CompileFilter compiles a query document. For an unknown or unsupported operator it returns an error that
// names it; its Field is a path in the document.
func CompileFilter(source document.Object) (*Filter, error) { return engine.CompileFilter(source) }

// And returns the filter that matches if all filters match.
func And(filters ...*Filter) *Filter { return engine.And(filters...) }

// CompileUpdate compiles an update and its array filters.
func CompileUpdate(source document.Object, arrayFilters ...document.Object) (*Update, error) {
	return engine.CompileUpdate(source, arrayFilters...)
}

// CompileSort compiles a sort, such as {"age": -1, "name": 1}.
func CompileSort(source document.Object) (*Sort, error) { return engine.CompileSort(source) }

// CompileProjection compiles a projection, such as {"name": 1}.
func CompileProjection(source document.Object) (*Projection, error) {
	return engine.CompileProjection(source)
}

// CompileGeoNear compiles a search in the syntax of MongoDB's $geoNear.
func CompileGeoNear(source document.Object) (*GeoNear, error) { return engine.CompileGeoNear(source) }

// NewEvaluation returns the evaluation for a call with the context ctx.
func NewEvaluation(ctx context.Context) *Evaluation { return engine.NewEvaluation(ctx) }

// Values returns the values at a dotted path as Distinct counts them: an array counts as its elements, and a
// missing field gives no value.
func Values(o document.Object, path string) []any { return engine.Values(o, path) }
