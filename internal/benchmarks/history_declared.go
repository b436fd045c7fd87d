package main

import (
	"context"

	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/store"
)

// The indexes that a host declares. To measure a commit that has none of these functions, let both return nil.

func declareMemberIndex(ctx context.Context, database store.Store, path string) error {
	return members.EnsureIndex(ctx, database, path)
}

func declareAssignmentIndex(ctx context.Context, database store.Store, path string) error {
	return livechat.EnsureAssignmentIndex(ctx, database, path)
}
