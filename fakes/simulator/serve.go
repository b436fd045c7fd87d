package simulator

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/botctx/go-sdk/botctx"
)

// The limits of requests, and of the time that those under way have when the page ends.
const (
	headerTime = 10 * time.Second
	lastTime   = 5 * time.Second
)

// Serve is the function Serve for a Simulator of one's own. Nodes are added to those of the Platform.
func (s Simulator) Serve(ctx context.Context, nodes ...*botctx.Node) error {
	set := s.withDefaults()
	handler, err := set.Handler(nodes...) //nolint:contextcheck // A platform in memory takes none: nothing in it waits.
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", set.Address)
	if err != nil {
		return fmt.Errorf("simulator: %w: Address says where else to listen", err)
	}
	if _, err := fmt.Fprintf(set.Out, "%s is at http://%s/\n", set.Bot, listener.Addr()); err != nil {
		return errors.Join(err, listener.Close())
	}
	return serveOn(ctx, listener, handler)
}

// serveOn serves until ctx ends, and with it the events that pages listen to.
func serveOn(ctx context.Context, listener net.Listener, handler http.Handler) error {
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: headerTime,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	ended := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastTime)
		defer cancel()
		ended <- server.Shutdown(last)
	})
	err := server.Serve(listener)
	if stop() { // It broke by itself.
		return err
	}
	return <-ended
}
