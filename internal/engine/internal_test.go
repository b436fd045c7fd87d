package engine

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
	"github.com/botctx/go-sdk/store"
)

// recorder is the Port of a collection of three documents, and the transaction of its writes. held is the largest
// number of documents that a write had read and not yet recorded.
type recorder struct {
	Port
	Transaction
	Source

	read, recorded, held int
}

func (r *recorder) Write(ctx context.Context, op Op) error {
	return op.Run(query.NewEvaluation(ctx), r)
}

func (r *recorder) View() View { return View{Schema: &Schema{}, Source: r} }

func (*recorder) IsRecorder() {}

func (r *recorder) All(_ int64, to Visitor) error {
	for r.read < 3 {
		r.read++
		if !to.Visit(uint64(r.read), document.O("_id", r.read)) {
			return nil
		}
		r.held = max(r.held, r.read-r.recorded)
	}
	return nil
}

func (r *recorder) Remove(uint64, document.Object) error {
	r.recorded++
	return nil
}

func (r *recorder) Replace(uint64, document.Object, document.Object) error {
	r.recorded++
	if r.recorded == 2 {
		return errFull
	}
	return nil
}

var errFull = errors.New("full")

// A write to many documents must not hold all of them in memory if its transaction only records.
func TestRecorder_GetsDocumentsOneByOne(t *testing.T) {
	t.Parallel()
	r := &recorder{}
	removed, err := (&Collection{Port: r}).Delete(t.Context(), nil, store.DeleteOptions{Multi: true})
	require.NoError(t, err)
	require.EqualValues(t, 3, removed)
	require.Zero(t, r.held)

	r = &recorder{}
	update, err := query.CompileUpdate(document.O("$set", document.O("n", 1)))
	require.NoError(t, err)
	_, err = (&Collection{Port: r}).Update(t.Context(), nil, query.Change{Update: update}, store.UpdateOptions{Multi: true})
	require.ErrorIs(t, err, errFull)
	require.Equal(t, 2, r.read)
}

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
		a.visits++
		if a.visits == 10 {
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

// cellsRead is an empty source that records the ranges of cells.
type cellsRead struct {
	empty

	ranges [][]query.KeyRange
}

func (c *cellsRead) Cells(_, _ int, ranges []query.KeyRange, _ Visitor) error {
	c.ranges = append(c.ranges, ranges)
	return nil
}

func TestNear_ReadsEachCellOnce(t *testing.T) {
	t.Parallel()
	for kind, point := range map[query.IndexKind]any{
		query.Geo2D: document.A(3, 4), query.Geo2DSphere: document.O("type", "Point", "coordinates", document.A(3, 4)),
	} {
		near, err := query.CompileGeoNear(document.O("near", point, "key", "at"))
		require.NoError(t, err)
		source := &cellsRead{}
		s := (&Schema{}).WithIndex(NewIndex("c", store.Index{Keys: []store.IndexKey{{Path: "at", Kind: kind}}}))
		_, err = View{Schema: s, Source: source}.near(query.NewEvaluation(t.Context()), near)
		require.NoError(t, err)
		require.Greater(t, len(source.ranges), 1)
		var known []query.KeyRange
		for _, ranges := range source.ranges {
			require.Empty(t, query.CommonRanges(known, ranges))
			_, known = query.NewRanges(ranges, known)
		}
	}
}

// The changes of a few elements must be the same as the difference of all keys.
func TestChanges_FewElements(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 6))
	values := []any{1, 1.0, 2, "a", nil, document.A(), document.A(1), document.O("x", 1), true, "b", 2.5}
	list := func(most int) document.Array {
		items := make([]any, random.IntN(most))
		for i := range items {
			items[i] = values[random.IntN(len(values))]
		}
		return document.A(items...)
	}
	several := 0
	for _, kind := range []query.IndexKind{query.Ascending, query.Descending} {
		x := NewIndex("c", store.Index{Keys: []store.IndexKey{{Path: "o.l", Kind: kind}}})
		x.MultiKey = true
		s := (&Schema{}).WithIndex(x)
		for range 3_000 {
			items := list(12).Items()
			from := random.IntN(len(items) + 1)
			to := from + random.IntN(len(items)+1-from)
			changed := slices.Concat(items[:from], list(4).Items(), items[to:])
			before := document.O("o", document.O("l", document.A(items...)))
			after := document.O("o", document.O("l", document.A(changed...)))
			changes, err := s.ChangesIn(0, before, after)
			require.NoError(t, err)
			old, err := x.KeysOf(before)
			require.NoError(t, err)
			next, err := x.KeysOf(after)
			require.NoError(t, err)
			require.Equal(t, without(old, next), texts(changes.Remove), "%s %s", before, after)
			require.Equal(t, without(next, old), texts(changes.Add), "%s %s", before, after)
			if _, _, isFew := x.keysOfFew(before, after); isFew {
				several++
			}
		}
	}
	require.Greater(t, several, 3_000)
}

func TestChanges_TooManyKeys(t *testing.T) {
	t.Parallel()
	all := make([]any, maxKeys+1)
	for i := range all {
		all[i] = document.O("at", document.O("type", "Point", "coordinates", document.A(float64(i)/1000, 0)))
	}
	for _, kind := range []query.IndexKind{query.Ascending, query.Geo2DSphere} {
		schema := (&Schema{}).WithIndex(NewIndex("c", store.Index{Keys: []store.IndexKey{{Path: "n.at", Kind: kind}}}))
		full, tooFull := document.O("n", document.A(all[1:]...)), document.O("n", document.A(all...))
		changes, err := schema.Changes(document.Object{}, full)
		require.NoError(t, err)
		require.Len(t, changes.Add, maxKeys)
		_, err = cmp.Or(changes.Schema, schema).Changes(full, tooFull)
		require.ErrorIs(t, err, boterr.InvalidArgument)
		require.ErrorContains(t, err, "n.at: gives one document 100001 keys in an index; at most 100000 are allowed")
		_, err = schema.Changes(tooFull, document.Object{})
		require.NoError(t, err, "a document from before the limit can be removed")
	}
}

// A long write keeps few changes of others in memory.
func TestFollowers_KeepNoMore(t *testing.T) {
	t.Parallel()
	var all Followers
	f := &Follower{}
	all.Add(f)
	change := []Change{{Position: 1, After: document.O("_id", 1, "text", strings.Repeat("x", 1<<20))}}
	for range maxFollowed>>20 - 1 {
		all.Tell(change)
	}
	require.False(t, f.IsFull)
	require.Len(t, f.Changes, maxFollowed>>20-1)
	for range 2 {
		all.Tell(change)
		require.True(t, f.IsFull)
		require.Empty(t, f.Changes)
	}
}

// without returns the keys that are not among others.
func without(keys, others Keys) []string {
	return slices.DeleteFunc(slices.Clone([]string(keys)), others.Contains)
}

func texts(keys []Key) []string {
	all := []string{}
	for _, key := range keys {
		all = append(all, string(key.Key))
	}
	return all
}

// A change of one element must not make the keys of all others.
//
//nolint:paralleltest // What other tests allocate at the same time would be counted.
func TestChanges_OneOfManyElements(t *testing.T) {
	x := NewIndex("c", store.Index{Keys: []store.IndexKey{{Path: "l", Kind: query.Ascending}}})
	x.MultiKey = true
	s := (&Schema{}).WithIndex(x)
	var items []any
	for i := range 20_000 {
		items = append(items, int64(i))
	}
	before := document.O("l", document.A(items...))
	after := document.O("l", document.A(append(items, "new")...))
	allocations := testing.AllocsPerRun(1, func() {
		changes, err := s.ChangesIn(0, before, after)
		require.NoError(t, err)
		require.Len(t, changes.Add, 1)
		require.Empty(t, changes.Remove)
	})
	require.Less(t, allocations, 100.0)
}
