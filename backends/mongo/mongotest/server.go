package mongotest

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"sync"

	"github.com/FerretDB/FerretDB/ferretdb"
)

// Server is a server of the MongoDB protocol in this process. Start makes one.
type Server struct {
	uri    string
	cancel context.CancelFunc
	work   sync.WaitGroup
}

// Start starts a server that keeps its files in a folder, until Close.
func Start(folder string) (*Server, error) {
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
	s := &Server{cancel: cancel}
	s.work.Go(func() { _ = behind.Run(ctx) }) // It returns nil always.
	address, err := url.Parse(behind.MongoDBURI())
	if err == nil {
		err = s.openDoor(ctx, address.Host)
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// openDoor listens for clients.
func (s *Server) openDoor(ctx context.Context, behind string) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listening for clients: %w", err)
	}
	d := &door{behind: behind}
	s.uri = "mongodb://" + listener.Addr().String() + "/"
	s.work.Go(func() { d.serve(ctx, listener) })
	return nil
}

// URI returns the server's address, without a database.
func (s *Server) URI() string { return s.uri }

// Close stops the server and waits until it has stopped.
func (s *Server) Close() {
	s.cancel()
	s.work.Wait()
}
