package record_test

import (
	"context"
	"fmt"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/store/memstore"
)

func Example() {
	ctx := context.Background()
	notes := record.Open(record.Env{Store: memstore.New()}, &record.Schema{Name: "note", Collection: "notes", Fixed: []string{"app"}})
	mine, theirs := notes.Where("app", "mine"), notes.Where("app", "theirs")

	fmt.Println(mine.Insert(ctx, document.O("_id", "n1", "text", "buy tea")))
	fmt.Println(mine.Get(ctx, "n1"))
	fmt.Println(theirs.Get(ctx, "n1"))
	// Output:
	// {"_id":"n1","app":"mine","text":"buy tea"} <nil>
	// {"_id":"n1","app":"mine","text":"buy tea"} <nil>
	// null not found: there is no note n1 here
}
