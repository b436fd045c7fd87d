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
	listener, err := new(net.ListenConfig).Listen(b.Context(), "tcp", "127.0.0.1:0")
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, listener.Close()) })
	answers := silentAnswers(b)
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go answerAll(client, answers)
		}
	}()
	silent, err := driver.Connect(options.Client().ApplyURI("mongodb://" + listener.Addr().String()).
		SetServerAPIOptions(options.ServerAPI(options.ServerAPIVersion1)))
	require.NoError(b, err)
	return silent.Database("silent")
}

// silentAnswers are the answers by the names of commands.
func silentAnswers(b *testing.B) map[string][]byte {
	b.Helper()
	ok := bson.E{Key: "ok", Value: 1}
	batch := func(o any) bson.D {
		return bson.D{{Key: "cursor", Value: bson.D{
			{Key: "firstBatch", Value: bson.A{o}}, {Key: "id", Value: int64(0)}, {Key: "ns", Value: "silent.any"},
		}}, ok}
	}
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
		"find": batch(held), "aggregate": batch(bson.D{{Key: "_id", Value: 1}, {Key: "n", Value: 1}}),
		"insert": written, "update": written, "delete": written,
		"findAndModify": {{Key: "lastErrorObject", Value: bson.D{{Key: "n", Value: 1}}}, {Key: "value", Value: held}, ok},
	} {
		body, err := bson.Marshal(answer)
		require.NoError(b, err)
		message := make([]byte, 21, 21+len(body)) // The header, the flags and the kind of the section.
		binary.LittleEndian.PutUint32(message, uint32(21+len(body)))
		binary.LittleEndian.PutUint32(message[12:], 2013)
		answers[command] = append(message, body...)
	}
	return answers
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
		copy(answer[8:12], rest[:4]) // What it answers.
		if _, err := client.Write(answer); err != nil {
			return
		}
	}
}
