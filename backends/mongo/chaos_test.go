package mongo_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	driver "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/botctx/go-sdk/backends/mongo"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/chaostest"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/store"
)

// chaosVariable makes the test binary a process that accepts and handles events: it holds its
// chaosOrder.
const chaosVariable = "BOTCTX_MONGO_CHAOS"

// chaosOrder is what such a process is told.
type chaosOrder struct {
	chaostest.Order

	URI      string `json:"uri"`
	Database string `json:"database"`
}

// beChaotic accepts and handles events until it is told to end, or killed.
func beChaotic(ctx context.Context, text string) error {
	var order chaosOrder
	if err := json.Unmarshal([]byte(text), &order); err != nil {
		return err
	}
	connection, err := driver.Connect(options.Client().ApplyURI(order.URI))
	if err != nil {
		return err
	}
	defer func() { _ = connection.Disconnect(ctx) }()
	database, err := mongo.New(ctx, connection.Database(order.Database))
	if err != nil {
		return err
	}
	return chaostest.Work(ctx, order.Order, database, os.Stdin, os.Stdout)
}

// chaosLease is longer than a process waits for its turn, on a machine or a server that is busy. The tests wait for
// one to pass.
const chaosLease = 10 * time.Second

// newChaos returns a platform on a database of its own, with a member who has agendas that count up.
func newChaos(t *testing.T, members, agendas int) (*chaostest.Platform, store.Store) {
	t.Helper()
	own := newDatabase(t)
	database, err := mongo.New(t.Context(), own)
	require.NoError(t, err)
	chaostest.Prepare(t, database, agendas)
	order := chaosOrder{
		Order: chaostest.Order{Journal: filepath.Join(t.TempDir(), "journal"), Lease: chaosLease},
		URI:   uri, Database: own.Name(),
	}
	text, err := json.Marshal(order)
	require.NoError(t, err)
	return chaostest.NewPlatform(t, order.Journal, members, func() *exec.Cmd {
		command := exec.CommandContext(t.Context(), os.Args[0])
		command.Env = append(os.Environ(), chaosVariable+"="+string(text))
		return command
	}), database
}

// It runs before the tests that are parallel, as TestProcesses_Killed does.
//
//nolint:paralleltest // See above.
func TestAccept_ProcessesKilledAndFrozen(t *testing.T) {
	const members, parts = 50, 4
	events := rounds.Of(t, 400, 5_000)
	platform, database := newChaos(t, members, 0)
	platform.Start(processes)
	platform.Send(events / parts)
	platform.FreezeOne(func() {
		for range killed {
			platform.KillOne()
			platform.Send(events / parts)
		}
	})
	platform.Send(events / parts)
	platform.Stop()
	t.Logf("%+v", platform.Judge(database))
}

// TestAccept_CountsUpAcrossProcesses has agendas, redirects and events of one member count up in several processes.
// It runs as the one above.
//
//nolint:paralleltest // See there.
func TestAccept_CountsUpAcrossProcesses(t *testing.T) {
	const countingProcesses, visitors = 3, 5
	agendas := rounds.Of(t, 10, 125)
	platform, database := newChaos(t, visitors, agendas)
	platform.Start(countingProcesses)
	events := agendas / 2
	platform.CountUp(events)
	require.Eventually(t, func() bool {
		return count(t, database.Collection("agendas"), document.O("completed", false)) == 0
	}, patience, glance, "an agenda is lost")
	platform.Stop()
	figures := platform.Judge(database)
	require.Equal(t, (visitors+1)*events, figures.Events)
	chaostest.RequireCount(t, database, figures.Events+agendas)
}
