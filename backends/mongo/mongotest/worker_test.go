package mongotest_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	driver "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/backends/mongo"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/query"
	"github.com/botctx/go-sdk/store"
)

// workerVariable makes the test binary a worker on the database that it names.
const workerVariable = "BOTCTX_MONGO_WORKER"

// The collections in which the workers note what they do.
const (
	holders    = "holders"    // Who runs an agenda, by its number.
	ran        = "ran"        // The runs that ended.
	violations = "violations" // Agendas that somebody else was running.
	dead       = "dead"       // The workers that were killed.
)

// workerLease is longer than a process waits for its turn on a machine that is busy: one that
// waits longer loses its agendas to the others while it lives.
const workerLease = 20 * time.Second

// work runs agendas and takes coupons until its input ends.
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

// newWorkerRuntime returns a Runtime whose one node notes who runs it.
func newWorkerRuntime(store store.Store) (*botctx.Runtime, error) {
	runtime, err := botctx.New(botctx.Config{Store: store, Scheduler: agenda.SchedulerConfig{
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

// runAlone notes that this process runs an agenda, and whether another one that lives
// does so, too.
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

// take makes a process the holder of an agenda, and returns who was it.
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

// takeCoupons takes coupons until none is left.
func takeCoupons(ctx context.Context, runtime *botctx.Runtime) {
	bot := runtime.Operations(record.Scope{App: workerApp})
	for ctx.Err() == nil {
		taken, err := bot.FindAndModifyDataFromDataSource(ctx, datasource.FindAndModifyDataFromDataSourceParams{
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

// workerApp is the app of what the workers work on.
const workerApp = "shop"

// requireEmpty checks that a collection is empty.
func requireEmpty(t *testing.T, collection store.Collection) {
	t.Helper()
	all, err := collection.Find(t.Context(), nil, store.FindOptions{})
	require.NoError(t, err)
	require.Empty(t, all)
}
