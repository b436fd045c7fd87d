package mongotest_test

import (
	"encoding/binary"
	"io"
	"net"
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	driver "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
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
