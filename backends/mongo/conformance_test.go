package mongo_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	driver "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/botctx/go-sdk/backends/mongo"
	"github.com/botctx/go-sdk/backends/mongo/internal/memserver"
	"github.com/botctx/go-sdk/botctx/botctxtest"
	"github.com/botctx/go-sdk/internal/chaostest"
	"github.com/botctx/go-sdk/internal/fakestest"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/internal/sharedtest"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/storetest"
)

func TestStore(t *testing.T) {
	t.Parallel()
	storetest.RunStore(t, newStore)
}

// The operations only rely on what storetest checks. Therefore the usual tests run storetest alone, and the
// thorough ones also run the suite of the operations.
func TestConformance(t *testing.T) {
	t.Parallel()
	rounds.OnlyThorough(t)
	botctxtest.RunConformance(t, func(t *testing.T) *botctxtest.Harness {
		t.Helper()
		return fakestest.Over(newStore(t))
	})
}

func TestCases(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"mongo_cases.jsonl", "server_cases.jsonl"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runCases(t, name)
		})
	}
}

// caseWorkers is the number of cases that run at the same time.
const caseWorkers = 8

// runCases runs the cases in a file, each in a new collection.
func runCases(t *testing.T, name string) {
	t.Helper()
	cases, store := sharedtest.Cases(t, "../../../shared/cases/"+name), newStore(t)
	failures := make([]error, len(cases))
	waiting := make(chan int)
	var group sync.WaitGroup
	for range caseWorkers {
		group.Go(func() {
			for i := range waiting {
				outcome, err := cases[i].Run(t.Context(), store.Collection("case "+cases[i].ID))
				failures[i] = cases[i].Check(outcome, err)
			}
		})
	}
	for i := range cases {
		waiting <- i
	}
	close(waiting)
	group.Wait()
	judge(t, cases, failures)
}

// judge fails the test if a case fails and is not left out, or if it passes although it is left out.
func judge(t *testing.T, cases []storetest.Case, failures []error) {
	t.Helper()
	out := leftOut(t)
	differing := 0
	for i, err := range failures {
		_, isOut := out[cases[i].ID]
		switch {
		case err == nil && isOut:
			t.Errorf("%s passes; remove it from the cases that are left out", cases[i].ID)
		case err == nil:
		case isOut:
			differing++
		default:
			t.Errorf("%s: %v\n%s", cases[i].ID, err, cases[i].String())
		}
	}
	t.Logf("%d cases, %d of them left out by name", len(cases), differing)
}

// leftOut returns the ids of cases that are expected to fail, because they use features that package query does
// not have.
func leftOut(t *testing.T) map[string]struct{} {
	t.Helper()
	text, err := os.ReadFile("testdata/cases_of_no_store.txt")
	require.NoError(t, err)
	out := map[string]struct{}{}
	for line := range strings.Lines(string(text)) {
		id, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		if id != "" && id != "#" {
			out[id] = struct{}{}
		}
	}
	return out
}

// chaosVariable is an environment variable with a chaosOrder. If it is set, the test binary accepts and handles
// events.
const chaosVariable = "BOTCTX_MONGO_CHAOS"

// chaosOrder configures a process that accepts and handles events.
type chaosOrder struct {
	chaostest.Order

	URI      string `json:"uri"`
	Database string `json:"database"`
}

// beChaotic accepts and handles events until it is stopped or killed.
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

// newChaos returns a platform on a new database, with members whose agendas increment a counter.
func newChaos(t *testing.T, members, agendas int, lease time.Duration) (*chaostest.Platform, store.Store) {
	t.Helper()
	own := newDatabase(t)
	database, err := mongo.New(t.Context(), own)
	require.NoError(t, err)
	chaostest.Prepare(t, database, agendas)
	order := chaosOrder{
		Order: chaostest.Order{Journal: filepath.Join(t.TempDir(), "journal"), Lease: lease},
		URI:   uri, Database: own.Name(),
	}
	return chaostest.NewPlatform(t, order.Journal, members, chaosVariable, order), database
}

//nolint:paralleltest // See chaostest.RunKills.
func TestAccept_ProcessesKilledAndFrozen(t *testing.T) { chaostest.RunKills(t, newChaos) }

//nolint:paralleltest // See chaostest.RunKills.
func TestAccept_CountsUpAcrossProcesses(t *testing.T) { chaostest.RunCounts(t, newChaos) }

// uriVariable is the environment variable with the address of a MongoDB server. Without it, the tests use
// package memserver, a server in this process that has every feature and handles many commands at the same
// time. Each test uses a separate database, whose name begins with "botctx_test_", and drops it at the end.
const uriVariable = "BOTCTX_MONGO_URI"

// uri is the server's address.
var (
	uri    string
	client *driver.Client
)

func TestMain(m *testing.M) {
	if order := os.Getenv(chaosVariable); order != "" {
		if err := beChaotic(context.Background(), order); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if uri = os.Getenv(uriVariable); uri == "" {
		if uri, err = serveMemserver(ctx); err != nil {
			return 0, err
		}
	}
	if client, err = driver.Connect(options.Client().ApplyURI(uri)); err != nil {
		return 0, err
	}
	defer func() { _ = client.Disconnect(context.Background()) }()
	return m.Run(), nil
}

// serveMemserver serves a memserver until ctx ends, and returns its address.
func serveMemserver(ctx context.Context) (address string, err error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	go memserver.New().Serve(ctx, listener)
	return "mongodb://" + listener.Addr().String(), nil
}

// newDatabase returns a new database, which is dropped after the test.
func newDatabase(tb testing.TB) *driver.Database {
	tb.Helper()
	database := client.Database("botctx_test_" + strings.ToLower(bson.NewObjectID().Hex()))
	tb.Cleanup(func() { require.NoError(tb, database.Drop(context.Background())) })
	return database
}

// newStore returns a store on a new database.
func newStore(t *testing.T) store.Store {
	t.Helper()
	store, err := mongo.New(t.Context(), newDatabase(t))
	require.NoError(t, err)
	return store
}
