package mongo_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/url"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	driver "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/botctx/go-sdk/backends/mongo"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/bounded/boundedtest"
	"github.com/botctx/go-sdk/internal/conformance"
	"github.com/botctx/go-sdk/internal/sharedtest"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

func TestOpen_RefusesBadAddress(t *testing.T) {
	t.Parallel()
	for name, uri := range map[string]string{
		"empty":       "",
		"no scheme":   "localhost:27017",
		"no database": "mongodb://localhost:27017/",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := mongo.Open(t.Context(), uri)
			require.ErrorIs(t, err, boterr.InvalidArgument)
		})
	}
}

func TestOpen_ShowsNoPassword(t *testing.T) {
	t.Parallel()
	_, err := mongo.Open(t.Context(), "mongodb://bot:s3cret@localhost:x/bots")
	require.Error(t, err)
	require.NotContains(t, err.Error(), "s3cret")
}

func TestOpen_ServerDoesNotAnswer(t *testing.T) {
	t.Parallel()
	_, err := mongo.Open(t.Context(), "mongodb://127.0.0.1:1/bots?serverSelectionTimeoutMS=50&connectTimeoutMS=50")
	require.ErrorIs(t, err, boterr.Unavailable)
}

// openStore opens a store on a new database.
func openStore(t *testing.T) *mongo.Store {
	t.Helper()
	store, err := mongo.New(t.Context(), newDatabase(t))
	require.NoError(t, err)
	return store
}

func TestStore_ForeignDocuments(t *testing.T) {
	t.Parallel()
	database := openStore(t)
	_, err := database.Database().Collection("shared").InsertOne(t.Context(), bson.D{{Key: "_id", Value: "a"}, {Key: "n", Value: int32(1)}})
	require.NoError(t, err)
	c := database.Collection("shared")
	require.NoError(t, c.Insert(t.Context(), document.O("_id", "b", "n", 2)))
	for range 2 { // The server applies $inc by a plan. This process computes $max.
		for _, update := range []document.Object{document.O("$inc", document.O("n", 1)), document.O("$max", document.O("m", 5))} {
			_, err := c.Update(t.Context(), sharedtest.FilterOf(t, document.O("_id", "a")), changeOf(t, update), store.UpdateOptions{})
			require.NoError(t, err)
		}
	}
	found, err := c.Find(t.Context(), nil, store.FindOptions{})
	require.NoError(t, err)
	require.Len(t, found, 2)
	require.Equal(t, 3, document.Get(found[0], "n", 0))
	require.Equal(t, 5, document.Get(found[0], "m", 0))
	require.False(t, found[0].Has("_botctx"))
}

// farAhead inserts a document like a process whose clock is an hour ahead.
func farAhead(t *testing.T, database *mongo.Store, collection, id string) {
	t.Helper()
	const orderBits = 10
	now, err := database.Now(t.Context())
	require.NoError(t, err)
	place := now.Add(time.Hour).UnixMicro() << orderBits
	_, err = database.Database().Collection(collection).InsertOne(t.Context(), bson.D{
		{Key: "_id", Value: id}, {Key: "_botctx", Value: bson.D{{Key: "order", Value: place}, {Key: "revision", Value: bson.NewObjectID()}}},
	})
	require.NoError(t, err)
}

func TestInsert_ComesBehindWhatWasThere(t *testing.T) {
	t.Parallel()
	for told, tell := range map[string]func(t *testing.T, c store.Collection){
		"by a search": func(t *testing.T, c store.Collection) {
			t.Helper()
			_, err := c.Find(t.Context(), sharedtest.FilterOf(t, document.O("_id", "theirs")), store.FindOptions{})
			require.NoError(t, err)
		},
		"by a change": func(t *testing.T, c store.Collection) {
			t.Helper()
			_, err := c.FindAndModify(t.Context(), sharedtest.FilterOf(t, document.O("_id", "theirs")),
				changeOf(t, document.O("$set", document.O("n", 1))), store.FindAndModifyOptions{})
			require.NoError(t, err)
		},
		"by a refusal": func(t *testing.T, c store.Collection) {
			t.Helper()
			require.Equal(t, boterr.AlreadyExists, boterr.CodeOf(c.Insert(t.Context(), document.O("_id", "theirs"))))
		},
	} {
		t.Run(told, func(t *testing.T) {
			t.Parallel()
			database := openStore(t)
			c := database.Collection("events")
			require.NoError(t, c.Insert(t.Context(), document.O("_id", "before")))
			farAhead(t, database, "events", "theirs")
			require.NoError(t, c.Insert(t.Context(), document.O("_id", "unaware")))
			tell(t, c)
			require.NoError(t, c.Insert(t.Context(), document.O("_id", "after")))
			found, err := c.Find(t.Context(), nil, store.FindOptions{})
			require.NoError(t, err)
			var ids []string
			for _, o := range found {
				ids = append(ids, document.Get(o, "_id", ""))
			}
			require.Equal(t, []string{"before", "unaware", "theirs", "after"}, ids)
		})
	}
}

func TestUpdate_NullWhereNothingWas(t *testing.T) {
	t.Parallel()
	c := openStore(t).Collection("own")
	require.NoError(t, c.Insert(t.Context(), document.O("_id", 1, "of", "a")))
	for _, modified := range []int64{1, 0} {
		result, err := c.Update(t.Context(), sharedtest.FilterOf(t, document.O("of", "a")),
			changeOf(t, document.O("$set", document.O("n", nil))), store.UpdateOptions{})
		require.NoError(t, err)
		require.Equal(t, store.UpdateResult{Matched: 1, Modified: modified}, result)
	}
}

func TestFind_UnknownType(t *testing.T) {
	t.Parallel()
	database := openStore(t)
	_, err := database.Database().Collection("shared").InsertOne(t.Context(),
		bson.D{{Key: "_id", Value: "a"}, {Key: "in", Value: bson.D{{Key: "ref", Value: bson.NewObjectID()}}}})
	require.NoError(t, err)
	_, err = database.Collection("shared").Find(t.Context(), nil, store.FindOptions{})
	require.ErrorIs(t, err, boterr.FailedPrecondition)
	e, _ := boterr.AsError(err)
	require.Equal(t, "in.ref", e.Field)
	require.ErrorContains(t, err, `"shared"`)
}

func TestFilter_HiddenField(t *testing.T) {
	t.Parallel()
	c := newStore(t).Collection("own")
	require.NoError(t, c.Insert(t.Context(), document.O("_id", 1)))
	_, filtered := c.Find(t.Context(), sharedtest.FilterOf(t, document.O("_botctx.order", document.O("$gt", 0))), store.FindOptions{})
	_, set := c.Update(t.Context(), nil, changeOf(t, document.O("$set", document.O("_botctx.order", 1))), store.UpdateOptions{})
	_, replaced := c.Update(t.Context(), nil, changeOf(t, document.O("_botctx", 1)), store.UpdateOptions{})
	_, distinct := c.Distinct(t.Context(), "_botctx.order", nil)
	for name, err := range map[string]error{
		"Find": filtered, "$set": set, "replacement": replaced, "Distinct": distinct,
		"Insert": c.Insert(t.Context(), document.O("_id", 2, "_botctx", 1)),
		"EnsureIndex": c.EnsureIndex(t.Context(),
			store.Index{Keys: []store.IndexKey{{Path: "_botctx.order", Kind: query.Ascending}}}),
	} {
		require.ErrorIs(t, err, boterr.InvalidArgument, name)
	}
}

func TestOpen_ThenClose(t *testing.T) {
	t.Parallel()
	address, err := url.Parse(uri)
	require.NoError(t, err)
	address.Path = "/" + newDatabase(t).Name()
	store, err := mongo.Open(t.Context(), address.String())
	require.NoError(t, err)
	c := store.Collection("own")
	require.NoError(t, c.Insert(t.Context(), document.O("_id", 1)))
	require.NoError(t, store.Close(t.Context()))
	_, err = c.Count(t.Context(), nil)
	require.ErrorIs(t, err, boterr.Unavailable)
}

func TestUpdate_HandsKeysOn(t *testing.T) {
	t.Parallel()
	c := newStore(t).Collection("own")
	require.NoError(t, c.EnsureIndex(t.Context(),
		store.Index{Keys: []store.IndexKey{{Path: "n", Kind: query.Ascending}}, Unique: true}))
	const count = 40
	documents := make([]document.Object, 0, count)
	for i := range count {
		documents = append(documents, document.O("_id", i, "n", i+1))
	}
	require.NoError(t, c.Insert(t.Context(), documents...))
	down := sharedtest.Change(t, "$inc", document.O("n", -1))
	result, err := c.Update(t.Context(), nil, down, store.UpdateOptions{Multi: true})
	require.NoError(t, err)
	require.Equal(t, store.UpdateResult{Matched: count, Modified: count}, result)
	found, err := c.Find(t.Context(), nil, store.FindOptions{})
	require.NoError(t, err)
	for i, o := range found {
		require.Equal(t, i, document.Get(o, "n", -1))
	}
}

func TestUpdate_ForeignFieldOrder(t *testing.T) {
	t.Parallel()
	database := openStore(t)
	_, err := database.Database().Collection("shared").InsertOne(t.Context(), map[string]int{"_id": 1})
	require.NoError(t, err)
	c := database.Collection("shared")
	for _, field := range []string{"a", "b"} {
		_, err = c.Update(t.Context(), sharedtest.FilterOf(t, document.O("_id", 1)),
			sharedtest.Change(t, "$inc", document.O(field, 1)), store.UpdateOptions{})
		require.NoError(t, err)
	}
	found, err := c.Find(t.Context(), nil, store.FindOptions{})
	require.NoError(t, err)
	require.Equal(t, []string{"_id", "a", "b"}, found[0].Keys())
}

func TestNear_LimitCutsByInsertion(t *testing.T) {
	t.Parallel()
	c := newStore(t).Collection("own")
	err := c.EnsureIndex(t.Context(), store.Index{Keys: []store.IndexKey{{Path: "at", Kind: query.Geo2D}}})
	require.NoError(t, err)
	for i := range 5 {
		require.NoError(t, c.Insert(t.Context(), document.O("_id", i, "at", document.A(1, 1))))
	}
	near, err := query.CompileGeoNear(document.O("near", document.A(0, 0), "limit", 2))
	require.NoError(t, err)
	found, err := c.GeoNear(t.Context(), near)
	require.NoError(t, err)
	require.Len(t, found, 2)
	for i, result := range found {
		require.Equal(t, i, document.Get(result.Document, "_id", -1))
	}
}

var errTurnOver = errors.New("the lane was lost")

// Refusal implements store.Refuser. It refuses everything after the first command, as if a process had been
// frozen after that command and lost its lane.
func (c *countedStore) Refusal() error {
	if c.commands.Load() > 0 {
		return errTurnOver
	}
	return nil
}

func TestRefuser_NothingIsWrittenBetweenTwoCommands(t *testing.T) {
	t.Parallel()
	set := document.O("$set", document.O("m", 7))
	for name, do := range map[string]func(c *countedStore) error{
		"upsert that inserts": func(c *countedStore) error {
			return c.findAndModify(document.O("n", 9), set, store.FindAndModifyOptions{Upsert: true})
		},
		"upsert by _id that inserts": func(c *countedStore) error {
			return c.update(document.O("_id", "a"), set, store.UpdateOptions{Upsert: true})
		},
		"upsert with Multi that inserts": func(c *countedStore) error {
			return c.update(document.O("n", 9), set, store.UpdateOptions{Upsert: true, Multi: true})
		},
		"update that reads first": func(c *countedStore) error {
			return c.update(document.O("n", 1), set, store.UpdateOptions{})
		},
		"update with Multi": func(c *countedStore) error {
			return c.update(document.O(), set, store.UpdateOptions{Multi: true})
		},
		"replacement": func(c *countedStore) error {
			return c.update(document.O("_id", 1), document.O("n", 7), store.UpdateOptions{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCounted(t)
			before, err := c.Find(t.Context(), nil, store.FindOptions{})
			require.NoError(t, err)
			c.commands.Store(0)
			c.ctx = store.WithRefuser(t.Context(), c)
			require.ErrorIs(t, do(c), errTurnOver)
			require.Equal(t, int64(1), c.commands.Load(), "commands that were sent")
			after, err := c.Find(t.Context(), nil, store.FindOptions{})
			require.NoError(t, err)
			require.Equal(t, before, after)
		})
	}
}

// newSilentDatabase returns a database on a server that reports success without doing anything, so that a
// benchmark measures the client alone.
func newSilentDatabase(b *testing.B) *driver.Database {
	b.Helper()
	silent, err := driver.Connect(silentOptions().ApplyURI(listenSilently(b, silentAnswers(b))))
	require.NoError(b, err)
	return silent.Database("silent")
}

// silentOptions makes a client send requests in the one form that the silent server reads.
func silentOptions() *options.ClientOptions {
	return options.Client().SetServerAPIOptions(options.ServerAPI(options.ServerAPIVersion1))
}

// listenSilently starts a server with these answers by command name, and returns its address. Other commands
// get no answer.
func listenSilently(tb testing.TB, answers map[string][]byte) string {
	tb.Helper()
	listener, err := new(net.ListenConfig).Listen(tb.Context(), "tcp", "127.0.0.1:0")
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, listener.Close()) })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go answerAll(client, answers)
		}
	}()
	return "mongodb://" + listener.Addr().String() + "/silent"
}

// silentAnswers returns the answers by command name.
func silentAnswers(tb testing.TB) map[string][]byte {
	tb.Helper()
	ok := bson.E{Key: "ok", Value: 1}
	held := append(plain(1), bson.E{Key: "_botctx", Value: bson.D{
		{Key: "order", Value: int64(1)}, {Key: "revision", Value: bson.NewObjectID()},
	}})
	written := bson.D{{Key: "n", Value: 1}, {Key: "nModified", Value: 1}, ok}
	answers := map[string][]byte{}
	for command, answer := range map[string]bson.D{
		"hello": {
			{Key: "isWritablePrimary", Value: true},
			{Key: "maxBsonObjectSize", Value: 16 << 20},
			{Key: "maxMessageSizeBytes", Value: 48_000_000},
			{Key: "maxWriteBatchSize", Value: 100_000},
			{Key: "localTime", Value: bson.DateTime(1_700_000_000_000)},
			{Key: "minWireVersion", Value: 0},
			{Key: "maxWireVersion", Value: 25},
			ok,
		},
		"find": batchOf(held), "aggregate": batchOf(bson.D{{Key: "_id", Value: 1}, {Key: "n", Value: 1}}),
		"insert": written, "update": written, "delete": written,
		"findAndModify": {{Key: "lastErrorObject", Value: bson.D{{Key: "n", Value: 1}}}, {Key: "value", Value: held}, ok},
	} {
		answers[command] = silentAnswer(tb, answer)
	}
	return answers
}

func batchOf(o any) bson.D {
	return bson.D{{Key: "cursor", Value: bson.D{
		{Key: "firstBatch", Value: bson.A{o}}, {Key: "id", Value: int64(0)}, {Key: "ns", Value: "silent.any"},
	}}, {Key: "ok", Value: 1}}
}

// silentAnswer encodes the message of an answer. The id of its request is still missing.
func silentAnswer(tb testing.TB, answer bson.D) []byte {
	tb.Helper()
	body, err := bson.Marshal(answer)
	require.NoError(tb, err)
	message := make([]byte, 21, 21+len(body)) // Header, flags and kind of section.
	binary.LittleEndian.PutUint32(message, uint32(21+len(body)))
	binary.LittleEndian.PutUint32(message[12:], 2013)
	return append(message, body...)
}

func answerAll(client net.Conn, answers map[string][]byte) {
	defer func() { _ = client.Close() }()
	var head [4]byte
	for {
		if _, err := io.ReadFull(client, head[:]); err != nil {
			return
		}
		rest := make([]byte, binary.LittleEndian.Uint32(head[:])-4)
		if _, err := io.ReadFull(client, rest); err != nil {
			return
		}
		first, err := bson.Raw(rest[17:]).IndexErr(0) // Skip the header, the flags and the kind of section.
		if err != nil {
			return
		}
		answer := append([]byte{}, answers[first.Key()]...)
		if len(answer) == 0 {
			continue
		}
		copy(answer[8:12], rest[:4]) // The id of the request that is answered.
		if _, err := client.Write(answer); err != nil {
			return
		}
	}
}

// openSilently returns a collection on a server that only answers the handshake, requests for its time, and the
// commands in more.
func openSilently(t *testing.T, more map[string][]byte, opts ...mongo.Option) store.Collection {
	t.Helper()
	answers := map[string][]byte{"hello": silentAnswers(t)["hello"]}
	maps.Copy(answers, more)
	store, err := mongo.Open(t.Context(), listenSilently(t, answers), opts...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close(context.Background())) })
	return store.Collection("own")
}

func TestServer_FallsSilent(t *testing.T) {
	t.Parallel()
	const most = 5 * time.Second // Long enough to connect on a busy machine; every call below takes this long.
	c := openSilently(t, nil, mongo.WithClientOptions(silentOptions().SetTimeout(most)))
	one := sharedtest.FilterOf(t, document.O("_id", 1))
	set := changeOf(t, document.O("$set", document.O("n", 1)))
	calls := map[string]func() error{
		"Find":     func() error { _, err := c.Find(context.Background(), one, store.FindOptions{}); return err },
		"Count":    func() error { _, err := c.Count(context.Background(), one); return err },
		"Distinct": func() error { _, err := c.Distinct(context.Background(), "n", one); return err },
		"Insert":   func() error { return c.Insert(context.Background(), document.O("_id", 1)) },
		"Update":   func() error { _, err := c.Update(context.Background(), one, set, store.UpdateOptions{}); return err },
		"FindAndModify": func() error {
			_, err := c.FindAndModify(context.Background(), one, set, store.FindAndModifyOptions{})
			return err
		},
		"Delete": func() error { _, err := c.Delete(context.Background(), one, store.DeleteOptions{}); return err },
	}
	names := slices.Sorted(maps.Keys(calls))
	for i, err := range conformance.AtOnce(len(names), func(i int) error { return calls[names[i]]() }) {
		require.ErrorIs(t, err, boterr.Unavailable, names[i])
	}
}

// TestEnsureIndex_IndexOfTheHost uses a server that does not answer createIndexes, so EnsureIndex fails with
// Unavailable if it creates an index.
func TestEnsureIndex_IndexOfTheHost(t *testing.T) {
	t.Parallel()
	wanted := store.Index{Keys: []store.IndexKey{{Path: "email", Kind: query.Ascending}}, Unique: true}
	plain := bson.D{
		{Key: "v", Value: 2}, {Key: "key", Value: bson.D{{Key: "email", Value: 1}}}, {Key: "name", Value: "host"}, {Key: "unique", Value: true},
	}
	ensure := func(t *testing.T, index bson.D) error {
		t.Helper()
		there := map[string][]byte{"listIndexes": silentAnswer(t, batchOf(index))}
		c := openSilently(t, there, mongo.WithClientOptions(silentOptions()))
		return c.EnsureIndex(t.Context(), wanted)
	}
	require.NoError(t, ensure(t, plain), "it is the wanted one under another name")
	for name, value := range map[string]any{
		"partialFilterExpression": bson.D{{Key: "n", Value: bson.D{{Key: "$gt", Value: 5}}}},
		"collation":               bson.D{{Key: "locale", Value: "en"}, {Key: "strength", Value: 2}},
		"expireAfterSeconds":      60,
		"hidden":                  true,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := ensure(t, append(slices.Clip(plain), bson.E{Key: name, Value: value}))
			require.ErrorIs(t, err, boterr.FailedPrecondition)
			require.ErrorContains(t, err, name)
		})
	}
}

// The driver stops reading an endless answer at its maximum length.
func TestOpen_EndlessAnswer(t *testing.T) {
	t.Parallel()
	for name, filler := range map[string]string{"letters": "a", "zeros": "\x00", "ones": "\xff"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := boundedtest.Serve(t, true, filler, filler)
			_, err := mongo.Open(t.Context(), "mongodb://"+server.Address+"/bots?serverSelectionTimeoutMS=200")
			require.ErrorIs(t, err, boterr.Unavailable)
			server.RequireHungUp(t, 1)
		})
	}
}

// manyDocuments is more than an update of many holds in memory at once.
const manyDocuments = 1_100

// insertMany inserts documents with different even numbers, and one document with an odd number that an increment of
// the last of them takes.
func insertMany(t *testing.T, c store.Collection) {
	t.Helper()
	unique := store.Ascending("u")
	unique.Unique = true
	require.NoError(t, c.EnsureIndex(t.Context(), unique))
	documents := []document.Object{}
	for i := range manyDocuments {
		documents = append(documents, document.O("_id", i, "u", 2*i))
	}
	documents = append(documents, document.O("_id", "other", "u", 2*manyDocuments-1))
	require.NoError(t, c.Insert(t.Context(), documents...))
}

func TestUpdate_InParts(t *testing.T) {
	t.Parallel()
	c := newStore(t).Collection("own")
	insertMany(t, c)
	result, err := c.Update(t.Context(), sharedtest.Filter(t, "u", document.O("$lt", 2*manyDocuments-2)),
		sharedtest.Change(t, "$inc", document.O("u", 1)), store.UpdateOptions{Multi: true, Upsert: true})
	require.NoError(t, err)
	require.Equal(t, store.UpdateResult{Matched: manyDocuments - 1, Modified: manyDocuments - 1}, result)
	count, err := c.Count(t.Context(), sharedtest.Filter(t, "u", document.O("$mod", document.A(2, 1))))
	require.NoError(t, err)
	require.EqualValues(t, manyDocuments, count)
}

// If computing any change fails, nothing is written. If the server refuses a document, the earlier parts remain.
func TestUpdate_InPartsFails(t *testing.T) {
	t.Parallel()
	c := newStore(t).Collection("own")
	insertMany(t, c)
	even := sharedtest.Filter(t, "_id", document.O("$type", "number"))
	all := store.UpdateOptions{Multi: true}
	_, err := c.Update(t.Context(), nil, sharedtest.Change(t, "$bit", document.O("_id", document.O("or", 0))), all)
	require.ErrorIs(t, err, boterr.InvalidArgument, "the last _id is a text")
	_, err = c.Update(t.Context(), even, sharedtest.Change(t, "$inc", document.O("u", 1)), all)
	require.ErrorIs(t, err, boterr.Unavailable)
	require.ErrorContains(t, err, "1000 of 1100 documents were already written")
	count, err := c.Count(t.Context(), sharedtest.Filter(t, "u", document.O("$mod", document.A(2, 1))))
	require.NoError(t, err)
	require.EqualValues(t, 1_001, count)
}

// No command lists more _ids than fit into it.
func TestDelete_InParts(t *testing.T) {
	t.Parallel()
	const idSize = 1_000
	var largest atomic.Int64
	monitor := &event.CommandMonitor{Started: func(_ context.Context, e *event.CommandStartedEvent) {
		if e.CommandName == "delete" {
			largest.Store(max(largest.Load(), int64(len(e.Command))))
		}
	}}
	watched, err := driver.Connect(options.Client().ApplyURI(uri).SetMonitor(monitor))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, watched.Disconnect(context.Background())) })
	database, err := mongo.New(t.Context(), watched.Database(newDatabase(t).Name()))
	require.NoError(t, err)
	c := database.Collection("own")
	documents := make([]document.Object, manyDocuments)
	for i := range documents {
		documents[i] = document.O("_id", fmt.Sprintf("%0*d", idSize, i))
	}
	require.ErrorIs(t, c.Insert(t.Context(), append(slices.Clip(documents), documents[0])...), boterr.AlreadyExists)
	require.NoError(t, c.Insert(t.Context(), documents...), "the failed insert was undone")
	removed, err := c.Delete(t.Context(), sharedtest.Filter(t, "$expr", true), store.DeleteOptions{Multi: true})
	require.NoError(t, err)
	require.EqualValues(t, manyDocuments, removed)
	require.Less(t, largest.Load(), int64(manyDocuments*idSize/2))
}
