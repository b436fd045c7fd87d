package record_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/record"
	"github.com/botctx/go-sdk/store/memstore"
)

func TestGuard_ManyCollectionsAreEachTheirOwn(t *testing.T) {
	t.Parallel()
	inner := memstore.New()
	guarded := record.Guard(inner)
	for round := range 2 {
		for i := range 40 {
			name := strconv.Itoa(i)
			require.NoError(t, guarded.Collection(name).Insert(t.Context(), document.O("_id", name+"-"+strconv.Itoa(round), "in", name)))
		}
	}
	for i := range 40 {
		name := strconv.Itoa(i)
		found, err := inner.Collection(name).Distinct(t.Context(), "in", nil)
		require.NoError(t, err)
		require.Equal(t, []any{name}, found)
		count, err := guarded.Collection(name).Count(t.Context(), nil)
		require.NoError(t, err)
		require.EqualValues(t, 2, count)
	}
}
