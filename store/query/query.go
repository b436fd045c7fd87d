// Package query holds what a database needs to see of MongoDB's language: compiled filters, updates,
// sorts, projections and searches for places.
//
//   - To ask a store, compile a filter with [CompileFilter], and a sort with [CompileSort].
//   - To change documents, compile an update with [CompileUpdate], and give it in a [Change].
//   - To evaluate documents in a store of your own, use an [Evaluation], which bounds what a call may do.
//
// Whatever is not valid or not supported is refused by name when it is compiled, before any database sees
// it. A database that knows the language itself sends the sources on.
//
// The types are aliases. Their methods, with documentation, are in the engine, package internal/query.
package query

import (
	"context"

	"github.com/botctx/go-sdk/document"
	engine "github.com/botctx/go-sdk/internal/query"
)

type (
	// Filter is a compiled query document. A nil *Filter matches every document. Source returns the
	// document, Near the search of its $near, Equality the value that a field must have, and Match
	// reports whether a document matches. It is safe for concurrent use.
	Filter = engine.Filter

	// Update is a compiled update: operators such as $set, or a replacement. Source returns it as it was
	// written, with its array filters.
	Update = engine.Update

	// Change is a store's change of a document: the caller's Update, and the additions of the layer above,
	// such as Stamps.
	Change = engine.Change

	// Stamps are the fields of a document that tell its version.
	Stamps = engine.Stamps

	// Sort is a compiled sort. A nil *Sort keeps the order of insertion. Source returns the document, and
	// Keys the paths.
	Sort = engine.Sort

	// Projection selects the fields of a document for a reader. A nil *Projection gives whole documents.
	Projection = engine.Projection

	// GeoNear is a search for the documents nearest to a point. Key is the field that it looks in, Kinds are
	// the indexes that can serve it, Filter must match the documents, and Measure returns the distance of a
	// document.
	GeoNear = engine.GeoNear

	// GeoResult is a document that a GeoNear found, with its distance.
	GeoResult = engine.GeoResult

	// Evaluation is the budget of one call of a store. Check, Change, Insert, Project and Sort evaluate
	// within it, and fail with ResourceExhausted when it is spent. It serves one goroutine.
	Evaluation = engine.Evaluation

	// IndexKind is the kind of an index's key.
	IndexKind = engine.IndexKind
)

// The kinds of keys.
const (
	// Ascending orders values as a sort does; it serves equality, ranges and sorts.
	Ascending = engine.Ascending
	// Descending is Ascending the other way round.
	Descending = engine.Descending
	// Geo2D holds legacy pairs on a plane, or arrays of them, Geo2DSphere GeoJSON and pairs on the globe.
	// A document whose value at the path is something else is InvalidArgument; null, an empty array, a
	// missing field and, for Geo2D, other scalars are left out.
	Geo2D       = engine.Geo2D
	Geo2DSphere = engine.Geo2DSphere
)

// ErrNoGeoIndex is the cause of the error of a GeoNear that names no field, of a collection without a geo
// index.
var ErrNoGeoIndex = engine.ErrNoGeoIndex

// CompileFilter compiles a query document. An operator that is unknown or not supported is an error that
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

// NewEvaluation returns the evaluation of a call whose context is ctx.
func NewEvaluation(ctx context.Context) *Evaluation { return engine.NewEvaluation(ctx) }

// Values returns the values at a dotted path as distinct values see them: an array counts as its
// elements, and a missing field gives none.
func Values(o document.Object, path string) []any { return engine.Values(o, path) }
