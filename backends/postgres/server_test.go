package postgres_test

import (
	"context"
	"crypto/rand"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/postgres"
	"github.com/botctx/go-sdk/internal/pgserver"
)

// server is the PostgreSQL server for the tests: the one in POSTGRES_URL, or one that the tests start. It is
// nil if there is none. Each test uses a separate schema, whose name begins with "botctx_test_", and drops it
// at the end, unless the whole server goes then.
var server *pgserver.Server

// isShared is true if the server is the one in POSTGRES_URL.
var isShared = os.Getenv(pgserver.URLVariable) != ""

func TestMain(m *testing.M) {
	ctx := context.Background()
	if order := os.Getenv(chaosVariable); order != "" {
		if err := beChaotic(ctx, order); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	flag.Parse()
	if isShared {
		server = &pgserver.Server{URL: os.Getenv(pgserver.URLVariable)}
		m.Run()
		return
	}
	settings := []string{"max_connections=600", "shared_buffers=128MB", "max_wal_size=2GB"}
	if flag.Lookup("test.bench").Value.String() == "" {
		settings = append(settings, "fsync=off")
	}
	var err error
	if server, err = pgserver.Start(ctx, settings...); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if server != nil {
		defer server.Stop()
	}
	m.Run()
}

func needServer(tb testing.TB) {
	tb.Helper()
	if server == nil {
		tb.Skip(pgserver.Missing)
	}
}

// newSchema returns the name of a new schema. On a shared server, the schema is dropped after the test. Otherwise that
// would only take time, because dropping needs another connection.
func newSchema(tb testing.TB) string {
	tb.Helper()
	needServer(tb)
	name := "botctx_test_" + strings.ToLower(rand.Text())
	if isShared {
		tb.Cleanup(func() { execute(tb, "DROP SCHEMA IF EXISTS "+name+" CASCADE") })
	}
	return name
}

// execute executes statements on a separate connection.
func execute(tb testing.TB, text string) {
	tb.Helper()
	ctx := context.WithoutCancel(tb.Context())
	c, err := pgx.Connect(ctx, server.URL)
	require.NoError(tb, err)
	_, err = c.Exec(ctx, text)
	require.NoError(tb, err)
	require.NoError(tb, c.Close(ctx))
}

// newPool returns a pool without the store's settings.
func newPool(tb testing.TB) *pgxpool.Pool {
	tb.Helper()
	needServer(tb)
	pool, err := pgxpool.New(tb.Context(), server.URL+" pool_max_conns=16")
	require.NoError(tb, err)
	tb.Cleanup(pool.Close)
	return pool
}

// openIn opens a store in this schema, and closes it after the test.
func openIn(tb testing.TB, schema string) *postgres.Store {
	tb.Helper()
	s, err := postgres.Open(tb.Context(), server.URL, postgres.WithSchema(schema))
	require.NoError(tb, err)
	tb.Cleanup(s.Close)
	return s
}

// open opens a store in a new schema.
func open(tb testing.TB) *postgres.Store {
	tb.Helper()
	return openIn(tb, newSchema(tb))
}
