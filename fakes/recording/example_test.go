package recording_test

import (
	"bytes"
	"context"
	"fmt"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/recording"
)

func Example() {
	ctx := context.Background()
	count := datasource.CountParams{DataSourceID: "orders"}

	host := fakes.New() // Any implementation, such as a host's over its database.
	host.AddData("orders", document.O("kettles", 2))
	var file bytes.Buffer
	recorder := recording.New(&file, host.Now)
	_, _ = recorder.Operations(host.Operations(botctx.Scope{}), botctx.Scope{App: fakes.DefaultApp}).CountDataSource(ctx, count)
	fmt.Print(file.String())

	recorded, err := recording.Read("orders.jsonl", &file)
	if err != nil {
		fmt.Println(err)
		return
	}
	n, _ := recorded.Replay().Operations(botctx.Scope{App: fakes.DefaultApp}).CountDataSource(ctx, count)
	fmt.Println("replayed:", n)

	empty := fakes.New()
	differences, _ := recorded.Check(ctx, recording.Check{
		Door: func(scope botctx.Scope) botctx.Caller { return empty.Operations(scope) }, Now: empty.Now, Advance: empty.Advance,
	})
	fmt.Print(differences)
	// Output:
	// {"recording":1}
	// {"n":1,"at":1767225600000,"scope":{"app":"app-1"},"op":"countDataSource","params":{"dataSourceId":"orders"},"result":1}
	// replayed: 1
	// line 2: countDataSource result: 1 was recorded, got 0
}
