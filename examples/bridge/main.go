// Command bridge is a door through which programs in other languages call operations over HTTP. It serves a
// platform in memory with one member, Ada, so that the clients in this folder have a member to talk to:
//
//	BRIDGE_TOKEN=$(openssl rand -hex 16) go run ./bridge &
//	BRIDGE_TOKEN=... python3 bridge/client.py http://localhost:8086
//	BRIDGE_TOKEN=... node bridge/client.mjs http://localhost:8086
//
// A host can serve the same door over its Runtime.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/examples/program"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Getenv("BRIDGE_TOKEN"), os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

func run(ctx context.Context, args []string, token string, out, problems io.Writer) int {
	var address string
	return program.Program{
		Name:  "bridge",
		Usage: "Offers the operations of a platform in memory over HTTP. BRIDGE_TOKEN is the token of who calls.\n",
		Flags: func(flags *flag.FlagSet) {
			flags.StringVar(&address, "listen", "localhost:8086", "where to listen")
		},
		Do: func() error { return serve(ctx, address, token, out) },
	}.Run(args, problems)
}

// serve answers until ctx ends.
func serve(ctx context.Context, address, token string, out io.Writer) error {
	platform := fakes.New()
	ada := newMember(platform).Context() //nolint:contextcheck // Nothing in the platform waits.
	granted := grants{{token: channel.NewSecret(token), scope: ada.Scope()}}
	if err := granted.check(); err != nil {
		return fmt.Errorf("BRIDGE_TOKEN is refused: %w", err)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return err
	}
	server := newServer(newDoor(operationsOf(platform), granted))
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	_, _ = fmt.Fprintf(out, "listening on http://%s\n", listener.Addr())
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), maxTime)
	defer cancel()
	return server.Shutdown(closing)
}

// newMember adds the member that the clients talk to.
func newMember(platform *fakes.Platform) *fakes.Actor {
	return platform.AddMember(member.Member{FirstName: "Ada"})
}

// operationsOf returns the operations of a platform; a host passes its Runtime's.
func operationsOf(platform *fakes.Platform) func(botctx.Scope) botctx.Caller {
	return func(scope botctx.Scope) botctx.Caller { return platform.Operations(scope) }
}

// newServer returns a server whose waits all have time limits.
func newServer(d *door) *http.Server {
	const (
		headerTime = 5 * time.Second
		idleTime   = time.Minute
		maxHeader  = 16 << 10
	)
	return &http.Server{
		Handler:           d.routes(),
		ReadHeaderTimeout: headerTime,
		ReadTimeout:       maxTime,
		WriteTimeout:      maxTime + headerTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    maxHeader,
	}
}
