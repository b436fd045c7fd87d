// Command bolthost is a small host over bolt: the store's address is its argument.
package main

import (
	"context"
	"log"
	"os"

	"github.com/botctx/go-sdk/backends/bolt"

	"example.com/outside/bot"
)

func main() {
	if err := run(context.Background(), os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, address string) error {
	store, err := bolt.Open(address)
	if err != nil {
		return err
	}
	defer store.Close()
	return bot.Host(ctx, store)
}
