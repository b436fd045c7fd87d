package memstore_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/document/memstore"
)

func TestAnOperationFailsWholeWhereItsExprFailsOnADocument(t *testing.T) {
	t.Parallel()
	c := memstore.New().Collection("ratios")
	require.NoError(t, c.Insert(t.Context(), document.O("_id", 1, "n", 4), document.O("_id", 2, "n", 0)))
	filter, err := document.CompileFilter(document.O("$expr",
		document.O("$gte", document.A(document.O("$divide", document.A(8, "$n")), 2))))
	require.NoError(t, err)
	update, err := document.CompileUpdate(document.Set("seen", true))
	require.NoError(t, err)
	change := document.Change{Update: update}

	_, err = c.Find(t.Context(), filter, document.FindOptions{})
	require.ErrorIs(t, err, boterr.InvalidArgument)
	_, err = c.Count(t.Context(), filter)
	require.ErrorIs(t, err, boterr.InvalidArgument)
	_, err = c.Distinct(t.Context(), "n", filter)
	require.ErrorIs(t, err, boterr.InvalidArgument)
	_, err = c.Update(t.Context(), filter, change, document.UpdateOptions{Multi: true})
	require.ErrorIs(t, err, boterr.InvalidArgument)
	_, err = c.Delete(t.Context(), filter, document.DeleteOptions{Multi: true})
	require.ErrorIs(t, err, boterr.InvalidArgument)
	docs, err := c.Find(t.Context(), nil, document.FindOptions{})
	require.NoError(t, err)
	require.Equal(t, []document.Object{document.O("_id", 1, "n", 4), document.O("_id", 2, "n", 0)}, docs)

	found, err := c.Find(t.Context(), filter, document.FindOptions{Limit: 1})
	require.NoError(t, err, "the document on which it fails is not reached")
	require.Len(t, found, 1)
}
