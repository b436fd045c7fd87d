package mongo_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	driver "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/backends/mongo"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/internal/sharedtest"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// The amount of work for the processes.
const (
	agendaCount = 60
	couponCount = 200
	processes   = 4
	killed      = 2
	// patience limits the time for the work while other tests run.
	patience = 5 * time.Minute
	// glance is the interval at which the test checks the progress.
	glance = 100 * time.Millisecond
)

// bsonID returns a unique id.
func bsonID() string { return bson.NewObjectID().Hex() }

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

// kill kills a worker and records its death in the store.
func (p process) kill(t *testing.T, store store.Store) {
	t.Helper()
	require.NoError(t, p.command.Process.Kill())
	_ = p.command.Wait() // It returns an error because the worker was killed.
	require.NoError(t, store.Collection(dead).Insert(t.Context(), document.O("_id", p.command.Process.Pid)))
}

// stop ends a worker's input and waits for it.
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
	scope := botctx.Scope{App: workerApp}
	web, err := channels.New(runtime.Env(), record.Scope(scope)).Save(t.Context(),
		&channel.Channel{ID: "web", App: workerApp, Type: channel.Webchat, On: true})
	require.NoError(t, err)
	bot := runtime.Operations(scope)
	now, err := store.Now(t.Context())
	require.NoError(t, err)
	for number := range agendaCount {
		own := botctx.Scope{App: workerApp, Channel: web.ID, Member: bsonID()}
		added := member.Member{ID: own.Member, App: own.App, Channel: own.Channel, ExternalID: own.Member}
		_, err := members.New(runtime.Env(), record.Scope(own), channels.New(runtime.Env(), record.Scope(own))).Insert(t.Context(), added)
		require.NoError(t, err)
		_, err = bot.NewAgenda(t.Context(), agenda.NewParams{
			MemberID: own.Member, NodeCompositeID: "work", NextRunAt: document.TimestampOf(now), Meta: document.O("number", number),
		})
		require.NoError(t, err)
	}
	coupons := make([]document.Object, 0, couponCount)
	for number := range couponCount {
		coupons = append(coupons, document.O("_id", number, "taken", false, "times", 0))
	}
	_, err = bot.UpsertDataToDataSource(t.Context(), datasource.UpsertParams{
		DataSourceID: "coupons", Data: document.OneOrMany[document.Object](coupons),
	})
	require.NoError(t, err)
}

func count(t *testing.T, collection store.Collection, filter document.Object) int64 {
	t.Helper()
	n, err := collection.Count(t.Context(), sharedtest.FilterOf(t, filter))
	require.NoError(t, err)
	return n
}

// The test runs before the parallel tests, because leases could expire while other tests use the processor.
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
		found, err := bot.Operations(botctx.Scope{App: workerApp}).FetchDataFromDataSource(t.Context(),
			datasource.FetchParams{DataSourceID: "coupons"})
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

// logLeft logs the agendas that have not run if the test failed.
func logLeft(t *testing.T, agendas store.Collection) {
	t.Helper()
	if !t.Failed() {
		return
	}
	left, err := agendas.Find(context.WithoutCancel(t.Context()), sharedtest.FilterOf(t, document.O("completed", false)), store.FindOptions{})
	t.Log(left, err)
}

// workerVariable is an environment variable with the name of a database. If it is set, the test binary is a
// worker on that database.
const workerVariable = "BOTCTX_MONGO_WORKER"

// Collections in which the workers record what they do.
const (
	holders    = "holders"    // The number of the process that runs each agenda.
	ran        = "ran"        // Finished runs.
	violations = "violations" // Agendas that two live processes ran at the same time.
	dead       = "dead"       // Killed workers.
)

// workerLease is longer than a process can be delayed on a busy machine. After a longer delay, a live process
// would lose its agendas to the others.
const workerLease = 20 * time.Second

func work(name string) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	connection, err := driver.Connect(options.Client().ApplyURI(os.Getenv("BOTCTX_MONGO_WORKER_URI")))
	if err != nil {
		return err
	}
	defer func() { _ = connection.Disconnect(context.WithoutCancel(ctx)) }()
	store, err := mongo.New(ctx, connection.Database(name))
	if err != nil {
		return err
	}
	runtime, err := newWorkerRuntime(store)
	if err != nil {
		return err
	}
	var group sync.WaitGroup
	group.Go(func() { _ = runtime.Run(ctx) })
	group.Go(func() { takeCoupons(ctx, runtime) })
	_, err = io.Copy(io.Discard, os.Stdin)
	cancel()
	group.Wait()
	return err
}

// newWorkerRuntime returns a Runtime with one node, which calls runAlone.
func newWorkerRuntime(store store.Store) (*botctx.Runtime, error) {
	runtime, err := botctx.New(botctx.Config{Store: store, Scheduler: botctx.SchedulerOptions{
		Workers: 4, Lease: workerLease, Poll: 100 * time.Millisecond,
		Backoff: func(int) time.Duration { return 100 * time.Millisecond },
		Log:     slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	}})
	if err != nil {
		return nil, err
	}
	node := &botctx.Node{ID: "work", Pre: []botctx.Action{func(ctx context.Context, bot *botctx.Context) error {
		return runAlone(ctx, store, document.Get(bot.AgendaMeta, "number", -1))
	}}}
	err = runtime.Handle(node)
	return runtime, err
}

// runAlone records that this process runs an agenda. If another live process runs it, too, runAlone records a
// violation.
func runAlone(ctx context.Context, store store.Store, number int) error {
	self := os.Getpid()
	before, err := take(ctx, store, number, self)
	if err != nil {
		return err
	}
	if before != 0 {
		if isDead, err := exists(ctx, store.Collection(dead), before); err != nil || !isDead {
			violation := document.O("_id", bsonID(), "number", number, "holder", before, "self", self)
			return errors.Join(err, store.Collection(violations).Insert(ctx, violation))
		}
	}
	select {
	case <-time.After(30 * time.Millisecond):
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := store.Collection(ran).Insert(ctx, document.O("_id", bsonID(), "number", number, "by", self)); err != nil {
		return err
	}
	_, err = take(ctx, store, number, 0)
	return err
}

// take makes a process the holder of an agenda. It returns the previous holder.
func take(ctx context.Context, database store.Store, number, process int) (before int, err error) {
	filter, err := query.CompileFilter(document.O("_id", number))
	if err != nil {
		return 0, err
	}
	update, err := query.CompileUpdate(document.O("$set", document.O("process", process), "$inc", document.O("changes", 1)))
	if err != nil {
		return 0, err
	}
	result, err := database.Collection(holders).FindAndModify(ctx, filter, query.Change{Update: update},
		store.FindAndModifyOptions{Upsert: true})
	if err != nil {
		return 0, err
	}
	return document.Get(result.Document, "process", 0), nil
}

func exists(ctx context.Context, collection store.Collection, id any) (bool, error) {
	filter, err := query.CompileFilter(document.O("_id", id))
	if err != nil {
		return false, err
	}
	count, err := collection.Count(ctx, filter)
	return count > 0, err
}

func takeCoupons(ctx context.Context, runtime *botctx.Runtime) {
	bot := runtime.Operations(botctx.Scope{App: workerApp})
	for ctx.Err() == nil {
		taken, err := bot.FindAndModifyDataFromDataSource(ctx, datasource.FindAndModifyParams{
			DataSourceID: "coupons", Filter: document.O("taken", false),
			Patch: document.O("$set", document.O("taken", true, "by", os.Getpid()), "$inc", document.O("times", 1)),
		})
		if err == nil && taken.Value == nil {
			return
		}
		if err != nil && !errors.Is(err, boterr.Canceled) {
			_, _ = os.Stderr.WriteString("taking a coupon: " + err.Error() + "\n")
		}
	}
}

const workerApp = "shop"

func requireEmpty(t *testing.T, collection store.Collection) {
	t.Helper()
	all, err := collection.Find(t.Context(), nil, store.FindOptions{})
	require.NoError(t, err)
	require.Empty(t, all)
}
