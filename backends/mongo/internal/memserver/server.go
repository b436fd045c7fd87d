// Package memserver is a MongoDB server for tests, over a memstore. Like MongoDB, it has atomic commands,
// concurrency, expressions, geo queries, patterns and indexes.
//
// It is strict if MongoDB guarantees nothing, or if its versions differ. Without a sort, and for ties in one,
// documents come in reverse order of insertion. A command's field is refused unless all of the versions 6 to 8
// know it.
package memserver

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"slices"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/wiremessage"

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

// largestSize is the largest size of a message.
const largestSize = 48_000_000

// message is a command from a client. Drivers send the handshake in the old form OpQuery, and get OpReply. All other
// commands and answers are OpMsg.
type message struct {
	id      int32
	kind    wiremessage.OpCode
	command bson.D
}

var errMalformed = errors.New("the message is malformed")

func readMessage(client io.Reader) (asked message, err error) {
	var size [4]byte
	if _, err := io.ReadFull(client, size[:]); err != nil {
		return asked, err
	}
	length := binary.LittleEndian.Uint32(size[:])
	if length < uint32(len(size)) || length > largestSize {
		return asked, errMalformed
	}
	text := append(size[:], make([]byte, length-uint32(len(size)))...)
	if _, err := io.ReadFull(client, text[len(size):]); err != nil {
		return asked, err
	}
	_, id, _, kind, body, ok := wiremessage.ReadHeader(text)
	asked.id, asked.kind = id, kind
	switch {
	case ok && kind == wiremessage.OpQuery: //nolint:staticcheck // Drivers greet with it.
		asked.command, err = readQuery(body)
	case ok && kind == wiremessage.OpMsg:
		asked.command, err = readSections(body)
	}
	if err == nil && len(asked.command) == 0 {
		err = errMalformed
	}
	return asked, err
}

//nolint:staticcheck // Drivers still greet a server with this deprecated kind of message.
func readQuery(body []byte) (command bson.D, err error) {
	_, rest, _ := wiremessage.ReadQueryFlags(body)
	_, rest, _ = wiremessage.ReadQueryFullCollectionName(rest)
	_, rest, _ = wiremessage.ReadQueryNumberToSkip(rest)
	_, rest, _ = wiremessage.ReadQueryNumberToReturn(rest)
	query, _, ok := wiremessage.ReadQueryQuery(rest)
	if !ok {
		return nil, errMalformed
	}
	err = bson.Unmarshal(query, &command)
	return command, err
}

// readSections reads a command and adds the lists of documents that are in separate sections.
func readSections(body []byte) (command bson.D, err error) {
	_, rest, ok := wiremessage.ReadMsgFlags(body)
	for ok && err == nil && len(rest) > 0 {
		var kind wiremessage.SectionType
		var name string
		var parts []bsoncore.Document
		kind, rest, _ = wiremessage.ReadMsgSectionType(rest)
		if kind == wiremessage.SingleDocument {
			var only bsoncore.Document
			var main bson.D
			only, rest, ok = wiremessage.ReadMsgSectionSingleDocument(rest)
			err = bson.Unmarshal(only, &main)
			command = append(main, command...)
			continue
		}
		name, parts, rest, ok = wiremessage.ReadMsgSectionDocumentSequence(rest)
		list := make(bson.A, len(parts))
		for i, part := range parts {
			var d bson.D
			err = errors.Join(err, bson.Unmarshal(part, &d))
			list[i] = d
		}
		command = append(command, bson.E{Key: name, Value: list})
	}
	if !ok {
		err = errMalformed
	}
	return command, err
}

func (m message) reply(answer []byte) []byte {
	kind := wiremessage.OpMsg
	if m.kind == wiremessage.OpQuery { //nolint:staticcheck // Drivers greet with it.
		kind = wiremessage.OpReply
	}
	start, b := wiremessage.AppendHeaderStart(nil, 0, m.id, kind)
	if kind == wiremessage.OpMsg {
		b = wiremessage.AppendMsgSectionType(wiremessage.AppendMsgFlags(b, 0), wiremessage.SingleDocument)
	} else {
		b = wiremessage.AppendReplyCursorID(wiremessage.AppendReplyFlags(b, 0), 0)
		b = wiremessage.AppendReplyNumberReturned(wiremessage.AppendReplyStartingFrom(b, 0), 1)
	}
	b = append(b, answer...)
	return bsoncore.UpdateLength(b, start, int32(len(b)))
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
