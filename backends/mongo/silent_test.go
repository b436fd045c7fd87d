package mongo_test

import (
	"context"
	"encoding/binary"
	"io"
	"maps"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	driver "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/botctx/go-sdk/backends/mongo"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/bounded/boundedtest"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// newSilentDatabase returns a database of a server that does nothing and says that it did:
// what an operation takes on it is what the client takes.
func newSilentDatabase(b *testing.B) *driver.Database {
	b.Helper()
	silent, err := driver.Connect(silentOptions().ApplyURI(listenSilently(b, silentAnswers(b))))
	require.NoError(b, err)
	return silent.Database("silent")
}

// silentOptions are those of a client that asks in the one way that the server reads.
func silentOptions() *options.ClientOptions {
	return options.Client().SetServerAPIOptions(options.ServerAPI(options.ServerAPIVersion1))
}

// listenSilently starts a server that has these answers by the names of commands, and leaves
// other commands without one. It returns its address.
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

// silentAnswers are the answers by the names of commands.
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

// batchOf returns the answer that is one document.
func batchOf(o any) bson.D {
	return bson.D{{Key: "cursor", Value: bson.D{
		{Key: "firstBatch", Value: bson.A{o}}, {Key: "id", Value: int64(0)}, {Key: "ns", Value: "silent.any"},
	}}, {Key: "ok", Value: 1}}
}

// silentAnswer returns the message of an answer, but for what it answers.
func silentAnswer(tb testing.TB, answer bson.D) []byte {
	tb.Helper()
	body, err := bson.Marshal(answer)
	require.NoError(tb, err)
	message := make([]byte, 21, 21+len(body)) // The header, the flags and the kind of the section.
	binary.LittleEndian.PutUint32(message, uint32(21+len(body)))
	binary.LittleEndian.PutUint32(message[12:], 2013)
	return append(message, body...)
}

// answerAll answers what one client asks.
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
		first, err := bson.Raw(rest[17:]).IndexErr(0) // Behind the header, the flags and the kind of the section.
		if err != nil {
			return
		}
		answer := append([]byte{}, answers[first.Key()]...)
		if len(answer) == 0 {
			continue
		}
		copy(answer[8:12], rest[:4]) // What it answers.
		if _, err := client.Write(answer); err != nil {
			return
		}
	}
}

// openSilently returns a collection of a server that answers these commands alone, and greets
// and tells its time.
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
	c := openSilently(t, nil, mongo.WithClientOptions(silentOptions().SetTimeout(time.Second)))
	one := filterOf(t, document.O("_id", 1))
	set := changeOf(t, document.O("$set", document.O("n", 1)))
	for name, call := range map[string]func() error{
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
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.ErrorIs(t, call(), boterr.Unavailable)
		})
	}
}

// TestEnsureIndex_IndexOfTheHost fails with Unavailable where the wanted index
// is asked for, since the server does not answer that.
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

// A server that never ends its answer is left: the driver reads messages up to a length.
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
