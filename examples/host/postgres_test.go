package main

import (
	"context"
	"crypto/rand"
	"io"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/internal/pgserver"
)

func TestPostgres_GoesOnAfterRestart(t *testing.T) {
	t.Parallel()
	address := newPostgres(t)
	w := newWorldIn(t, variables{"HOST_POSTGRES": address})
	require.Equal(t, held, w.say("m1", "a table for 4 at 19:30"))
	w.stop()
	w.start()
	require.Equal(t, 200, w.get("/readyz").status)
	require.Equal(t, "Booked: 4 at 19:30. See you then!", w.say("m2", "yes"))
	w.stop()
	require.NotContains(t, w.log.String(), address)
}

func TestPostgres_WrongAddressHidesPassword(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"postgres://ada:hunter2@127.0.0.1:1/bots", "postgre://ada:hunter2@127.0.0.1/bots"} {
		problems := &lockedBuffer{}
		environment := variables{demoVariable: secretOfTests, "HOST_POSTGRES": address}
		require.Equal(t, 1, run(t.Context(), []string{"-demo", "-listen", anyPort}, environment.lookup, io.Discard, problems))
		require.Contains(t, problems.String(), "opening the postgres store: ")
		require.NotContains(t, problems.String(), "hunter2")
	}
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
