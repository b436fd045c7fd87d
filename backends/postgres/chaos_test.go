package postgres_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/postgres"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/chaostest"
	"github.com/botctx/go-sdk/internal/pgserver"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/internal/sharedtest"
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

const (
	// chaosLease is the lease in tests that wait for leases to expire. A live process may lose its lease if the
	// machine is slow; the tests tolerate that.
	chaosLease = 5 * time.Second
	// longLease is the lease in tests in which no process is lost. No machine is slow enough to exceed it.
	longLease = time.Hour
	processes = 4
	// glance is the interval at which the test checks its condition.
	glance = 100 * time.Millisecond
)

// newChaos returns a platform on a new schema. Its members have agendas that increment a counter.
func newChaos(t *testing.T, members, agendas int, lease time.Duration) (*chaostest.Platform, *postgres.Store) {
	t.Helper()
	schema := newSchema(t)
	database := openIn(t, schema)
	chaostest.Prepare(t, database, agendas)
	order := chaosOrder{
		Order: chaostest.Order{Journal: filepath.Join(t.TempDir(), "journal"), Lease: lease}, URL: server.URL, Schema: schema,
	}
	return chaostest.NewPlatform(t, order.Journal, members, chaosVariable, order), database
}

// The test runs before the parallel tests, because leases could expire while other tests use the processor.
//
//nolint:paralleltest // See above.
func TestAccept_ProcessesKilledAndFrozen(t *testing.T) {
	const members, killed = 50, 2
	events, repeats := rounds.Of(t, 50, 100), rounds.Of(t, 1, 10)
	platform, database := newChaos(t, members, 0, chaosLease)
	platform.Start(processes)
	platform.Send(events)
	for range repeats {
		platform.FreezeOne(func() {
			for range killed {
				platform.KillOne()
				platform.Send(events)
			}
		})
	}
	platform.Send(events)
	platform.Stop()
	t.Logf("%+v", platform.Judge(database))
}

// The server is restarted under load while processes are killed.
//
//nolint:paralleltest // As above.
func TestAccept_ServerRestarted(t *testing.T) {
	const members, lines = 40, 200
	needServer(t)
	if os.Getenv(pgserver.URLVariable) != "" {
		t.Skip("the server is not the test's own: unset " + pgserver.URLVariable)
	}
	platform, database := newChaos(t, members, 0, chaosLease)
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

// Agendas, redirects and events of one member increment a counter in several processes.
//
//nolint:paralleltest // As above.
func TestAccept_CountsUpAcrossProcesses(t *testing.T) {
	const visitors = 5
	agendas := rounds.Of(t, 10, 125)
	platform, database := newChaos(t, visitors, agendas, longLease)
	platform.Start(processes)
	events := agendas / 2
	platform.CountUp(events)
	open := sharedtest.Filter(t, "completed", false)
	require.Eventually(t, func() bool {
		count, err := database.Collection("agendas").Count(t.Context(), open)
		return err == nil && count == 0
	}, 5*time.Minute, glance, "an agenda is lost")
	platform.Stop()
	figures := platform.Judge(database)
	require.Equal(t, (visitors+1)*events, figures.Events)
	chaostest.RequireCount(t, database, figures.Events+agendas)
}
