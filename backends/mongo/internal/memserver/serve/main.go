// Command serve runs a memserver in a separate process, for tests of other modules. It prints its address, and
// serves until its standard input ends.
package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"

	"github.com/botctx/go-sdk/backends/mongo/internal/memserver"
)

func main() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1) //nolint:gocritic // The deferred cancel frees nothing that outlives the process.
	}
	go memserver.New().Serve(ctx, listener)
	_, _ = fmt.Fprintf(os.Stdout, "mongodb://%s/\n", listener.Addr())
	_, _ = io.Copy(io.Discard, os.Stdin)
}
