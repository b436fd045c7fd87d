package main

import (
	"context"
	"fmt"

	"github.com/botctx/go-sdk/backends/bolt"
	"github.com/botctx/go-sdk/backends/mongo"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/store"
)

// The stores that there are: one file, for one process, and a database, for any number.
const (
	storeBolt  = "bolt"
	storeMongo = "mongodb"
)

// mongoVariable holds the address of the MongoDB database, which may have a password in it.
const mongoVariable = "HOST_MONGO_URI"

// openStore opens the store that the configuration names, with the indexes that the SDK
// needs, and returns what closes it.
func openStore(ctx context.Context, c config) (store store.Store, closeStore func(context.Context) error, err error) {
	if c.store == storeMongo {
		store, closeStore, err = openMongo(ctx, c)
	} else {
		store, closeStore, err = openBolt(c)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("the %s store: %w", c.store, err)
	}
	if err := botctx.EnsureIndexes(ctx, store); err != nil {
		_ = closeStore(ctx)
		return nil, nil, fmt.Errorf("the indexes of the %s store: %w", c.store, err)
	}
	return store, closeStore, nil
}

func openBolt(c config) (store.Store, func(context.Context) error, error) {
	store, err := bolt.Open(c.file, bolt.WithNow(c.now))
	if err != nil {
		return nil, nil, err
	}
	return store, func(context.Context) error { return store.Close() }, nil
}

func openMongo(ctx context.Context, c config) (store.Store, func(context.Context) error, error) {
	store, err := mongo.Open(ctx, c.mongoURI.Reveal())
	if err != nil {
		return nil, nil, err
	}
	return store, store.Close, nil
}
