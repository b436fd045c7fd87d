package record_test

import (
	"context"
	"errors"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/store/memstore"
)

// notes is a collection of an app with some records, numbered by their time.
func notes(t *testing.T, count int) *record.Collection {
	t.Helper()
	env := record.Env{Store: memstore.New()}
	c := record.OfApp(env, &record.Kind{Name: "note", Collection: "notes"}, "mine")
	for i := range count {
		_, err := c.Insert(t.Context(), document.O("_id", "n"+strconv.Itoa(i), "at", i/2))
		require.NoError(t, err)
	}
	other := record.OfApp(env, &record.Kind{Name: "note", Collection: "notes"}, "theirs")
	_, err := other.Insert(t.Context(), document.O("_id", "other", "at", 0))
	require.NoError(t, err)
	t.Cleanup(func() {
		left, err := other.Count(context.Background(), document.O())
		require.NoError(t, err)
		require.EqualValues(t, 1, left, "other apps keep theirs")
	})
	return c
}

func TestRemove_Batches(t *testing.T) {
	t.Parallel()
	for _, count := range []int{0, 1, record.RemovalBatch, record.RemovalBatch + 1, 2 * record.RemovalBatch} {
		for _, oldestBy := range []string{"", "at"} {
			removed, err := notes(t, count).Remove(t.Context(), record.Removal{Filter: document.O(), OldestBy: oldestBy})
			require.NoError(t, err)
			require.EqualValues(t, count, removed)
		}
	}
}

func TestRemove_Spares(t *testing.T) {
	t.Parallel()
	c := notes(t, 3*record.RemovalBatch)
	batches := 0
	removed, err := c.Remove(t.Context(), record.Removal{
		Filter: document.O("at", document.O("$gte", 1)), OldestBy: "at",
		Spare: func(_ context.Context, batch []document.Object) (map[string]bool, error) {
			batches++
			spare := map[string]bool{}
			for _, o := range batch {
				id := document.Get(o, "_id", "")
				spare[id] = id[len(id)-1]%2 == 1
			}
			return spare, nil
		},
	})
	require.NoError(t, err)
	require.EqualValues(t, 3*record.RemovalBatch/2-1, removed)
	require.Equal(t, 3, batches)
	left, err := c.Count(t.Context(), document.O("at", document.O("$gte", 1)))
	require.NoError(t, err)
	require.EqualValues(t, 3*record.RemovalBatch/2-1, left)
}

func TestRemove_SpareFails(t *testing.T) {
	t.Parallel()
	c := notes(t, 3)
	broken := errors.New("broken")
	removed, err := c.Remove(t.Context(), record.Removal{
		Filter: document.O(), OldestBy: "at",
		Spare: func(context.Context, []document.Object) (map[string]bool, error) { return nil, broken },
	})
	require.ErrorIs(t, err, broken)
	require.Zero(t, removed)
}
