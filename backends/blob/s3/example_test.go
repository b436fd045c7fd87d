package s3_test

import (
	"context"
	"fmt"

	"github.com/botctx/go-sdk/backends/blob/s3"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
)

func Example() {
	store, err := s3.Open(context.Background(), s3.Config{
		Bucket: "example-bots",
		Region: "eu-central-1",
		// On AWS the environment has the account, and these lines go.
		Endpoint:        "https://minio.example.com",
		AccessKeyID:     "bots",
		SecretAccessKey: channel.NewSecret("a key from where the host keeps them"),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = store.Close() }()

	// What a host does: all uploads of its bots go there.
	config := botctx.Config{ObjectStore: store}
	fmt.Println(config.ObjectStore != nil)
	// Output: true
}
