package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/botctx/go-sdk/backends/mongo"
	"github.com/botctx/go-sdk/backends/postgres"
	"github.com/botctx/go-sdk/backends/sqlite"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/store"
)

// openStore opens the configured store, with the indexes that the SDK needs, and returns a function that
// closes it.
func openStore(ctx context.Context, c config, log *slog.Logger) (store store.Store, closeStore func(context.Context) error, err error) {
	switch c.storeKind() {
	case "postgres":
		store, closeStore, err = openPostgres(ctx, c, log)
	case "mongodb":
		store, closeStore, err = openMongo(ctx, c)
	default:
		store, closeStore, err = openSQLite(ctx, c, log)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("opening the %s store: %w", c.storeKind(), err)
	}
	if err := botctx.EnsureIndexes(ctx, store); err != nil {
		_ = closeStore(ctx)
		return nil, nil, fmt.Errorf("creating the indexes of the %s store: %w", c.storeKind(), err)
	}
	return store, closeStore, nil
}

// openSQLite opens the file, and checks it for damage while it is in use.
func openSQLite(ctx context.Context, c config, log *slog.Logger) (store.Store, func(context.Context) error, error) {
	store, err := sqlite.Open(c.file, sqlite.WithNow(c.now))
	if err != nil {
		return nil, nil, err
	}
	checking, stop := context.WithCancel(context.WithoutCancel(ctx))
	checked := make(chan struct{})
	go func() {
		defer close(checked)
		if err := store.Check(checking); err != nil && checking.Err() == nil {
			log.ErrorContext(ctx, "the file of the store is damaged", "error", err)
		}
	}()
	return store, func(context.Context) error {
		stop()
		<-checked
		return store.Close() //nolint:contextcheck // It takes no context.
	}, nil
}

// show prints a collection of the file.
func show(ctx context.Context, c config, out io.Writer) error {
	if _, err := os.Stat(c.file); err != nil { // Open would create the file.
		return fmt.Errorf("-file: %w", err)
	}
	store, err := sqlite.Open(c.file)
	if err != nil {
		return err
	}
	return errors.Join(store.WriteJSON(ctx, out, c.show), store.Close()) //nolint:contextcheck // It takes no context.
}

func openPostgres(ctx context.Context, c config, log *slog.Logger) (store.Store, func(context.Context) error, error) {
	store, err := postgres.Open(ctx, c.postgres.Reveal(), postgres.WithLogger(log))
	if err != nil {
		return nil, nil, err
	}
	return store, func(context.Context) error {
		store.Close()
		return nil
	}, nil
}

func openMongo(ctx context.Context, c config) (store.Store, func(context.Context) error, error) {
	store, err := mongo.Open(ctx, c.mongo.Reveal())
	if err != nil {
		return nil, nil, err
	}
	return store, store.Close, nil
}
