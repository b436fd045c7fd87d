package mongo_test

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/event"
	driver "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/backends/mongo"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/agendas"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/inbox"
	"github.com/botctx/go-sdk/internal/inbox/inboxtest"
	"github.com/botctx/go-sdk/internal/lease"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/internal/sharedtest"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

type countedStore struct {
	store.Store
	store.Collection

	test     *testing.T
	ctx      context.Context
	commands *atomic.Int64
}

func newCounted(t *testing.T) *countedStore {
	t.Helper()
	commands := new(atomic.Int64)
	monitor := &event.CommandMonitor{Started: func(context.Context, *event.CommandStartedEvent) { commands.Add(1) }}
	watched, err := driver.Connect(options.Client().ApplyURI(uri).SetMonitor(monitor))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, watched.Disconnect(context.Background())) })
	store, err := mongo.New(t.Context(), watched.Database(newDatabase(t).Name()))
	require.NoError(t, err)
	c := &countedStore{Store: store, Collection: store.Collection("counted"), test: t, ctx: t.Context(), commands: commands}
	for i := range 3 {
		o := document.O("_id", i, "n", i, "tags", document.A("a"), "etag", "old", "at", document.A(i, 0))
		require.NoError(t, c.Insert(t.Context(), o))
	}
	return c
}

// update sends an update with stamps, as services do.
func (c *countedStore) update(filter, update document.Object, opts store.UpdateOptions) error {
	change := changeOf(c.test, update)
	_, err := c.Update(c.ctx, sharedtest.FilterOf(c.test, filter), change, opts)
	return err
}

func (c *countedStore) findAndModify(filter, update document.Object, opts store.FindAndModifyOptions) error {
	_, err := c.FindAndModify(c.ctx, sharedtest.FilterOf(c.test, filter), changeOf(c.test, update), opts)
	return err
}

func (c *countedStore) find(filter document.Object, opts store.FindOptions) error {
	_, err := c.Find(c.test.Context(), sharedtest.FilterOf(c.test, filter), opts)
	return err
}

func changeOf(t *testing.T, source document.Object) query.Change {
	t.Helper()
	update, err := query.CompileUpdate(source)
	require.NoError(t, err)
	return query.Change{
		Update: update, Fixed: []string{"app"}, OnInsert: document.O("_id", "inserted"),
		Stamps: query.Stamps{Set: document.O("etag", "new"), Increment: []string{"_version"}},
	}
}

// roundTrips lists the round trips of every operation. docs/scaling.md has the same table.
var roundTrips = []struct {
	operation string
	trips     int64
	do        func(c *countedStore) error
}{
	{"Now", 1, func(c *countedStore) error {
		_, err := c.Now(c.test.Context())
		return err
	}},
	{"Find by _id", 1, func(c *countedStore) error { return c.find(document.O("_id", 1), store.FindOptions{}) }},
	{"Find, up to 1,000 documents", 1, func(c *countedStore) error {
		return c.find(document.O("n", document.O("$gt", 0)), store.FindOptions{Limit: 2})
	}},
	{"Count", 1, func(c *countedStore) error {
		_, err := c.Count(c.test.Context(), sharedtest.FilterOf(c.test, document.O("n", 1)))
		return err
	}},
	{"Distinct, of up to 1,000 documents", 1, func(c *countedStore) error {
		_, err := c.Distinct(c.test.Context(), "tags", nil)
		return err
	}},
	{"GeoNear", 2, func(c *countedStore) error {
		near, err := query.CompileGeoNear(document.O("near", document.A(0, 0), "key", "at"))
		require.NoError(c.test, err)
		_, err = c.GeoNear(c.test.Context(), near)
		return err
	}},
	{"Insert of one document", 1, func(c *countedStore) error { return c.Insert(c.test.Context(), document.O("_id", "a")) }},
	{"Insert of one document that is there", 2, func(c *countedStore) error {
		err := c.Insert(c.test.Context(), document.O("_id", 1))
		require.Equal(c.test, boterr.AlreadyExists, boterr.CodeOf(err))
		return nil
	}},
	{"Insert of several documents", 1, func(c *countedStore) error {
		return c.Insert(c.test.Context(), document.O("_id", "a"), document.O("_id", "b"))
	}},
	{"Update by _id that changes the document", 1, func(c *countedStore) error {
		return c.update(document.O("_id", 1), document.O("$set", document.O("n", 7, "m", "x")), store.UpdateOptions{})
	}},
	{"Update by _id that changes nothing", 2, func(c *countedStore) error {
		return c.update(document.O("_id", 1), document.O("$set", document.O("n", 1)), store.UpdateOptions{})
	}},
	{"Update by _id, replacement", 2, func(c *countedStore) error {
		return c.update(document.O("_id", 1), document.O("n", 7), store.UpdateOptions{})
	}},
	{"Update of the first match, certain to change it", 1, func(c *countedStore) error {
		return c.update(document.O("n", 1), document.O("$set", document.O("n", 7)), store.UpdateOptions{})
	}},
	{"Update of the first match, certain to change it, that finds none", 2, func(c *countedStore) error {
		return c.update(document.O("n", 9), document.O("$set", document.O("n", 7)), store.UpdateOptions{})
	}},
	{"Update of the first match, otherwise", 2, func(c *countedStore) error {
		return c.update(document.O("n", 1), document.O("$set", document.O("m", 7)), store.UpdateOptions{})
	}},
	{"Update with Multi, of 3 documents", 4, func(c *countedStore) error {
		return c.update(document.O(), document.O("$set", document.O("m", 7)), store.UpdateOptions{Multi: true})
	}},
	{"Update with Upsert, by _id, that inserts", 2, func(c *countedStore) error {
		return c.update(document.O("_id", "a"), document.O("$set", document.O("n", 7)), store.UpdateOptions{Upsert: true})
	}},
	{"FindAndModify by _id that changes the document", 1, func(c *countedStore) error {
		return c.findAndModify(document.O("_id", 1), document.O("$set", document.O("n", 7)), store.FindAndModifyOptions{New: true})
	}},
	{"FindAndModify of the first match, certain to change it", 1, func(c *countedStore) error {
		claim := document.O("$set", document.O("by", "me"))
		return c.findAndModify(document.O("by", nil), claim, store.FindAndModifyOptions{})
	}},
	{"FindAndModify of the first match, otherwise", 2, func(c *countedStore) error {
		return c.findAndModify(document.O("n", 1), document.O("$max", document.O("n", 7)), store.FindAndModifyOptions{})
	}},
	{"FindAndModify with Upsert that inserts", 2, func(c *countedStore) error {
		return c.findAndModify(document.O("_id", "a"), document.O("$inc", document.O("n", 1)), store.FindAndModifyOptions{Upsert: true})
	}},
	{"Delete by _id", 1, func(c *countedStore) error {
		_, err := c.Delete(c.test.Context(), sharedtest.FilterOf(c.test, document.O("_id", 1)), store.DeleteOptions{})
		return err
	}},
	{"Delete of the first match", 1, func(c *countedStore) error {
		_, err := c.Delete(c.test.Context(), sharedtest.FilterOf(c.test, document.O("n", 1)), store.DeleteOptions{})
		return err
	}},
	{"Delete of the first match that finds none", 2, func(c *countedStore) error {
		_, err := c.Delete(c.test.Context(), sharedtest.FilterOf(c.test, document.O("n", 9)), store.DeleteOptions{})
		return err
	}},
	{"Delete with Multi", 1, func(c *countedStore) error {
		_, err := c.Delete(c.test.Context(), nil, store.DeleteOptions{Multi: true})
		return err
	}},
	{"EnsureIndex that makes the index", 2, func(c *countedStore) error {
		return c.EnsureIndex(c.test.Context(), store.Index{Keys: []store.IndexKey{{Path: "n", Kind: query.Ascending}}})
	}},
}

func TestRoundTrips_NoMoreThanDocumented(t *testing.T) {
	t.Parallel()
	for _, row := range roundTrips {
		t.Run(row.operation, func(t *testing.T) {
			t.Parallel()
			c := newCounted(t)
			before := c.commands.Load()
			require.NoError(t, row.do(c))
			require.Equal(t, row.trips, c.commands.Load()-before)
		})
	}
}

func TestNew_AsksForTheClockTwiceAtLeast(t *testing.T) {
	t.Parallel()
	questions := new(atomic.Int64)
	monitor := &event.CommandMonitor{Started: func(_ context.Context, e *event.CommandStartedEvent) {
		if e.CommandName == "hello" {
			questions.Add(1)
		}
	}}
	watched, err := driver.Connect(options.Client().ApplyURI(uri).SetMonitor(monitor))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, watched.Disconnect(context.Background())) })
	_, err = mongo.New(t.Context(), watched.Database(newDatabase(t).Name()))
	require.NoError(t, err)
	require.GreaterOrEqual(t, questions.Load(), int64(2), "the first answer takes the time of connecting, too")
	require.LessOrEqual(t, questions.Load(), int64(5))
}

func TestNew_SendsTheConcerns(t *testing.T) {
	t.Parallel()
	for want, opts := range map[string][]mongo.Option{
		`"majority" "majority"`:      nil,
		`{"$numberInt":"1"} "local"`: {mongo.WithWriteConcern(writeconcern.W1()), mongo.WithReadConcern(readconcern.Local())},
	} {
		var write, read string
		monitor := &event.CommandMonitor{Started: func(_ context.Context, e *event.CommandStartedEvent) {
			switch e.CommandName {
			case "insert":
				write = e.Command.Lookup("writeConcern", "w").String()
			case "find":
				read = e.Command.Lookup("readConcern", "level").String()
			}
		}}
		watched, err := driver.Connect(options.Client().ApplyURI(uri).SetMonitor(monitor))
		require.NoError(t, err)
		database, err := mongo.New(t.Context(), watched.Database(newDatabase(t).Name()), opts...)
		require.NoError(t, err)
		require.NoError(t, database.Collection("a").Insert(t.Context(), document.O("_id", 1)))
		_, err = database.Collection("a").Find(t.Context(), sharedtest.FilterOf(t, document.O()), store.FindOptions{})
		require.NoError(t, err)
		require.Equal(t, want, write+" "+read)
		require.NoError(t, watched.Disconnect(t.Context()))
	}
}

func TestRoundTrips_TableIsDocumented(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/scaling.md")
	require.NoError(t, err)
	unwrapped := strings.ReplaceAll(string(text), "\n  ", " ")
	for _, row := range roundTrips {
		require.Regexp(t, fmt.Sprintf(`(?m)^- %d: (.*; )?%s(;|$)`, row.trips, regexp.QuoteMeta(row.operation)), unwrapped)
	}
}

// TestMessage_RoundTrips counts the commands for a message that is accepted and answered by one node, which
// changes the member. docs/scaling.md gives the same number.
func TestMessage_RoundTrips(t *testing.T) {
	t.Parallel()
	const members = 10
	counted := newCounted(t)
	told := &counter{}
	rt, err := botctx.New(botctx.Config{
		Store: counted.Store, Connectors: map[channel.Type]send.Connector{channel.Webchat: told},
		// With these times, no poll and no renewal of a lease is counted, even if the server is slow.
		Inbox: botctx.InboxOptions{Poll: time.Hour}, LaneLease: time.Hour,
	})
	require.NoError(t, err)
	require.NoError(t, botctx.EnsureIndexes(t.Context(), counted.Store))
	_, err = channels.New(rt.Env(), record.Scope{App: "app"}).Save(t.Context(), &channel.Channel{ID: "web", Type: channel.Webchat, On: true})
	require.NoError(t, err)
	require.NoError(t, rt.Handle(&botctx.Node{
		ID: "count", Trigger: botctx.AnyText(), Responses: []send.Response{send.Text("counted")},
		Pre: []botctx.Action{func(_ context.Context, bot *botctx.Context) error {
			bot.Member.Meta.Set("count", document.Get(bot.Member.Meta, "count", 0)+1)
			return nil
		}},
	}))
	write := func(id string) {
		for m := range members {
			from := strconv.Itoa(m)
			require.NoError(t, rt.Accept(t.Context(), botctx.Inbound{App: "app", Channel: "web", Event: send.MessageEvent{
				From: from, Type: send.TypeText, Data: document.O("text", "hi"), MessageID: id + from,
			}}))
		}
	}
	handle := func() {
		ctx, stop := context.WithCancel(t.Context())
		told.await(members, stop)
		require.NoError(t, rt.Run(ctx))
	}
	write("first") // This creates the members.
	handle()

	began := counted.commands.Load()
	write("second")
	require.EqualValues(t, members, counted.commands.Load()-began, "to accept")
	began = counted.commands.Load()
	handle()
	used := counted.commands.Load() - began
	t.Logf("%d commands for %d messages", used, members)
	const each, ofALook, ofTheScheduler = 10, 4, 4
	require.LessOrEqual(t, used, int64(each*members+2*ofALook+ofTheScheduler+sweepTrips))
}

// counter is a connector that calls done after a number of messages.
type counter struct {
	left atomic.Int64
	done func()
}

// await makes the connector call done after this number of messages.
func (c *counter) await(messages int64, done func()) {
	c.left.Store(messages)
	c.done = done
}

func (c *counter) Send(context.Context, send.Message) (send.Delivery, error) {
	if c.left.Add(-1) == 0 {
		c.done()
	}
	return send.Delivery{}, nil
}

func TestInbox(t *testing.T) {
	t.Parallel()
	inboxtest.RunInbox(t, rounds.Of(t, 1, inboxtest.Outcomes), newStore)
}

// TestInbox_RoundTrips counts the commands in docs/scaling.md: one to accept an event, three to handle it, and
// the commands of a poll, which many events share.
func TestInbox_RoundTrips(t *testing.T) {
	t.Parallel()
	const events, ofALook = 20, 6
	counted := newCounted(t)
	env := record.Env{Store: counted.Store}
	leases, err := lease.New(lease.Config{Env: env})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	var left atomic.Int64
	box, err := inbox.New(inbox.Config{
		Env: env, Leases: leases, DeriveID: func(of string) string { return of },
		Retention: -1, Poll: time.Hour, // No second poll, even if the server is slow.
		Handler: func(context.Context, *inbox.Delivery) error {
			if left.Add(-1) == 0 {
				stop()
			}
			return nil
		},
	})
	require.NoError(t, err)
	_, err = box.Stats(t.Context()) // This creates the indexes.
	require.NoError(t, err)
	_, err = leases.Sweep(t.Context(), lease.DefaultLease)
	require.NoError(t, err)

	began := counted.commands.Load()
	for i := range events {
		key := strconv.Itoa(i)
		_, err := box.Accept(t.Context(), inbox.Event{App: "app", Channel: "web", From: "member " + key, Key: key})
		require.NoError(t, err)
	}
	require.EqualValues(t, events+1, counted.commands.Load()-began, "one each, and one that counts what waits of the app")
	left.Store(events)
	began = counted.commands.Load()
	require.NoError(t, box.Run(ctx))
	used := counted.commands.Load() - began
	t.Logf("%d commands for %d events", used, events)
	require.LessOrEqual(t, used, int64(3*events+2*ofALook+sweepTrips), "to handle")
}

// sweepTrips is the number of commands with which Run removes idle lanes at its start.
const sweepTrips = 4

type commandLog struct {
	collection string

	mu    sync.Mutex
	names []string
}

func (l *commandLog) monitor() *event.CommandMonitor {
	return &event.CommandMonitor{Started: func(_ context.Context, e *event.CommandStartedEvent) {
		if to, ok := e.Command.Lookup(e.CommandName).StringValueOK(); ok && to == l.collection {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.names = append(l.names, e.CommandName)
		}
	}}
}

func (l *commandLog) taken() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	names := l.names
	l.names = nil
	return names
}

// crowd is a scheduler with due agendas. Every run waits for release.
type crowd struct {
	log       *commandLog
	store     *mongo.Store
	scheduler *agendas.Scheduler
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
	c.scheduler, err = agendas.NewScheduler(agendas.SchedulerConfig{
		Env: record.Env{Store: database}, Retention: -1,
		SchedulerOptions: agendas.SchedulerOptions{
			Workers: 4 * size,                              // One channel may use a quarter of the workers.
			Lease:   time.Hour, ShutdownTimeout: time.Hour, // No lease expires, even if the server is slow.
		},
		Handler: func(context.Context, agenda.Run) error {
			c.begun.Done()
			<-c.release
			return nil
		},
	})
	require.NoError(t, err)
	return c
}

// completed returns the number of agendas that are completed and not claimed.
func (c *crowd) completed(t *testing.T) int {
	t.Helper()
	filter := sharedtest.Filter(t, "completed", true, "leaseUntil", nil, "claim", nil)
	found, err := c.store.Collection("agendas").Find(t.Context(), filter, store.FindOptions{})
	require.NoError(t, err)
	return len(found)
}

// TestScheduler_RoundTrips counts the commands for claims and results. docs/scaling.md gives the same numbers.
func TestScheduler_RoundTrips(t *testing.T) {
	t.Parallel()
	const size = 64
	c := newCrowd(t, size)
	ctx, stop := context.WithCancel(t.Context())
	var ended sync.WaitGroup
	ended.Go(func() {
		if err := c.scheduler.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	c.begun.Wait()
	commands := slices.DeleteFunc(c.log.taken(), func(name string) bool {
		return slices.Contains([]string{"insert", "listIndexes", "createIndexes", "find"}, name)
	})
	stop()
	close(c.release)
	ended.Wait()
	require.Equal(t, slices.Repeat([]string{"findAndModify"}, size), commands, "each claim is one command, besides looks for due agendas")
	require.Len(t, c.log.taken(), size, "each result is one command")
	require.Equal(t, size, c.completed(t))
}
