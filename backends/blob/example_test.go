package blob_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/botctx/go-sdk/backends/blob"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/utility"
)

func Example() {
	ctx := context.Background()
	// In production the address is a folder, such as "file:///var/lib/bots/files?create_dir=true", or a bucket,
	// such as "s3://example-bots?region=eu-central-1" if the program imports gocloud.dev/blob/s3blob.
	store, err := blob.Open(ctx, "mem://")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = store.Close() }()

	// A host passes the store to its bots.
	_ = botctx.Config{ObjectStore: store}

	// uploadFileToObjectStore calls Put like this.
	err = store.Put(ctx, utility.StoredFile{
		Key:         "shop/c1/bills/7.txt",
		ContentType: "text/plain",
		Content:     strings.NewReader("12.50"),
	})
	fmt.Println(err)
	// Output: <nil>
}
