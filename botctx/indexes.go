package botctx

import (
	"context"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/internal/datasources"
	"github.com/botctx/go-sdk/internal/inbox"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store"
)

// EnsureIndexes makes the indexes that the SDK's own parts need in a store, unless
// they are there. A host calls it once, before it uses the store. The errors are those
// of store.Collection.EnsureIndex; a store that panics is one, too.
func EnsureIndexes(ctx context.Context, database store.Store) error {
	guarded := record.Guard(database)
	for _, ensure := range []func(context.Context, store.Store) error{
		members.EnsureIndexes, agenda.EnsureIndexes, livechat.EnsureIndexes, send.EnsureIndexes,
	} {
		if err := ensure(ctx, guarded); err != nil {
			return err
		}
	}
	return inbox.EnsureIndexes(ctx, database) // Which asks whether one process has the store.
}

// EnsureMemberIndex makes the indexes of the members of each app by a path, such as "meta.plan" or "tags", unless they
// are there: one for the operations on one channel, such as PatchMembers, one for those on all. The SDK makes none for
// meta, since only the bot knows what is in it; without one an operation by meta reads all members. A host calls it
// once, before it uses the store. The errors are those of store.Collection.EnsureIndex.
func EnsureMemberIndex(ctx context.Context, database store.Store, path string) error {
	return members.EnsureIndex(ctx, database, path)
}

// EnsureDataSourceIndex makes an index of a data source of an app, unless it is there: for the columns by which bot
// logic filters, and for the column that holds the places of a geo query. The SDK makes none but that of _id. A host
// calls it once, before it uses the store.
//
//	err := botctx.EnsureDataSourceIndex(ctx, database, "shop", "coupons", store.Ascending("taken"))
//
// InvalidArgument: the data source has no id, or one that is too long. The other errors are those of
// store.Collection.EnsureIndex.
func EnsureDataSourceIndex(ctx context.Context, database store.Store, app, dataSourceID string, index store.Index) error {
	return datasources.EnsureIndex(ctx, database, app, dataSourceID, index)
}
