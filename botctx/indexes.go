package botctx

import (
	"context"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/internal/inbox"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store"
)

// EnsureIndexes makes the indexes that the SDK's own parts need in a store, unless
// they are there. A host calls it once, before it uses the store. The errors are those
// of store.Collection.EnsureIndex; a store that panics is one, too.
func EnsureIndexes(ctx context.Context, database store.Store) error {
	guarded := record.Guard(database)
	for _, ensure := range []func(context.Context, store.Store) error{
		member.EnsureIndexes, agenda.EnsureIndexes, livechat.EnsureIndexes, send.EnsureIndexes,
	} {
		if err := ensure(ctx, guarded); err != nil {
			return err
		}
	}
	return inbox.EnsureIndexes(ctx, database) // Which asks whether one process has the store.
}
