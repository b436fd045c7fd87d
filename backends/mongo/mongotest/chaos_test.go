package mongotest_test

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

// chaosServer is a server on which processes are killed.
type chaosServer struct {
	address string
	// lease is longer than a process waits for its turn, on a machine or a server that is busy. The tests
	// wait for one to pass.
	lease time.Duration
	// events and agendas are how many there are.
	events, agendas int
}

// onEachServer runs a test on the server that is named. Where none is, it runs in memory and, in thorough
// tests, on the stand-in, too, which takes one command at a time.
func onEachServer(t *testing.T, do func(t *testing.T, on chaosServer)) {
	t.Helper()
	const eventsPerAgenda = 40
	fast := chaosServer{address: uri, lease: 10 * time.Second, events: rounds.Of(t, 400, 5_000)}
	fast.agendas = fast.events / eventsPerAgenda
	if isStandIn() {
		var err error
		fast.address, err = serveMemserver(t.Context())
		require.NoError(t, err)
		t.Run("stand-in", func(t *testing.T) {
			do(t, chaosServer{address: uri, lease: 30 * time.Second, events: 200, agendas: 12})
		})
	}
	t.Run("server", func(t *testing.T) { do(t, fast) })
}

// platform returns a platform on a database of its own, with a member who has agendas that count up.
func (s chaosServer) platform(t *testing.T, members, agendas int) (*chaostest.Platform, store.Store) {
	t.Helper()
	connection, err := driver.Connect(options.Client().ApplyURI(s.address))
	require.NoError(t, err)
	own := connection.Database("botctx_test_" + bsonID())
	t.Cleanup(func() {
		require.NoError(t, own.Drop(context.Background()))
		require.NoError(t, connection.Disconnect(context.Background()))
	})
	database, err := mongo.New(t.Context(), own)
	require.NoError(t, err)
	chaostest.Prepare(t, database, agendas)
	order := chaosOrder{
		Order: chaostest.Order{Journal: filepath.Join(t.TempDir(), "journal"), Lease: s.lease},
		URI:   s.address, Database: own.Name(),
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
func TestAccept_ProcessesKilledAndFrozen(t *testing.T) { onEachServer(t, killAndFreeze) }

// killAndFreeze has processes handle events, and kills and freezes some.
func killAndFreeze(t *testing.T, on chaosServer) {
	t.Helper()
	const members, parts = 50, 4
	platform, database := on.platform(t, members, 0)
	platform.Start(processes)
	platform.Send(on.events / parts)
	platform.FreezeOne(func() {
		for range killed {
			platform.KillOne()
			platform.Send(on.events / parts)
		}
	})
	platform.Send(on.events / parts)
	platform.Stop()
	t.Logf("%+v", platform.Judge(database))
}

// It runs as the one above.
//
//nolint:paralleltest // See there.
func TestAccept_CountsUpAcrossProcesses(t *testing.T) { onEachServer(t, countUp) }

// countUp has agendas, redirects and events of one member count up in several processes.
func countUp(t *testing.T, on chaosServer) {
	t.Helper()
	const countingProcesses, visitors = 3, 5
	platform, database := on.platform(t, visitors, on.agendas)
	platform.Start(countingProcesses)
	events := on.agendas / 2
	platform.CountUp(events)
	require.Eventually(t, func() bool {
		return count(t, database.Collection("agendas"), document.O("completed", false)) == 0
	}, patience, glance, "an agenda is lost")
	platform.Stop()
	figures := platform.Judge(database)
	require.Equal(t, (visitors+1)*events, figures.Events)
	chaostest.RequireCount(t, database, figures.Events+on.agendas)
}
