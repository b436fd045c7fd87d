package mongotest_test

import (
	"context"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/backends/mongo"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/store"
)

// The work of the processes.
const (
	agendaCount = 60
	couponCount = 200
	processes   = 4
	killed      = 2
	// patience is the longest that the work may take, on a stand-in that takes one command at a time,
	// beside other tests.
	patience = 5 * time.Minute
	// glance is the time between two looks at it.
	glance = 100 * time.Millisecond
)

// bsonID returns an id that no other process makes.
func bsonID() string { return bson.NewObjectID().Hex() }

// process is a worker.
type process struct {
	command *exec.Cmd
	input   io.Closer
}

func startWorker(t *testing.T, database string) process {
	t.Helper()
	command := exec.CommandContext(t.Context(), os.Args[0])
	command.Env = append(os.Environ(), workerVariable+"="+database, "BOTCTX_MONGO_WORKER_URI="+uri)
	command.Stderr = os.Stderr
	input, err := command.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	return process{command: command, input: input}
}

// kill kills a worker, and notes its death.
func (p process) kill(t *testing.T, store store.Store) {
	t.Helper()
	require.NoError(t, p.command.Process.Kill())
	_ = p.command.Wait() // It tells that it was killed.
	require.NoError(t, store.Collection(dead).Insert(t.Context(), document.O("_id", p.command.Process.Pid)))
}

// stop lets a worker come to its end.
func (p process) stop(t *testing.T) {
	t.Helper()
	require.NoError(t, p.input.Close())
	require.NoError(t, p.command.Wait())
}

// prepare stores the members, their agendas and the coupons.
func prepare(t *testing.T, store store.Store) {
	t.Helper()
	require.NoError(t, botctx.EnsureIndexes(t.Context(), store))
	runtime, err := botctx.New(botctx.Config{Store: store})
	require.NoError(t, err)
	scope := record.Scope{App: workerApp}
	web, err := channel.New(runtime.Env(), scope).Save(t.Context(),
		&channel.Channel{ID: "web", App: workerApp, Type: channel.Webchat, On: true})
	require.NoError(t, err)
	bot := runtime.Operations(scope)
	now, err := store.Now(t.Context())
	require.NoError(t, err)
	for number := range agendaCount {
		own := record.Scope{App: workerApp, Channel: web.ID, Member: bsonID()}
		added := member.Member{ID: own.Member, App: own.App, Channel: own.Channel, ExternalID: own.Member}
		_, err := member.New(runtime.Env(), own, channel.New(runtime.Env(), own)).Insert(t.Context(), added)
		require.NoError(t, err)
		_, err = bot.NewAgenda(t.Context(), agenda.NewAgendaParams{
			MemberID: own.Member, NodeCompositeID: "work", NextRunAt: document.At(now), Meta: document.O("number", number),
		})
		require.NoError(t, err)
	}
	coupons := make([]document.Object, 0, couponCount)
	for number := range couponCount {
		coupons = append(coupons, document.O("_id", number, "taken", false, "times", 0))
	}
	_, err = bot.UpsertDataToDataSource(t.Context(), datasource.UpsertDataToDataSourceParams{
		DataSourceID: "coupons", Data: document.OneOrMany[document.Object](coupons),
	})
	require.NoError(t, err)
}

// count returns the number of documents that match.
func count(t *testing.T, collection store.Collection, filter document.Object) int64 {
	t.Helper()
	n, err := collection.Count(t.Context(), filterOf(t, filter))
	require.NoError(t, err)
	return n
}

// It runs before the tests that are parallel: on a stand-in that takes one command at a time, leases
// would end while others are served.
//
//nolint:paralleltest // See above.
func TestProcesses_Killed(t *testing.T) {
	rounds.OnlyThorough(t)
	database := newDatabase(t)
	store, err := mongo.New(t.Context(), database)
	require.NoError(t, err)
	prepare(t, store)

	workers := make([]process, 0, processes)
	for range processes {
		workers = append(workers, startWorker(t, database.Name()))
	}
	require.Eventually(t, func() bool { return count(t, store.Collection(ran), document.O()) >= agendaCount/6 }, patience, glance)
	for i := range killed {
		workers[i].kill(t, store)
		workers[i] = startWorker(t, database.Name())
	}
	agendas := store.Collection("agendas")
	t.Cleanup(func() { logLeft(t, agendas) })
	require.Eventually(t, func() bool {
		return count(t, agendas, document.O("completed", false)) == 0
	}, patience, glance, "an agenda is lost")
	bot, err := botctx.New(botctx.Config{Store: store})
	require.NoError(t, err)
	fetch := func() []document.Object {
		found, err := bot.Operations(record.Scope{App: workerApp}).FetchDataFromDataSource(t.Context(),
			datasource.FetchDataFromDataSourceParams{DataSourceID: "coupons"})
		require.NoError(t, err)
		return found.Entries
	}
	require.Eventually(t, func() bool {
		for _, coupon := range fetch() {
			if !document.Get(coupon, "taken", false) {
				return false
			}
		}
		return true
	}, patience, glance, "a coupon is left")
	for _, w := range workers {
		w.stop(t)
	}

	requireEmpty(t, store.Collection(violations))
	require.Equal(t, int64(agendaCount), count(t, agendas, document.O("completed", true)))
	numbers, err := store.Collection(ran).Distinct(t.Context(), "number", nil)
	require.NoError(t, err)
	require.Len(t, numbers, agendaCount, "an agenda has not run")
	for _, coupon := range fetch() {
		require.Equal(t, 1, document.Get(coupon, "times", 0), "coupon %s", coupon)
	}
	workersSeen, err := store.Collection(ran).Distinct(t.Context(), "by", nil)
	require.NoError(t, err)
	t.Logf("%d runs of %d agendas by %d processes", count(t, store.Collection(ran), document.O()), agendaCount, len(workersSeen))
}

// logLeft logs the agendas that have not run, where the test failed.
func logLeft(t *testing.T, agendas store.Collection) {
	t.Helper()
	if !t.Failed() {
		return
	}
	left, err := agendas.Find(context.WithoutCancel(t.Context()), filterOf(t, document.O("completed", false)), store.FindOptions{})
	t.Log(left, err)
}
