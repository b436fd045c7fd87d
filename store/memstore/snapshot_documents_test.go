package memstore_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store/memstore"
)

func TestSnapshot_DocumentsAreThoseOfItsMoment(t *testing.T) {
	t.Parallel()
	s := memstore.New()
	for _, id := range []string{"b", "a", "c"} {
		require.NoError(t, s.Collection("letters").Insert(t.Context(), document.O("_id", id)))
	}
	require.NoError(t, s.Collection("digits").Insert(t.Context(), document.O("_id", 1)))
	taken := s.Snapshot()
	require.NoError(t, s.Collection("letters").Insert(t.Context(), document.O("_id", "d")))
	require.NoError(t, s.Collection("more").Insert(t.Context(), document.O("_id", "d")))

	require.Equal(t, []string{"digits", "letters"}, taken.Collections())
	var ids []string
	for one := range taken.Documents("letters") {
		ids = append(ids, document.Get(one, "_id", ""))
	}
	require.Equal(t, []string{"b", "a", "c"}, ids)
	for one := range taken.Documents("letters") {
		require.Equal(t, "b", document.Get(one, "_id", ""))
		break
	}
	require.Empty(t, slices.Collect(taken.Documents("more")))
	require.Empty(t, memstore.Snapshot{}.Collections())
}
