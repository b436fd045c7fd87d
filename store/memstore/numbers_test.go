package memstore_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/query"
)

func TestNumbers_EqualAreOneKey(t *testing.T) {
	t.Parallel()
	c := memstore.New().Collection("numbers")
	require.NoError(t, c.EnsureIndex(t.Context(), store.Index{
		Keys: []store.IndexKey{{Path: "u", Kind: query.Ascending}}, Unique: true,
	}))
	require.NoError(t, c.Insert(t.Context(), document.O("_id", 1, "u", 5, "n", 1), document.O("_id", math.NaN(), "u", math.NaN(), "n", 1.0)))
	require.ErrorIs(t, c.Insert(t.Context(), document.O("_id", 1.0, "u", 6)), boterr.AlreadyExists)
	require.ErrorIs(t, c.Insert(t.Context(), document.O("_id", 2, "u", 5.0)), boterr.AlreadyExists)
	require.ErrorIs(t, c.Insert(t.Context(), document.O("_id", math.NaN(), "u", 7)), boterr.AlreadyExists)
	require.ErrorIs(t, c.Insert(t.Context(), document.O("_id", 3, "u", math.NaN())), boterr.AlreadyExists)
	require.NoError(t, c.Insert(t.Context(), document.O("_id", int64(1)<<53+1, "u", int64(1)<<53+1, "n", math.Inf(1))))
	require.NoError(t, c.Insert(t.Context(), document.O("_id", float64(int64(1)<<53), "u", float64(int64(1)<<53), "n", math.Copysign(0, -1))))
	require.NoError(t, c.Insert(t.Context(), document.O("_id", 9, "u", 9, "n", 0)))

	values, err := c.Distinct(t.Context(), "n", nil)
	require.NoError(t, err)
	require.Equal(t, []any{int64(1), math.Inf(1), math.Copysign(0, -1)}, values)
	for _, value := range []any{1.0, int64(1)} {
		for _, path := range []string{"_id", "n"} {
			filter, err := query.CompileFilter(document.O(path, value))
			require.NoError(t, err)
			found, err := c.Find(t.Context(), filter, store.FindOptions{})
			require.NoError(t, err)
			require.Len(t, found, map[string]int{"_id": 1, "n": 2}[path], "%s %v", path, value)
		}
	}
	filter, err := query.CompileFilter(document.O("u", document.O("$gte", 5.0, "$lt", int64(1)<<53+1)))
	require.NoError(t, err)
	count, err := c.Count(t.Context(), filter)
	require.NoError(t, err)
	require.Equal(t, int64(3), count, "by the index, too, NaN is below no number and 2^53 is not 2^53 + 1")
}
