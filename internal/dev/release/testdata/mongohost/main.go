// Command mongohost is a small host with MongoDB. Its argument is the store's address.
package main

import (
	"context"
	"log"
	"os"

	"github.com/botctx/go-sdk/backends/mongo"

	"example.com/outside/bot"
)

func main() {
	if err := run(context.Background(), os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, address string) error {
	store, err := mongo.Open(ctx, address)
	if err != nil {
		return err
	}
	defer store.Close(ctx)
	return bot.Host(ctx, store)
}
