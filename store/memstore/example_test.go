package memstore_test

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
	coupons := memstore.New().Collection("coupons")
	if err := coupons.Insert(ctx, document.O("_id", "SPRING", "taken", false)); err != nil {
		fmt.Println(err)
	}

	free, _ := query.CompileFilter(document.O("taken", false))
	take, _ := query.CompileUpdate(document.O("$set", document.O("taken", true)))
	for range 2 {
		claim, err := coupons.FindAndModify(ctx, free, query.Change{Update: take}, store.FindAndModifyOptions{})
		fmt.Println(claim.Matched, claim.Document, err)
	}
	// Output:
	// true {"_id":"SPRING","taken":false} <nil>
	// false null <nil>
}

func ExampleStore_Fork() {
	ctx := context.Background()
	database := memstore.New()
	if err := database.Collection("members").Insert(ctx, document.O("_id", "ada")); err != nil {
		fmt.Println(err)
	}

	fork := database.Fork()
	if err := fork.Collection("members").Insert(ctx, document.O("_id", "bob")); err != nil {
		fmt.Println(err)
	}
	for _, s := range []*memstore.Store{database, fork} {
		found, err := s.Collection("members").Find(ctx, nil, store.FindOptions{})
		fmt.Println(found, err)
	}
	// Output:
	// [{"_id":"ada"}] <nil>
	// [{"_id":"ada"} {"_id":"bob"}] <nil>
}

func ExampleStore_Restore() {
	ctx := context.Background()
	store := memstore.New()
	members := store.Collection("members")
	before := store.Snapshot()
	if err := members.Insert(ctx, document.O("_id", "ada")); err != nil {
		fmt.Println(err)
	}

	store.Restore(before)
	fmt.Println(members.Count(ctx, nil))
	// Output: 0 <nil>
}

// Explain returns which index a filter and a sort use, and how many documents were read.
func ExampleStore_Explain() {
	ctx := context.Background()
	database := memstore.New()
	places := database.Collection("places")
	for i := range 1000 {
		_ = places.Insert(ctx, document.O("_id", i, "area", i%20, "price", i%97))
	}
	_ = places.EnsureIndex(ctx, store.Index{Keys: []store.IndexKey{
		{Path: "area", Kind: query.Ascending}, {Path: "price", Kind: query.Ascending},
	}})
	filter, _ := query.CompileFilter(document.O("area", 7, "price", document.O("$gte", 50)))
	cheapest, _ := query.CompileSort(document.O("price", 1))
	plan, _ := database.Explain(ctx, "places", filter, store.FindOptions{Sort: cheapest, Limit: 3})
	fmt.Println(plan.Index, "bound:", plan.Bound, "sorted:", plan.Sorted, "examined:", plan.Examined)
	// Output: area_1_price_1 bound: 2 sorted: true examined: 3
}
