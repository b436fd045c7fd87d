package memstore_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/query"
)

func TestBudget_KeysOfIndexes(t *testing.T) {
	t.Parallel()
	c := memstore.New().Collection("c")
	require.NoError(t, c.EnsureIndex(t.Context(), store.Index{Keys: []store.IndexKey{
		{Path: "text", Kind: query.Ascending}, {Path: "tags", Kind: query.Ascending},
	}}))
	text := strings.Repeat("x", 50_000)
	for i := range 20 {
		require.NoError(t, c.Insert(t.Context(), document.O("_id", i, "text", text)))
	}
	tags := make([]any, 1_000)
	for i := range tags {
		tags[i] = i
	}
	set := change(t, "$set", document.O("tags", document.A(tags...)))
	result, err := c.Update(t.Context(), filter(t, "_id", 3), set, store.UpdateOptions{})
	require.NoError(t, err)
	require.EqualValues(t, 1, result.Modified)
	_, err = c.Update(t.Context(), nil, set, store.UpdateOptions{Multi: true})
	require.ErrorIs(t, err, boterr.ResourceExhausted, "1 GB of keys")
	count, err := c.Count(t.Context(), filter(t, "tags", 5))
	require.NoError(t, err)
	require.EqualValues(t, 1, count, "nothing is half done")
}

func TestBudget_ManyDocumentsPass(t *testing.T) {
	t.Parallel()
	many := rounds.Of(t, 20_000, 200_000)
	c := memstore.New().Collection("c")
	for _, path := range []string{"name", "at", "tags"} {
		require.NoError(t, c.EnsureIndex(t.Context(), store.Index{Keys: []store.IndexKey{{Path: path, Kind: query.Ascending}}}))
	}
	documents := make([]document.Object, many)
	for i := range documents {
		documents[i] = document.O("_id", i, "name", fmt.Sprint("name ", i), "at", i, "tags", document.A("a", i))
	}
	require.NoError(t, c.Insert(t.Context(), documents...))
	for _, path := range []string{"name", "tags"} {
		values, err := c.Distinct(t.Context(), path, nil)
		require.NoError(t, err)
		require.GreaterOrEqual(t, len(values), many)
	}
}

func TestBudget_DistinctValues(t *testing.T) {
	t.Parallel()
	rounds.OnlyThorough(t)
	c := memstore.New().Collection("c")
	items := make([]any, 100_000)
	for i := range items {
		items[i] = i
	}
	require.NoError(t, c.Insert(t.Context(), document.O("_id", 1, "l", document.A(items...))))
	values, err := c.Distinct(t.Context(), "l", nil)
	require.NoError(t, err)
	require.Len(t, values, len(items))
	for id := range 20 {
		part := make([]any, 0, len(items))
		for i := range items {
			part = append(part, id*len(items)+i)
		}
		require.NoError(t, c.Insert(t.Context(), document.O("_id", id+2, "l", document.A(part...))))
	}
	_, err = c.Distinct(t.Context(), "l", nil)
	require.ErrorIs(t, err, boterr.ResourceExhausted, "two million values")
}

// star is a ring of so many corners around a point.
func star(corners int, radius float64) document.Array {
	ring := make([]any, 0, corners+1)
	for i := range corners {
		angle := 2 * math.Pi * float64(i) / float64(corners)
		ring = append(ring, document.A(10+radius*math.Cos(angle), 10+radius*math.Sin(angle)))
	}
	return document.A(append(ring, ring[0])...)
}

func TestBudget_Places(t *testing.T) {
	t.Parallel()
	rounds.OnlyThorough(t)
	c := memstore.New().Collection("c")
	shape := document.O("type", "Polygon", "coordinates", document.A(star(1_000, 5)))
	for i := range 20 {
		require.NoError(t, c.Insert(t.Context(), document.O("_id", i, "a", shape)))
	}
	intersects := document.O("$geoIntersects", document.O("$geometry", document.O("type", "Polygon", "coordinates", document.A(star(8, 4)))))
	found, err := c.Find(t.Context(), filter(t, "a", intersects), store.FindOptions{})
	require.NoError(t, err)
	require.Len(t, found, 20)
	conditions := slices.Repeat([]any{document.O("a", intersects)}, 100)
	_, err = c.Find(t.Context(), filter(t, "$and", document.A(conditions...)), store.FindOptions{})
	require.ErrorIs(t, err, boterr.ResourceExhausted)
}

func TestBudget_NearManyPlacesPasses(t *testing.T) {
	t.Parallel()
	c := memstore.New().Collection("c")
	documents := make([]document.Object, rounds.Of(t, 10_000, 100_000))
	for i := range documents {
		documents[i] = document.O("_id", i, "a", document.O("type", "Point", "coordinates", document.A(float64(i%180), float64(i%90))))
	}
	require.NoError(t, c.Insert(t.Context(), documents...))
	near, err := query.CompileGeoNear(document.O(
		"near", document.O("type", "Point", "coordinates", document.A(1, 2)), "key", "a", "spherical", true))
	require.NoError(t, err)
	found, err := c.GeoNear(t.Context(), near)
	require.NoError(t, err)
	require.Len(t, found, len(documents))
}
