package engine

import (
	"bytes"
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
	"github.com/botctx/go-sdk/store"
)

func TestTopItems_KeepTheFirst(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	type item struct{ rank, number int }
	compare := func(a, b item) int { return a.rank - b.rank }
	for range 500 {
		items := make([]item, random.IntN(40))
		l := topItems[item]{compare: compare, size: random.Int64N(45)}
		for i := range items {
			items[i] = item{rank: random.IntN(6), number: i}
			l.add(items[i])
		}
		slices.SortStableFunc(items, compare)
		if l.size > 0 {
			items = items[:min(int64(len(items)), l.size)]
		}
		require.Equal(t, items, l.sorted())
	}
}

// Cells are looked up by binary search, because a document may have a million.
func TestChanges_CellsAreInOrder(t *testing.T) {
	t.Parallel()
	s := (&Schema{}).WithIndex(NewIndex("c", store.Index{Keys: []store.IndexKey{{Path: "at", Kind: query.Geo2DSphere}}}))
	at := func(longitudes ...any) document.Object {
		points := make([]any, len(longitudes))
		for i, longitude := range longitudes {
			points[i] = document.A(longitude, 0)
		}
		return document.O("at", document.O("type", "MultiPoint", "coordinates", document.ArrayOf(points)))
	}
	inOrder := func(a, b Key) int { return bytes.Compare(a.Key, b.Key) }
	changes, err := s.Changes(document.Object{}, at(30, 10, 20, 10))
	require.NoError(t, err)
	require.Len(t, changes.Add, 3)
	require.True(t, slices.IsSortedFunc(changes.Add, inOrder))
	changes, err = s.Changes(at(30, 10, 20), at(20, 5, 30))
	require.NoError(t, err)
	require.Len(t, changes.Add, 1)
	require.Len(t, changes.Remove, 1)
}

// again is a source in which each search by cells finds the same document many times, as the rings of a search by
// distance may.
type again struct {
	empty

	visits int
	onTen  func()
}

func (a *again) Cells(_, _ int, _ []query.KeyRange, to Visitor) error {
	for range 100_000 {
		if a.visits++; a.visits == 10 {
			a.onTen()
		}
		if !to.Visit(0, document.O("at", document.A(90, 0))) {
			break
		}
	}
	return nil
}

func TestNear_EndsAmongKnownDocuments(t *testing.T) {
	t.Parallel()
	near, err := query.CompileGeoNear(document.O("near", document.A(0, 0), "key", "at"))
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	source := &again{onTen: cancel}
	s := (&Schema{}).WithIndex(NewIndex("c", store.Index{Keys: []store.IndexKey{{Path: "at", Kind: query.Geo2D}}}))
	_, err = View{Schema: s, Source: source}.near(query.NewEvaluation(ctx), near)
	require.ErrorIs(t, err, boterr.Canceled)
	require.Less(t, source.visits, 2*checkEvery)
}
