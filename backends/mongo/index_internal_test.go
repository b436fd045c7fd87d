package mongo

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// wantedIndex is a unique index on n.
var wantedIndex = store.Index{Keys: []store.IndexKey{{Path: "n", Kind: query.Ascending}}, Unique: true}

// listed returns an index as a server tells of it, on n, with further options.
func listed(t *testing.T, options ...bson.E) storedIndex {
	t.Helper()
	b, err := bson.Marshal(append(bson.D{
		{Key: "v", Value: int32(2)}, {Key: "key", Value: bson.D{{Key: "n", Value: int32(1)}}}, {Key: "name", Value: "of the host"},
	}, options...))
	require.NoError(t, err)
	index, err := readIndex(b)
	require.NoError(t, err)
	return index
}

func TestIndex_OptionsThatMatter(t *testing.T) {
	t.Parallel()
	c := &collection{name: "own"}
	unique := bson.E{Key: "unique", Value: true}
	for _, option := range []bson.E{
		{Key: "partialFilterExpression", Value: bson.D{{Key: "n", Value: bson.D{{Key: "$gt", Value: 5}}}}},
		{Key: "collation", Value: bson.D{{Key: "locale", Value: "en"}, {Key: "strength", Value: 2}}},
		{Key: "expireAfterSeconds", Value: int32(60)},
		{Key: "expireAfterSeconds", Value: int32(0)},
		{Key: "hidden", Value: true},
		{Key: "sparse", Value: true},
		{Key: "an option of another version", Value: "x"},
	} {
		there := ofSameKeys([]storedIndex{listed(t, unique, option)}, wantedIndex)
		err := c.checkSame(there, wantedIndex)
		require.ErrorIs(t, err, boterr.FailedPrecondition, option.Key)
		require.ErrorContains(t, err, option.Key)
		require.ErrorContains(t, err, "drop that index")
		require.NoError(t, c.checkSame(append(there, listed(t, unique)), wantedIndex), "%s, beside the wanted one", option.Key)
	}
}

func TestIndex_OptionsThatChangeNothing(t *testing.T) {
	t.Parallel()
	c := &collection{name: "own"}
	for _, option := range []bson.E{
		{Key: "ns", Value: "base.own"},
		{Key: "background", Value: true},
		{Key: "hidden", Value: false},
		{Key: "sparse", Value: false},
		{Key: "collation", Value: bson.D{{Key: "locale", Value: "simple"}}},
	} {
		there := ofSameKeys([]storedIndex{listed(t, bson.E{Key: "unique", Value: true}, option)}, wantedIndex)
		require.NoError(t, c.checkSame(there, wantedIndex), option.Key)
	}
}

func TestIndex_OfOurNameIsOurs(t *testing.T) {
	t.Parallel()
	c := &collection{name: "own"}
	sparse := wantedIndex
	sparse.Unique, sparse.Sparse = false, true
	foreign, own := listed(t), listed(t)
	require.Equal(t, "of the host", own.name)
	own.name = indexName(sparse)
	require.NoError(t, c.checkSame([]storedIndex{own}, sparse), "FerretDB does not list that it is sparse")
	require.Error(t, c.checkSame([]storedIndex{foreign}, sparse))
	own.others = []string{"hidden"}
	require.Error(t, c.checkSame([]storedIndex{own}, sparse))
}

func TestIndex_LeavesDocumentsOut(t *testing.T) {
	t.Parallel()
	index := storedIndex{Index: store.Index{Keys: []store.IndexKey{{Path: "at", Kind: query.Geo2DSphere}}}}
	near, err := query.CompileGeoNear(document.O("near", document.O("type", "Point", "coordinates", document.A(1, 2)), "key", "at"))
	require.NoError(t, err)
	_, isServed, err := served(near, []storedIndex{index})
	require.NoError(t, err)
	require.True(t, isServed)
	index.others = []string{"partialFilterExpression"}
	_, isServed, err = served(near, []storedIndex{index})
	require.NoError(t, err)
	require.False(t, isServed)
}
