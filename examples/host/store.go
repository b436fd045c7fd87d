package main

import (
	"context"
	"fmt"

	"github.com/botctx/go-sdk/backends/bolt"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/document"
)

// storeBolt is the store in one file, for one process.
const storeBolt = "bolt"

// openedStore is a store, and what closes it.
type openedStore struct {
	document.Store

	close func(ctx context.Context) error
}

// openStore opens the store that the configuration names, with the indexes that the SDK
// needs.
func openStore(ctx context.Context, c config) (*openedStore, error) {
	opened, err := openBolt(c)
	if err != nil {
		return nil, err
	}
	if err := botctx.EnsureIndexes(ctx, opened); err != nil {
		_ = opened.close(ctx)
		return nil, fmt.Errorf("the indexes of the store: %w", err)
	}
	return opened, nil
}

func openBolt(c config) (*openedStore, error) {
	store, err := bolt.Open(c.file, bolt.WithNow(c.now))
	if err != nil {
		return nil, err
	}
	return &openedStore{Store: store, close: func(context.Context) error { return store.Close() }}, nil
}
