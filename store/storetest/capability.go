package storetest

import (
	"math"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// Capability is something that a store may lack.
type Capability string

// The capabilities. A store that lacks one answers Unsupported where it is used.
const (
	// GeoQueries is Collection.GeoNear.
	GeoQueries Capability = "GeoQueries"
	// GeoFilters is $near, $nearSphere, $geoWithin and $geoIntersects in a filter.
	GeoFilters Capability = "GeoFilters"
	// Expressions is $expr in a filter.
	Expressions Capability = "Expressions"
	// NestedArrays is a document with an array that is an element of an array.
	NestedArrays Capability = "NestedArrays"
	// Infinity is a document with a number that is infinite.
	Infinity Capability = "Infinity"
	// GeoIndexes is EnsureIndex with a key of kind Geo2D or Geo2DSphere.
	GeoIndexes Capability = "GeoIndexes"
	// UniqueIndexes is EnsureIndex with Unique.
	UniqueIndexes Capability = "UniqueIndexes"
	// SparseIndexes is EnsureIndex with Sparse.
	SparseIndexes Capability = "SparseIndexes"
	// ArrayFilters is a path with "$[name]" in an update.
	ArrayFilters Capability = "ArrayFilters"
	// UpdateSort is UpdateOptions.Sort.
	UpdateSort Capability = "UpdateSort"
)

// uses tells how each capability is used.
var uses = map[Capability]func(*trial) error{
	GeoQueries: func(t *trial) error {
		query, err := query.CompileGeoNear(document.O("near", document.A(0, 0), "key", "at"))
		require.NoError(t, err)
		_, err = t.GeoNear(t.ctx(), query)
		return err
	},
	GeoFilters: func(t *trial) error {
		box := document.O("$box", document.A(document.A(1, 0), document.A(2, 0)))
		_, err := t.Find(t.ctx(), t.filter("at", document.O("$geoWithin", box)), store.FindOptions{})
		return err
	},
	Expressions: func(t *trial) error {
		_, err := t.Find(t.ctx(), t.expr("$gt", "$a", 1), store.FindOptions{})
		return err
	},
	NestedArrays: func(t *trial) error {
		return t.Insert(t.ctx(), document.O("_id", 2, "a", document.A(document.A(1))))
	},
	Infinity: func(t *trial) error {
		return t.Insert(t.ctx(), document.O("_id", 2, "a", math.Inf(1)))
	},
	GeoIndexes: func(t *trial) error {
		return t.EnsureIndex(t.ctx(), store.Index{Keys: []store.IndexKey{{Path: "at", Kind: query.Geo2DSphere}}})
	},
	UniqueIndexes: func(t *trial) error {
		return t.EnsureIndex(t.ctx(), store.Index{Keys: ascending("a"), Unique: true})
	},
	SparseIndexes: func(t *trial) error {
		return t.EnsureIndex(t.ctx(), store.Index{Keys: ascending("a"), Sparse: true})
	},
	ArrayFilters: func(t *trial) error {
		u, err := query.CompileUpdate(document.O("$set", document.O("a.$[x]", 1)), document.O("x", 0))
		require.NoError(t, err)
		_, err = t.Update(t.ctx(), nil, query.Change{Update: u}, store.UpdateOptions{})
		return err
	},
	UpdateSort: func(t *trial) error {
		_, err := t.Update(t.ctx(), nil, t.change("$set", document.O("a", 0)), store.UpdateOptions{Sort: t.order("a", 1)})
		return err
	},
}

// unsupportedRule is the rule for a capability that a store declares to lack.
func unsupportedRule(lack Capability) Rule {
	return Rule{
		Name: "LackOf" + string(lack) + "IsUnsupported",
		Text: "what a store declares to lack it answers with Unsupported, and changes nothing",
		check: func(t *trial) {
			use, ok := uses[lack]
			require.True(t, ok, "%q is no capability", lack)
			t.insert(document.O("_id", 1, "a", document.A(0)))
			t.requireCode(boterr.Unsupported, use(t), "using %s", lack)
			t.requireHolds(document.O("_id", 1, "a", document.A(0)))
		},
	}
}

// ascending returns the keys of an index on paths.
func ascending(paths ...string) []store.IndexKey {
	keys := make([]store.IndexKey, 0, len(paths))
	for _, path := range paths {
		keys = append(keys, store.IndexKey{Path: path, Kind: query.Ascending})
	}
	return keys
}
