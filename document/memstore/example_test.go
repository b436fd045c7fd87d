package memstore_test

import (
	"context"
	"fmt"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/document/memstore"
)

func Example() {
	ctx := context.Background()
	coupons := memstore.New().Collection("coupons")
	if err := coupons.Insert(ctx, document.O("_id", "SPRING", "taken", false)); err != nil {
		fmt.Println(err)
	}

	free, _ := document.CompileFilter(document.O("taken", false))
	take, _ := document.CompileUpdate(document.O("$set", document.O("taken", true)))
	for range 2 {
		claim, err := coupons.FindAndModify(ctx, free, document.Change{Update: take}, document.FindAndModifyOptions{})
		fmt.Println(claim.Matched, claim.Document, err)
	}
	// Output:
	// true {"_id":"SPRING","taken":false} <nil>
	// false null <nil>
}

func ExampleStore_Fork() {
	ctx := context.Background()
	store := memstore.New()
	if err := store.Collection("members").Insert(ctx, document.O("_id", "ada")); err != nil {
		fmt.Println(err)
	}

	fork := store.Fork()
	if err := fork.Collection("members").Insert(ctx, document.O("_id", "bob")); err != nil {
		fmt.Println(err)
	}
	for _, s := range []*memstore.Store{store, fork} {
		found, err := s.Collection("members").Find(ctx, nil, document.FindOptions{})
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
