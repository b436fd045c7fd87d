package datasource

import (
	"context"

	"github.com/botctx/go-sdk/store"
)

// EnsureIndex makes an index of a data source of an app, unless it is there: for the columns by
// which bot logic filters, and for the one that holds the places of a geo query. A host calls it
// before it uses the store. The SDK makes none but that of _id, since only the bot knows its columns.
//
//	err := datasource.EnsureIndex(ctx, database, "shop", "coupons", store.Index{
//		Keys: []store.IndexKey{{Path: "taken", Kind: query.Ascending}},
//	})
//
// InvalidArgument: the data source has no id, or one that is too long. The other errors are those of
// store.Collection.EnsureIndex.
func EnsureIndex(ctx context.Context, database store.Store, app, dataSourceID string, index store.Index) error {
	name, err := collectionOf(app, "dataSourceId", dataSourceID)
	if err != nil {
		return err
	}
	return database.Collection(name).EnsureIndex(ctx, index)
}
