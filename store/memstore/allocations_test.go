package memstore_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
)

// What a call of the store allocates has a bound each, which tells when one of them has become longer.
//
//nolint:paralleltest // What other tests allocate at the same time would be counted.
func TestAllocations_OfLookUpsAndWrites(t *testing.T) {
	const runs = 200
	things := memstore.New().Collection("things")
	require.NoError(t, things.EnsureIndex(t.Context(), indexOf(false, query.Ascending, query.Ascending)))
	for i := range 100 {
		require.NoError(t, things.Insert(t.Context(), document.O("_id", strconv.Itoa(i), "a", "x", "b", i, "seats", 0)))
	}
	id, a := query.FieldValue{Name: "_id", Value: "7"}, query.FieldValue{Name: "a", Value: "x"}
	update, err := query.CompileUpdate(document.Inc("seats", 1))
	require.NoError(t, err)
	find := func(filter *query.Filter) func() error {
		return func() error {
			found, err := things.Find(t.Context(), filter, store.FindOptions{Limit: 1})
			if len(found) != 1 {
				t.Error("not found")
			}
			return err
		}
	}
	byID := query.FieldsEqual(id, a)
	for name, c := range map[string]struct {
		call func() error
		most float64
	}{
		"by id alone":        {find(query.FieldsEqual(id)), 1},
		"by id in a scope":   {find(byID), 1},
		"by an index's keys": {find(query.FieldsEqual(a, query.FieldValue{Name: "b", Value: int64(7)})), 2},
		"findAndModify by id": {func() error {
			_, err := things.FindAndModify(t.Context(), byID, query.Change{Update: update}, store.FindAndModifyOptions{})
			return err
		}, 7},
	} {
		var failed error
		allocated := testing.AllocsPerRun(runs, func() {
			if err := c.call(); err != nil {
				failed = err
			}
		})
		require.NoError(t, failed, name)
		require.LessOrEqual(t, allocated, c.most, name)
	}
}
