package mongotest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/query"
	"github.com/botctx/go-sdk/store"
)

func TestUpdate_HandsKeysOn(t *testing.T) {
	t.Parallel()
	c := newStore(t).Collection("own")
	require.NoError(t, c.EnsureIndex(t.Context(),
		store.Index{Keys: []store.IndexKey{{Path: "n", Kind: query.Ascending}}, Unique: true}))
	const count = 40
	documents := make([]document.Object, 0, count)
	for i := range count {
		documents = append(documents, document.O("_id", i, "n", i+1))
	}
	require.NoError(t, c.Insert(t.Context(), documents...))
	down, err := query.CompileUpdate(document.O("$inc", document.O("n", -1)))
	require.NoError(t, err)
	result, err := c.Update(t.Context(), nil, query.Change{Update: down}, store.UpdateOptions{Multi: true})
	require.NoError(t, err)
	require.Equal(t, store.UpdateResult{Matched: count, Modified: count}, result)
	found, err := c.Find(t.Context(), nil, store.FindOptions{})
	require.NoError(t, err)
	for i, o := range found {
		require.Equal(t, i, document.Get(o, "n", -1))
	}
}

func TestUpdate_ForeignFieldOrder(t *testing.T) {
	t.Parallel()
	database := openStore(t)
	_, err := database.Database().Collection("shared").InsertOne(t.Context(), map[string]int{"_id": 1})
	require.NoError(t, err)
	c := database.Collection("shared")
	for _, field := range []string{"a", "b"} {
		_, err = c.Update(t.Context(), filterOf(t, document.O("_id", 1)),
			query.Change{Update: updateOf(t, document.O("$inc", document.O(field, 1)))}, store.UpdateOptions{})
		require.NoError(t, err)
	}
	found, err := c.Find(t.Context(), nil, store.FindOptions{})
	require.NoError(t, err)
	require.Equal(t, []string{"_id", "a", "b"}, found[0].Keys())
}

func TestFindAndUpdate_ManyTakers(t *testing.T) {
	t.Parallel()
	c := newStore(t).Collection("own")
	const count, takers = 60, 8
	for i := range count {
		require.NoError(t, c.Insert(t.Context(), document.O("_id", i, "taken", false)))
	}
	free := filterOf(t, document.O("taken", false))
	take := query.Change{Update: updateOf(t, document.O("$set", document.O("taken", true)))}
	left := make(chan int64, takers)
	for range takers {
		go func() {
			for {
				result, err := c.FindAndModify(t.Context(), free, take, store.FindAndModifyOptions{})
				if err == nil && result.Matched {
					continue
				}
				count, failed := c.Count(t.Context(), free)
				if err != nil || failed != nil {
					count = -1
				}
				left <- count
				return
			}
		}()
	}
	for range takers {
		require.Zero(t, <-left)
	}
}

func updateOf(t *testing.T, source document.Object) *query.Update {
	t.Helper()
	update, err := query.CompileUpdate(source)
	require.NoError(t, err)
	return update
}

func TestNear_LimitCutsByInsertion(t *testing.T) {
	t.Parallel()
	c := newStore(t).Collection("own")
	err := c.EnsureIndex(t.Context(), store.Index{Keys: []store.IndexKey{{Path: "at", Kind: query.Geo2D}}})
	if isStandIn() {
		require.ErrorIs(t, err, boterr.Unsupported)
		return
	}
	require.NoError(t, err)
	for i := range 5 {
		require.NoError(t, c.Insert(t.Context(), document.O("_id", i, "at", document.A(1, 1))))
	}
	near, err := query.CompileGeoNear(document.O("near", document.A(0, 0), "limit", 2))
	require.NoError(t, err)
	found, err := c.GeoNear(t.Context(), near)
	require.NoError(t, err)
	require.Len(t, found, 2)
	for i, result := range found {
		require.Equal(t, i, document.Get(result.Document, "_id", -1))
	}
}
