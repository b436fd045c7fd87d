package mongotest_test

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/event"
	driver "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/backends/mongo"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/query"
	"github.com/botctx/go-sdk/store"
)

// commandLog is the names of the commands to one collection.
type commandLog struct {
	collection string

	mu    sync.Mutex
	names []string
}

// monitor returns what notes the commands.
func (l *commandLog) monitor() *event.CommandMonitor {
	return &event.CommandMonitor{Started: func(_ context.Context, e *event.CommandStartedEvent) {
		if to, ok := e.Command.Lookup(e.CommandName).StringValueOK(); ok && to == l.collection {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.names = append(l.names, e.CommandName)
		}
	}}
}

// taken returns the commands since the last call.
func (l *commandLog) taken() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	names := l.names
	l.names = nil
	return names
}

// crowd is a scheduler over agendas that are due, whose runs wait for each other.
type crowd struct {
	log       *commandLog
	store     *mongo.Store
	scheduler *agenda.Scheduler
	begun     sync.WaitGroup
	release   chan struct{}
}

func newCrowd(t *testing.T, size int) *crowd {
	t.Helper()
	c := &crowd{log: &commandLog{collection: "agendas"}, release: make(chan struct{})}
	client, err := driver.Connect(options.Client().ApplyURI(uri).SetMonitor(c.log.monitor()))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Disconnect(context.Background())) })
	database, err := mongo.New(t.Context(), client.Database(newDatabase(t).Name()))
	require.NoError(t, err)
	c.store = database
	due := make([]document.Object, size)
	for i := range due {
		due[i] = document.O("_id", "agenda-"+strconv.Itoa(i), "app", "a", "member", "m", "nodeCompositeId", "n",
			"nextRunAt", 1, "priority", 0, "completed", false, "createdAt", i)
	}
	require.NoError(t, database.Collection("agendas").Insert(t.Context(), due...))
	c.begun.Add(size)
	c.scheduler, err = agenda.NewScheduler(agenda.SchedulerConfig{
		Env: record.Env{Store: database}, Workers: 4 * size, Retention: -1, // One channel may hold a quarter.
		Lease: time.Hour, ShutdownTimeout: time.Hour, // However long the server takes for the ends of all.
		Handler: func(context.Context, agenda.Run) error {
			c.begun.Done()
			<-c.release
			return nil
		},
	})
	require.NoError(t, err)
	return c
}

// completed returns the number of agendas that are completed and free.
func (c *crowd) completed(t *testing.T) int {
	t.Helper()
	filter, err := query.CompileFilter(document.O("completed", true, "leaseUntil", nil, "claim", nil))
	require.NoError(t, err)
	found, err := c.store.Collection("agendas").Find(t.Context(), filter, store.FindOptions{})
	require.NoError(t, err)
	return len(found)
}

// TestScheduler_ClaimsManyByTwoCommands shows what docs/scaling.md says of claims and results.
func TestScheduler_ClaimsManyByTwoCommands(t *testing.T) {
	t.Parallel()
	c := newCrowd(t, 256)
	ctx, stop := context.WithCancel(t.Context())
	var ended sync.WaitGroup
	ended.Go(func() {
		if err := c.scheduler.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	c.begun.Wait()
	commands := slices.DeleteFunc(c.log.taken(), func(name string) bool {
		return slices.Contains([]string{"insert", "listIndexes", "createIndexes"}, name)
	})
	stop()
	close(c.release)
	ended.Wait()
	commands = slices.DeleteFunc(commands, func(name string) bool { return name == "find" })
	require.Equal(t, []string{"update"}, commands, "all claims, beside looks for what is due and for what was claimed")
	results := c.log.taken()
	t.Logf("256 results by the commands %v", results)
	require.NotContains(t, results, "findAndModify")
	require.Less(t, len(results), 256/4, "results that come while one is being written are written together")
	require.Equal(t, 256, c.completed(t))
}
