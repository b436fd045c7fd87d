package botctx

import (
	"context"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
)

// EnsureIndexes makes the indexes that the SDK's own parts need in a store, unless
// they are there. A host calls it once, before it uses the store. The errors are those
// of document.Collection.EnsureIndex.
func EnsureIndexes(ctx context.Context, store document.Store) error {
	return member.EnsureIndexes(ctx, store)
}
