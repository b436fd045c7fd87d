package memstore_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/query"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
)

func TestFind_ByFieldsFindsWhatTheirQueryDocumentFinds(t *testing.T) {
	t.Parallel()
	values := []any{nil, true, int64(1), 1.0, 1.5, "", "a", "a\x00b", "\xc3\xbf", int64(1) << 60}
	arrays := append([]any{document.A("a", 1), document.A()}, values...)
	for name, c := range map[string]struct {
		index  store.Index
		values []any
	}{
		"no index":       {store.Index{}, values},
		"of both":        {indexOf(false, query.Ascending, query.Ascending), values},
		"the other way":  {indexOf(false, query.Ascending, query.Descending), values},
		"sparse":         {indexOf(true, query.Descending, query.Ascending), values},
		"of one of them": {indexOf(false, query.Descending), values},
		"with arrays":    {indexOf(false, query.Ascending), arrays},
		"sparse of one":  {indexOf(true, query.Ascending), values},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			compareFields(t, c.index, c.values)
		})
	}
}

// indexOf returns an index of the fields a and b, or of a alone.
func indexOf(isSparse bool, kinds ...query.IndexKind) store.Index {
	index := store.Index{Sparse: isSparse}
	for i, kind := range kinds {
		index.Keys = append(index.Keys, store.IndexKey{Path: []string{"a", "b"}[i], Kind: kind})
	}
	return index
}

// compareFields fills a collection, and looks for all pairs of values in both ways.
func compareFields(t *testing.T, index store.Index, values []any) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	things := memstore.New().Collection("things")
	if len(index.Keys) > 0 {
		require.NoError(t, things.EnsureIndex(t.Context(), index))
	}
	for i := range 300 {
		o := document.O("_id", i)
		for _, field := range []string{"a", "b"} {
			if at := random.IntN(len(values) + 1); at < len(values) {
				o = o.With(field, values[at])
			}
		}
		require.NoError(t, things.Insert(t.Context(), o))
	}
	for _, a := range values {
		if _, isArray := a.(document.Array); isArray {
			continue // No scalar.
		}
		requireSame(t, things, query.FieldsEqual(query.FieldValue{Name: "a", Value: a}), document.O("a", a))
		for _, b := range values {
			if _, isArray := b.(document.Array); !isArray {
				both := query.FieldsEqual(query.FieldValue{Name: "a", Value: a}, query.FieldValue{Name: "b", Value: b})
				requireSame(t, things, both, document.O("a", a, "b", b))
			}
		}
	}
}

// requireSame checks that a filter finds what a query document finds.
func requireSame(t *testing.T, things store.Collection, filter *query.Filter, source document.Object) {
	t.Helper()
	compiled, err := query.CompileFilter(source)
	require.NoError(t, err)
	wanted, err := things.Find(t.Context(), compiled, store.FindOptions{})
	require.NoError(t, err)
	found, err := things.Find(t.Context(), filter, store.FindOptions{})
	require.NoError(t, err)
	require.Equal(t, texts(wanted), texts(found), "%s", source)
	count, err := things.Count(t.Context(), filter)
	require.NoError(t, err)
	require.EqualValues(t, len(wanted), count, "%s", source)
}
