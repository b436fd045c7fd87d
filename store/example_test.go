package store_test

import (
	"context"
	"fmt"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/query"
)

func Example() {
	ctx := context.Background()
	var database store.Store = memstore.New() // Or sqlite.Open, mongo.Open, your own.
	places := database.Collection("places")
	if err := places.Insert(ctx, document.O("_id", "a", "stars", 3), document.O("_id", "b", "stars", 5)); err != nil {
		fmt.Println(err)
		return
	}

	filter, err := query.CompileFilter(document.O("stars", document.O("$gte", 4)))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(places.Find(ctx, filter, store.FindOptions{}))
	// Output:
	// [{"_id":"b","stars":5}] <nil>
}
