package mongo_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	driver "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/botctx/go-sdk/backends/mongo"
	"github.com/botctx/go-sdk/backends/mongo/internal/memserver"
	"github.com/botctx/go-sdk/store"
)

// uriVariable names a server of MongoDB. Without it the tests run against package memserver, a server in
// this process that has every capability and does many commands at once. Each test has a database of its own,
// whose name begins with "botctx_test_", and drops it.
const uriVariable = "BOTCTX_MONGO_URI"

// uri is the server's address, and client a client of it.
var (
	uri    string
	client *driver.Client
)

func TestMain(m *testing.M) {
	if database := os.Getenv(workerVariable); database != "" {
		if err := work(database); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if order := os.Getenv(chaosVariable); order != "" {
		if err := beChaotic(context.Background(), order); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// run runs the tests.
func run(m *testing.M) (code int, err error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if uri = os.Getenv(uriVariable); uri == "" {
		if uri, err = serveMemserver(ctx); err != nil {
			return 0, err
		}
	}
	if client, err = driver.Connect(options.Client().ApplyURI(uri)); err != nil {
		return 0, err
	}
	defer func() { _ = client.Disconnect(context.Background()) }()
	return m.Run(), nil
}

// serveMemserver serves from memory until ctx ends, and returns the address.
func serveMemserver(ctx context.Context) (address string, err error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	go memserver.New().Serve(ctx, listener)
	return "mongodb://" + listener.Addr().String(), nil
}

// newDatabase returns a database of the test's own, which is dropped at its end.
func newDatabase(tb testing.TB) *driver.Database {
	tb.Helper()
	database := client.Database("botctx_test_" + strings.ToLower(bson.NewObjectID().Hex()))
	tb.Cleanup(func() { require.NoError(tb, database.Drop(context.Background())) })
	return database
}

// newStore returns a store on a database of the test's own.
func newStore(t *testing.T) store.Store {
	t.Helper()
	store, err := mongo.New(t.Context(), newDatabase(t))
	require.NoError(t, err)
	return store
}
