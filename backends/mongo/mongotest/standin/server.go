package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"sync"

	"github.com/FerretDB/FerretDB/ferretdb"
)

// server is a server of the MongoDB protocol in this process.
type server struct {
	uri    string
	cancel context.CancelFunc
	work   sync.WaitGroup
}

// start starts a server that keeps its files in a folder, until close.
func start(folder string) (*server, error) {
	ctx, cancel := context.WithCancel(context.Background())
	behind, err := ferretdb.New(&ferretdb.Config{
		Listener:  ferretdb.ListenerConfig{TCP: "127.0.0.1:0"},
		Handler:   "sqlite",
		SQLiteURL: "file:" + folder + "/",
		Logger:    slog.New(slog.DiscardHandler),
	})
	if err != nil {
		cancel()
		return nil, fmt.Errorf("starting FerretDB: %w", err)
	}
	s := &server{cancel: cancel}
	s.work.Go(func() { _ = behind.Run(ctx) }) // It returns nil always.
	address, err := url.Parse(behind.MongoDBURI())
	if err == nil {
		err = s.openProxy(ctx, address.Host)
	}
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// openProxy listens for clients.
func (s *server) openProxy(ctx context.Context, behind string) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listening for clients: %w", err)
	}
	p := &serialProxy{behind: behind}
	s.uri = "mongodb://" + listener.Addr().String() + "/"
	s.work.Go(func() { p.serve(ctx, listener) })
	return nil
}

// close stops the server and waits until it has stopped.
func (s *server) close() {
	s.cancel()
	s.work.Wait()
}
