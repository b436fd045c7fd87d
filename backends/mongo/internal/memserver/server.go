// Package memserver is a server that speaks MongoDB's protocol over a memstore, for tests. It has atomic
// commands, many at once, expressions, places, patterns and indexes as MongoDB has them.
//
// It is strict where MongoDB promises nothing or its versions differ: what comes without a
// sort, or ties in one, comes in the reverse of the order of insertion; a command's field
// that not all of the versions 6 to 8 know is refused.
package memserver

import (
	"context"
	"net"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/botctx/go-sdk/store/memstore"
)

// Server is a server for any number of clients.
type Server struct {
	now func() time.Time

	mutex     sync.Mutex
	databases map[string]*database
	// cursors are the documents that a search has still to give.
	cursors    map[int64][]bson.Raw
	lastCursor int64
}

// database is a database with its indexes by the names of collections.
type database struct {
	store   *memstore.Store
	indexes map[string][]bson.D
}

// New returns a server without databases, whose clock is the machine's.
func New() *Server {
	return &Server{now: time.Now, databases: map[string]*database{}, cursors: map[int64][]bson.Raw{}}
}

// Serve lets clients in until ctx ends, and closes the listener.
func (s *Server) Serve(ctx context.Context, listener net.Listener) {
	stop := context.AfterFunc(ctx, func() { _ = listener.Close() })
	defer stop()
	var clients sync.WaitGroup
	defer clients.Wait()
	for {
		client, err := listener.Accept()
		if err != nil {
			return
		}
		clients.Go(func() { s.serve(ctx, client) })
	}
}

// serve answers one client until it hangs up.
func (s *Server) serve(ctx context.Context, client net.Conn) {
	defer func() { _ = client.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = client.Close() })
	defer stop()
	for {
		asked, err := readMessage(client)
		if err != nil {
			return
		}
		answer, err := bson.Marshal(s.answer(ctx, asked.command))
		if err != nil {
			return
		}
		if _, err := client.Write(asked.reply(answer)); err != nil {
			return
		}
	}
}

// in returns the database of that name.
func (s *Server) in(name string) *database {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	there, ok := s.databases[name]
	if !ok {
		there = &database{store: memstore.New(), indexes: map[string][]bson.D{}}
		s.databases[name] = there
	}
	return there
}
