package memserver

import (
	"context"
	"errors"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
)

// request is a command to a collection.
type request struct {
	ctx     context.Context //nolint:containedctx // It lives as long as the command.
	server  *Server
	command bson.D
	base    *database
	name    string
}

// verb is a command that the server has.
type verb struct {
	// fields are those that every version from 6 to 8 knows.
	fields []string
	// isOpen lets other fields pass: clients say much of themselves when they greet.
	isOpen bool
	do     func(r *request) (bson.D, error)
}

// common are the fields that every command may have.
var common = []string{
	"$db", "lsid", "$readPreference", "readConcern", "writeConcern", "apiVersion", "comment", "maxTimeMS",
}

// verbs returns the commands by their names.
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

// The codes of errors that are given here.
const (
	codeBadValue          = 2
	codeNamespaceNotFound = 26
	codeCommandNotFound   = 59
	codeIndexOptions      = 85
	codeDuplicateKey      = 11000
	codeUnknownField      = 40415
)

// commandError is an error with a code of MongoDB's.
type commandError struct {
	code int32
	text string
}

// Error returns the text.
func (e commandError) Error() string { return e.text }

// refusal returns an error as the server tells it.
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

// answer does a command and returns what the client gets.
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
	return known.do(&request{ctx: ctx, server: s, command: command, base: s.in(base), name: collection})
}

// onlyFields refuses fields that not every version knows.
func onlyFields(d bson.D, of string, fields []string) error {
	for _, e := range d {
		if !slices.Contains(fields, e.Key) {
			return commandError{codeUnknownField, "BSON field '" + of + "." + e.Key + "' is an unknown field."}
		}
	}
	return nil
}

// greet answers as a server of version 8 does that is no member of a replica set.
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

// collection returns the collection that the command names.
func (r *request) collection() store.Collection { return r.base.store.Collection(r.name) }
