package postgres_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/botctx/go-sdk/backends/postgres"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/chaostest"
	"github.com/botctx/go-sdk/internal/pgserver"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/store"
)

// chaosVariable is an environment variable with a chaosOrder. If it is set, the test binary accepts and handles
// events.
const chaosVariable = "BOTCTX_POSTGRES_CHAOS"

// chaosOrder configures a process that accepts and handles events.
type chaosOrder struct {
	chaostest.Order

	URL    string `json:"url"`
	Schema string `json:"schema"`
}

// beChaotic accepts and handles events until it is stopped or killed.
func beChaotic(ctx context.Context, text string) error {
	var order chaosOrder
	if err := json.Unmarshal([]byte(text), &order); err != nil {
		return err
	}
	database, err := postgres.Open(ctx, order.URL, postgres.WithSchema(order.Schema))
	for errors.Is(err, boterr.Unavailable) { // The server may be restarting.
		<-time.After(glance)
		database, err = postgres.Open(ctx, order.URL, postgres.WithSchema(order.Schema))
	}
	if err != nil {
		return err
	}
	defer database.Close()
	return chaostest.Work(ctx, order.Order, database, os.Stdin, os.Stdout)
}

// glance is the interval at which tests check their conditions.
const glance = 100 * time.Millisecond

// newChaos returns a platform on a new schema. Its members have agendas that increment a counter.
func newChaos(t *testing.T, members, agendas int, lease time.Duration) (*chaostest.Platform, store.Store) {
	t.Helper()
	schema := newSchema(t)
	database := openIn(t, schema)
	chaostest.Prepare(t, database, agendas)
	order := chaosOrder{
		Order: chaostest.Order{Journal: filepath.Join(t.TempDir(), "journal"), Lease: lease}, URL: server.URL, Schema: schema,
	}
	return chaostest.NewPlatform(t, order.Journal, members, chaosVariable, order), database
}

//nolint:paralleltest // See chaostest.RunKills.
func TestAccept_ProcessesKilledAndFrozen(t *testing.T) { chaostest.RunKills(t, newChaos) }

//nolint:paralleltest // See chaostest.RunKills.
func TestAccept_CountsUpAcrossProcesses(t *testing.T) { chaostest.RunCounts(t, newChaos) }

// The server is restarted under load while processes are killed.
//
//nolint:paralleltest // See chaostest.RunKills.
func TestAccept_ServerRestarted(t *testing.T) {
	const members, processes, lines = 40, 4, 200
	needServer(t)
	if isShared {
		t.Skip("the server is not the test's own: unset " + pgserver.URLVariable)
	}
	platform, database := newChaos(t, members, 0, chaostest.Lease)
	platform.Start(processes)
	for round := range rounds.Of(t, 1, 20) {
		platform.SendUntilHeard(1 + platform.Random(lines))
		platform.Disturb(func() error { return server.Restart(t.Context(), []string{"QUIT", "INT"}[round%2]) })
		platform.SendUntilHeard(1 + platform.Random(lines))
		platform.KillOne()
	}
	platform.Send(members)
	platform.Stop()
	t.Logf("%+v", platform.Judge(database))
}
