// Package memserver is a MongoDB server for tests, over a memstore. Like MongoDB, it has atomic commands,
// concurrency, expressions, geo queries, patterns and indexes.
//
// It is strict if MongoDB guarantees nothing, or if its versions differ. Without a sort, and for ties in one,
// documents come in reverse order of insertion. A command's field is refused unless all of the versions 6 to 8
// know it.
package memserver

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"slices"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
)

// Server is a server for any number of clients.
type Server struct {
	now func() time.Time

	mutex     sync.Mutex
	databases map[string]*database
	// cursors has the remaining documents of searches, by cursor id.
	cursors    map[int64][]bson.Raw
	lastCursor int64
}

// database is a database with its indexes, by collection.
type database struct {
	store   *memstore.Store
	indexes map[string][]bson.D
}

// New returns an empty server.
func New() *Server {
	return &Server{now: time.Now, databases: map[string]*database{}, cursors: map[int64][]bson.Raw{}}
}

// Serve accepts clients until ctx ends, and closes the listener.
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

// serve answers one client until it closes the connection.
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

// Types of messages. Drivers send the handshake in the old form opQuery, and get opReply. All other commands and
// answers are opMsg.
const (
	opReply = 1
	opQuery = 2004
	opMsg   = 2013
)

const (
	headerSize  = 16
	largestSize = 48_000_000
)

// message is a command from a client.
type message struct {
	id, kind uint32
	command  bson.D
}

var errMalformed = errors.New("the message is malformed")

func readMessage(client io.Reader) (message, error) {
	var header [headerSize]byte
	if _, err := io.ReadFull(client, header[:]); err != nil {
		return message{}, err
	}
	size := binary.LittleEndian.Uint32(header[:])
	if size < headerSize || size > largestSize {
		return message{}, errMalformed
	}
	body := make([]byte, size-headerSize)
	if _, err := io.ReadFull(client, body); err != nil {
		return message{}, err
	}
	asked := message{id: binary.LittleEndian.Uint32(header[4:]), kind: binary.LittleEndian.Uint32(header[12:])}
	var err error
	switch asked.kind {
	case opQuery:
		asked.command, err = readQuery(body)
	case opMsg:
		asked.command, err = readSections(body)
	default:
		err = errMalformed
	}
	return asked, err
}

// readQuery reads the command in an old message, after flags, a name and two numbers.
func readQuery(body []byte) (bson.D, error) {
	const flags, numbers = 4, 8
	if len(body) < flags {
		return nil, errMalformed
	}
	_, rest, ok := bytes.Cut(body[flags:], []byte{0})
	if !ok || len(rest) < numbers {
		return nil, errMalformed
	}
	var command bson.D
	err := bson.Unmarshal(rest[numbers:], &command)
	return command, err
}

// readSections reads a command and adds the lists of documents that are in separate sections.
func readSections(body []byte) (command bson.D, err error) {
	const flags = 4
	if len(body) < flags {
		return nil, errMalformed
	}
	for rest := body[flags:]; len(rest) > flags; {
		kind, size := rest[0], binary.LittleEndian.Uint32(rest[1:])
		if uint64(len(rest)) < uint64(size)+1 {
			return nil, errMalformed
		}
		section := rest[1 : size+1]
		rest = rest[size+1:]
		if kind == 0 {
			var main bson.D
			if err := bson.Unmarshal(section, &main); err != nil {
				return nil, err
			}
			command = append(main, command...)
			continue
		}
		name, documents, ok := bytes.Cut(section[4:], []byte{0})
		if !ok {
			return nil, errMalformed
		}
		list, err := readList(documents)
		if err != nil {
			return nil, err
		}
		command = append(command, bson.E{Key: string(name), Value: list})
	}
	if len(command) == 0 {
		return nil, errMalformed
	}
	return command, nil
}

// readList reads consecutive documents.
func readList(b []byte) (bson.A, error) {
	list := bson.A{}
	for len(b) > 0 {
		if len(b) < 5 || uint64(binary.LittleEndian.Uint32(b)) > uint64(len(b)) {
			return nil, errMalformed
		}
		size := binary.LittleEndian.Uint32(b)
		var d bson.D
		if err := bson.Unmarshal(b[:size], &d); err != nil {
			return nil, err
		}
		list, b = append(list, d), b[size:]
	}
	return list, nil
}

func (m message) reply(answer []byte) []byte {
	kind, before := uint32(opMsg), make([]byte, 5) // Flags and the kind of section, which are all 0.
	if m.kind == opQuery {
		kind, before = opReply, make([]byte, 20) // Flags, a cursor id, a position, and the number of documents.
		before[16] = 1
	}
	b := make([]byte, headerSize, headerSize+len(before)+len(answer))
	binary.LittleEndian.PutUint32(b, uint32(cap(b)))
	binary.LittleEndian.PutUint32(b[8:], m.id)
	binary.LittleEndian.PutUint32(b[12:], kind)
	return append(append(b, before...), answer...)
}

type request struct {
	ctx     context.Context //nolint:containedctx // A request lives as long as its command.
	server  *Server
	command bson.D
	base    *database
	// collection is the collection that the command names.
	collection store.Collection
	name       string
}

// verb is a command that the server supports.
type verb struct {
	// fields are known to all versions from 6 to 8.
	fields []string
	// isOpen allows further fields. In the handshake, clients describe themselves.
	isOpen bool
	do     func(r *request) (bson.D, error)
}

// common are fields that every command may have.
var common = []string{
	"$db", "lsid", "$readPreference", "readConcern", "writeConcern", "apiVersion", "comment", "maxTimeMS",
}

func verbs() map[string]verb {
	hello := verb{do: greet, isOpen: true}
	return map[string]verb{
		"hello": hello, "isMaster": hello, "ismaster": hello,
		"ping":          {do: nothing},
		"endSessions":   {do: nothing},
		"find":          {do: find, fields: []string{"filter", "sort", "projection", "skip", "limit", "batchSize", "singleBatch"}},
		"getMore":       {do: getMore, fields: []string{"collection", "batchSize"}},
		"killCursors":   {do: killCursors, fields: []string{"cursors"}},
		"aggregate":     {do: aggregate, fields: []string{"pipeline", "cursor"}},
		"insert":        {do: insert, fields: []string{"documents", "ordered"}},
		"update":        {do: update, fields: []string{"updates", "ordered"}},
		"delete":        {do: remove, fields: []string{"deletes", "ordered"}},
		"findAndModify": {do: findAndModify, fields: []string{"query", "sort", "update", "new", "remove", "upsert"}},
		"listIndexes":   {do: listIndexes, fields: []string{"cursor"}},
		"createIndexes": {do: createIndexes, fields: []string{"indexes"}},
		"dropDatabase":  {do: dropDatabase},
	}
}

// Error codes of this server.
const (
	codeBadValue          = 2
	codeNamespaceNotFound = 26
	codeCommandNotFound   = 59
	codeIndexOptions      = 85
	codeDuplicateKey      = 11000
	codeUnknownField      = 40415
)

// commandError is an error with a code of MongoDB.
type commandError struct {
	code int32
	text string
}

func (e commandError) Error() string { return e.text }

func refusal(err error) commandError {
	var known commandError
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(err, boterr.AlreadyExists):
		return commandError{codeDuplicateKey, "E11000 duplicate key error: " + err.Error()}
	default:
		return commandError{codeBadValue, err.Error()}
	}
}

// answer carries out a command and returns the answer.
func (s *Server) answer(ctx context.Context, command bson.D) bson.D {
	result, err := s.do(ctx, command)
	if err != nil {
		why := refusal(err)
		return bson.D{{Key: "ok", Value: 0.0}, {Key: "code", Value: why.code}, {Key: "errmsg", Value: why.text}}
	}
	return append(result, bson.E{Key: "ok", Value: 1.0})
}

func (s *Server) do(ctx context.Context, command bson.D) (bson.D, error) {
	name := command[0].Key
	known, ok := verbs()[name]
	if !ok {
		return nil, commandError{codeCommandNotFound, "no such command: " + name}
	}
	err := onlyFields(command[1:], name, slices.Concat(common, known.fields))
	if err != nil && !known.isOpen {
		return nil, err
	}
	base, _ := fieldOf[string](command, "$db")
	collection, _ := command[0].Value.(string)
	in := s.in(base)
	return known.do(&request{
		ctx: ctx, server: s, command: command, base: in, collection: in.store.Collection(collection), name: collection,
	})
}

// onlyFields returns an error for a field that is not in fields.
func onlyFields(d bson.D, of string, fields []string) error {
	for _, e := range d {
		if !slices.Contains(fields, e.Key) {
			return commandError{codeUnknownField, "BSON field '" + of + "." + e.Key + "' is an unknown field."}
		}
	}
	return nil
}

// greet answers the handshake like a version 8 server that is not in a replica set.
func greet(r *request) (bson.D, error) {
	return bson.D{
		{Key: "helloOk", Value: true},
		{Key: "ismaster", Value: true},
		{Key: "isWritablePrimary", Value: true},
		{Key: "maxBsonObjectSize", Value: int32(document.MaxSize)},
		{Key: "maxMessageSizeBytes", Value: int32(largestSize)},
		{Key: "maxWriteBatchSize", Value: int32(100_000)},
		{Key: "localTime", Value: bson.NewDateTimeFromTime(r.server.now())},
		{Key: "logicalSessionTimeoutMinutes", Value: int32(30)},
		{Key: "minWireVersion", Value: int32(0)},
		{Key: "maxWireVersion", Value: int32(25)},
		{Key: "readOnly", Value: false},
	}, nil
}

func nothing(*request) (bson.D, error) { return bson.D{}, nil }

func dropDatabase(r *request) (bson.D, error) {
	name, _ := fieldOf[string](r.command, "$db")
	r.server.mutex.Lock()
	defer r.server.mutex.Unlock()
	delete(r.server.databases, name)
	return bson.D{}, nil
}
