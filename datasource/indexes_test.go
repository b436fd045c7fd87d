package datasource_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/query"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
)

func TestEnsureIndex_OfOneDataSourceOfOneApp(t *testing.T) {
	t.Parallel()
	database := memstore.New()
	unique := store.Index{Keys: []store.IndexKey{{Path: "code", Kind: query.Ascending}}, Unique: true}
	require.NoError(t, datasource.EnsureIndex(t.Context(), database, "shop", "a/b coupons", unique))
	twice := func(app, id string) error {
		_, err := datasource.New(record.Env{Store: database}, record.Scope{App: app}).UpsertDataToDataSource(t.Context(),
			datasource.UpsertDataToDataSourceParams{
				DataSourceID: id, Data: document.One(document.O("code", "MAY"), document.O("code", "MAY")),
			})
		return err
	}
	require.ErrorIs(t, twice("shop", "a/b coupons"), boterr.AlreadyExists)
	require.NoError(t, twice("shop", "others"))
	require.NoError(t, twice("bistro", "a/b coupons"))
}

func TestEnsureIndex_Refusals(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"", strings.Repeat("x", 200)} {
		err := datasource.EnsureIndex(t.Context(), memstore.New(), "shop", id, store.Index{})
		require.ErrorIs(t, err, boterr.InvalidArgument)
	}
}
