package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/mongo"
	"github.com/botctx/go-sdk/internal/pgserver"
)

// uriVariable names the environment variable with the address of a MongoDB server. Without it the tests use
// the in-memory server of backends/mongo.
const uriVariable = "BOTCTX_MONGO_URI"

func TestStores_GoOnAfterRestart(t *testing.T) {
	t.Parallel()
	for variable, opened := range map[string]func(*testing.T) string{"HOST_MONGODB": newDatabase, "HOST_POSTGRES": newPostgres} {
		t.Run(variable, func(t *testing.T) {
			t.Parallel()
			address := opened(t)
			w := newWorldIn(t, variables{variable: address})
			require.Equal(t, held, w.say("m1", "a table for 4 at 19:30"))
			w.stop()
			w.start()
			require.Equal(t, 200, w.get("/readyz").status)
			require.Equal(t, "Booked: 4 at 19:30. See you then!", w.say("m2", "yes"))
			w.stop()
			require.NotContains(t, w.log.String(), address)
		})
	}
}

func TestStores_WrongAddressHidesPassword(t *testing.T) {
	t.Parallel()
	for address, at := range map[string][2]string{
		"mongodb://ada:hunter2@127.0.0.1":                                   {"HOST_MONGODB", "mongodb"},
		"mongodb://ada:hunter2@127.0.0.1:1/bots?serverSelectionTimeoutMS=1": {"HOST_MONGODB", "mongodb"},
		"mongo://ada:hunter2@127.0.0.1/bots":                                {"HOST_MONGODB", "mongodb"},
		"postgres://ada:hunter2@127.0.0.1:1/bots":                           {"HOST_POSTGRES", "postgres"},
		"postgre://ada:hunter2@127.0.0.1/bots":                              {"HOST_POSTGRES", "postgres"},
	} {
		problems := &lockedBuffer{}
		environment := variables{demoVariable: secretOfTests, at[0]: address}
		require.Equal(t, 1, run(t.Context(), []string{"-demo", "-listen", anyPort}, environment.lookup, io.Discard, problems))
		require.Contains(t, problems.String(), "opening the "+at[1]+" store: ")
		require.NotContains(t, problems.String(), "hunter2")
	}
}

// newDatabase returns the address of a database that is dropped when the test ends.
func newDatabase(t *testing.T) string {
	t.Helper()
	server := os.Getenv(uriVariable)
	if server == "" {
		server = startServer(t)
	}
	at, err := url.Parse(server)
	require.NoError(t, err)
	query := at.Query()
	if at.User != nil && query.Get("authSource") == "" { // authSource defaults to the path, which changes below.
		before := strings.Trim(at.Path, "/")
		if before == "" {
			before = "admin"
		}
		query.Set("authSource", before)
	}
	at.RawQuery, at.Path = query.Encode(), "/botctx_host_"+time.Now().UTC().Format("20060102150405000000000")
	t.Cleanup(func() {
		store, err := mongo.Open(context.Background(), at.String())
		require.NoError(t, err)
		require.NoError(t, store.Database().Drop(context.Background()))
		require.NoError(t, store.Close(context.Background()))
	})
	return at.String()
}

// startServer builds and starts the server in memory, and returns its address.
func startServer(t *testing.T) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "memserver")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "./internal/memserver/serve")
	build.Dir = "../../backends/mongo"
	text, err := build.CombinedOutput()
	require.NoError(t, err, "building the server: %s", text)
	server := exec.CommandContext(context.Background(), binary)
	server.Stderr = os.Stderr
	input, err := server.StdinPipe()
	require.NoError(t, err)
	output, err := server.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, server.Start())
	t.Cleanup(func() {
		_ = input.Close() // The server then stops.
		_ = server.Wait()
	})
	address, err := bufio.NewReader(output).ReadString('\n')
	require.NoError(t, err)
	return strings.TrimSpace(address)
}

// newPostgres returns the address of an empty database.
func newPostgres(t *testing.T) string {
	t.Helper()
	address := os.Getenv(pgserver.URLVariable)
	if address == "" {
		server, err := pgserver.Start(t.Context(), "fsync=off")
		require.NoError(t, err)
		if server == nil {
			t.Skip(pgserver.Missing)
		}
		t.Cleanup(server.Stop)
		return server.URL
	}
	name := "botctx_host_" + strings.ToLower(rand.Text())
	execute(t, address, "CREATE DATABASE "+name)
	t.Cleanup(func() { execute(t, address, "DROP DATABASE "+name) })
	if !strings.Contains(address, "://") {
		return address + " dbname=" + name
	}
	at, err := url.Parse(address)
	require.NoError(t, err)
	at.Path = "/" + name
	return at.String()
}

func execute(t *testing.T, address, text string) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	c, err := pgx.Connect(ctx, address)
	require.NoError(t, err)
	_, err = c.Exec(ctx, text)
	require.NoError(t, err)
	require.NoError(t, c.Close(ctx))
}
