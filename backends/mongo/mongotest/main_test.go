package mongotest_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	driver "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/botctx/go-sdk/backends/mongo"
	"github.com/botctx/go-sdk/backends/mongo/mongotest/memserver"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/store"
)

// uriVariable names the server that the tests use in the place of those that they start.
const uriVariable = "BOTCTX_MONGO_URI"

// uri is the server's address, and client a client of it.
var (
	uri    string
	client *driver.Client
)

// isStandIn reports whether the tests run against the stand-in: the thorough ones do, where no
// server is named.
func isStandIn() bool { return os.Getenv(uriVariable) == "" && os.Getenv(rounds.Variable) != "" }

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
	switch uri = os.Getenv(uriVariable); {
	case isStandIn():
		stop, err := startStandIn()
		if err != nil {
			return 0, err
		}
		defer stop()
		fmt.Fprintln(os.Stderr, "running on the stand-in, FerretDB behind a proxy that lets one command through at a time; "+
			uriVariable+" names another server")
	case uri == "":
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

// startStandIn builds and starts the stand-in, and sets its address.
func startStandIn() (stop func(), err error) {
	folder, err := os.MkdirTemp("", "mongotest")
	if err != nil {
		return nil, err
	}
	binary := filepath.Join(folder, "standin")
	// FerretDB under the race detector is slow, and not what is tested.
	if text, err := exec.CommandContext(context.Background(), "go", "build", "-race=false", "-o", binary, "./standin").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("building the stand-in: %w\n%s", err, text)
	}
	command := exec.CommandContext(context.Background(), binary)
	command.Stderr = os.Stderr
	input, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	output, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	stop = func() {
		_ = input.Close() // It stops by itself.
		_ = command.Wait()
		_ = os.RemoveAll(folder)
	}
	if uri, err = bufio.NewReader(output).ReadString('\n'); err != nil {
		stop()
		return nil, fmt.Errorf("starting the stand-in: %w", err)
	}
	uri = strings.TrimSpace(uri)
	return stop, nil
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
