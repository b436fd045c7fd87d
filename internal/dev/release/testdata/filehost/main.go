// Command filehost is a small host with a file. Its argument is the store's address.
package main

import (
	"context"
	"log"
	"os"

	"github.com/botctx/go-sdk/backends/sqlite"

	"example.com/outside/bot"
)

func main() {
	if err := run(context.Background(), os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, address string) error {
	store, err := sqlite.Open(address)
	if err != nil {
		return err
	}
	defer store.Close()
	return bot.Host(ctx, store)
}
