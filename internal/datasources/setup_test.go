package datasources_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/datasources"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/internal/sharedtest"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/query"
)

type operation[P, R any] = func(context.Context, P) (R, error)

// apps holds the services of two apps that share a store. Their clock stands still until advance is called, and new
// ids are numbers.
type apps struct {
	mine, theirs *datasources.Service

	store store.Store

	mu  sync.Mutex
	now time.Time
	ids int
}

// table is the id of the data source that the tests use.
const table = "table"

// newApps returns two apps. The entries, given as JSON, are in the table of the app mine.
func newApps(t *testing.T, entries ...string) *apps {
	t.Helper()
	a := &apps{store: memstore.New(), now: time.UnixMilli(1000)}
	env := record.Env{Store: a.store, Now: a.clock, NewID: a.nextID}
	a.mine = datasources.New(env, record.Scope{App: "mine"})
	a.theirs = datasources.New(env, record.Scope{App: "theirs"})
	if len(entries) > 0 {
		upsert(t, a.mine, entries...)
	}
	return a
}

func (a *apps) clock() time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.now
}

func (a *apps) nextID() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ids++
	return "id" + strconv.Itoa(a.ids)
}

func (a *apps) advance() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.now = a.now.Add(time.Second)
}

func object(t *testing.T, text string) document.Object {
	t.Helper()
	var o document.Object
	require.NoError(t, json.Unmarshal([]byte(text), &o), text)
	return o
}

// upsert upserts entries, given as JSON, to the table.
func upsert(t *testing.T, s *datasources.Service, entries ...string) datasource.UpsertOutcome {
	t.Helper()
	data := make([]document.Object, 0, len(entries))
	for _, entry := range entries {
		data = append(data, object(t, entry))
	}
	done, err := s.UpsertDataToDataSource(t.Context(), datasource.UpsertParams{DataSourceID: table, Data: data})
	require.NoError(t, err)
	return done.Result
}

// call calls an operation with parameters in JSON and returns the result's JSON.
func call[P, R any](t *testing.T, run operation[P, R], params string) (string, error) {
	t.Helper()
	var p P
	if err := document.DecodeJSON([]byte(params), &p); err != nil {
		return "", err
	}
	result, err := run(t.Context(), p)
	if err != nil {
		require.Zero(t, result, "beside an error the result is the zero value")
		return "", err
	}
	text, err := document.EncodeJSON(result)
	require.NoError(t, err)
	return string(text), nil
}

// requireResult calls an operation with parameters in JSON and compares the result's JSON.
func requireResult[P, R any](t *testing.T, run operation[P, R], params, want string) {
	t.Helper()
	got, err := call(t, run, params)
	require.NoError(t, err, params)
	require.JSONEq(t, want, got, params)
}

// requireTable compares the entries of the table, without createdAt or updatedAt.
func requireTable(t *testing.T, s *datasources.Service, want ...string) {
	t.Helper()
	found, err := s.FetchDataFromDataSource(t.Context(), datasource.FetchParams{DataSourceID: table})
	require.NoError(t, err)
	require.Len(t, found.Entries, len(want))
	for i, entry := range found.Entries {
		require.JSONEq(t, want[i], withoutStamps(entry).String())
	}
}

// requireRefused calls an operation on a table of two entries, once for each key of fields, which is
// a JSON object of wrong parameters. It requires InvalidArgument for the field, and an unchanged table.
func requireRefused[P, R any](
	t *testing.T, of func(*datasources.Service) operation[P, R], fields map[string]string,
) {
	t.Helper()
	a := newApps(t, `{"_id": 1, "n": 1, "tags": ["a"]}`, `{"_id": "two", "n": "text"}`)
	a.advance()
	shown := func() string {
		found, err := a.mine.FetchDataFromDataSource(t.Context(), datasource.FetchParams{DataSourceID: table})
		require.NoError(t, err)
		return fmt.Sprint(found.Entries)
	}
	before := shown()
	for params, field := range fields {
		_, err := call(t, of(a.mine), params)
		require.ErrorIs(t, err, boterr.InvalidArgument, params)
		e, ok := boterr.AsError(err)
		require.True(t, ok)
		require.Equal(t, field, e.Field, "%s: %v", params, err)
		require.Equal(t, before, shown(), "%s changes nothing", params)
	}
}

func TestService_NamesRunIntoEachOther(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	pairs := [][2]string{{"a", "b/c"}, {"a/b", "c"}, {"", "a/b/c"}, {"a%2Fb", "c"}, {"a b", "c"}, {"a+b", "c"}, {"a", "b"}, {"a", "B"}}
	for _, pair := range pairs {
		s := datasources.New(record.Env{Store: store}, record.Scope{App: pair[0]})
		count, err := s.CountDataSource(t.Context(), datasource.CountParams{DataSourceID: pair[1]})
		require.NoError(t, err)
		require.Zero(t, count, pair)
		_, err = s.UpsertDataToDataSource(t.Context(), datasource.UpsertParams{
			DataSourceID: pair[1], Data: document.One(document.O("n", 1)),
		})
		require.NoError(t, err)
	}
}

func TestEnsureIndex_OfOneDataSourceOfOneApp(t *testing.T) {
	t.Parallel()
	database := memstore.New()
	unique := store.Index{Keys: []store.IndexKey{{Path: "code", Kind: query.Ascending}}, Unique: true}
	require.NoError(t, datasources.EnsureIndex(t.Context(), database, "shop", "a/b coupons", unique))
	twice := func(app, id string) error {
		_, err := datasources.New(record.Env{Store: database}, record.Scope{App: app}).UpsertDataToDataSource(t.Context(),
			datasource.UpsertParams{
				DataSourceID: id, Data: document.One(document.O("code", "MAY"), document.O("code", "MAY")),
			})
		return err
	}
	require.ErrorIs(t, twice("shop", "a/b coupons"), boterr.AlreadyExists)
	require.NoError(t, twice("shop", "others"))
	require.NoError(t, twice("bistro", "a/b coupons"))
}

func TestEnsureIndex_Refusals(t *testing.T) {
	t.Parallel()
	index := store.Ascending("code")
	longest := strings.Repeat("x", 200-len("data/shop/"))
	require.NoError(t, datasources.EnsureIndex(t.Context(), memstore.New(), "shop", longest, index))
	for _, id := range []string{"", longest + "x"} {
		err := datasources.EnsureIndex(t.Context(), memstore.New(), "shop", id, index)
		require.ErrorIs(t, err, boterr.InvalidArgument)
	}
}

func TestEraseEntries(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_700_000_000_000)
	env := record.Env{Store: memstore.New(memstore.WithNow(func() time.Time { return now })), Now: func() time.Time { return now }}
	insert := func(app, source string, count int, owner string) {
		var entries []document.Object
		for range count {
			entries = append(entries, document.O("owner", owner))
		}
		_, err := datasources.New(env, record.Scope{App: app}).UpsertDataToDataSource(t.Context(),
			datasource.UpsertParams{DataSourceID: source, Data: document.One(entries...)})
		require.NoError(t, err)
	}
	erase := func(app string, p datasource.EraseEntriesParams) int64 {
		removed, err := datasources.EraseEntries(t.Context(), env, app, p)
		require.NoError(t, err)
		return removed
	}
	insert("shop", "orders", 2*record.RemovalBatch+1, "ada")
	insert("shop", "orders", 1, "bob")
	insert("shop", "others", 1, "ada")
	insert("bistro", "orders", 1, "ada")
	ofAda := datasource.EraseEntriesParams{DataSourceID: "orders", Filter: document.O("owner", "ada")}
	require.EqualValues(t, 2*record.RemovalBatch+1, erase("shop", ofAda))
	require.Zero(t, erase("shop", ofAda), "again")
	require.EqualValues(t, 1, erase("bistro", ofAda), "another app has its own")

	old := datasource.EraseEntriesParams{DataSourceID: "orders", OlderThan: time.Hour}
	now = now.Add(time.Hour)
	insert("shop", "orders", 1, "ada")
	require.Zero(t, erase("shop", old), "exactly an hour old")
	now = now.Add(time.Millisecond)
	require.Zero(t, erase("shop", datasource.EraseEntriesParams{DataSourceID: "orders", Filter: document.O("owner", "ada"), OlderThan: time.Hour}))
	require.EqualValues(t, 1, erase("shop", old))
	require.EqualValues(t, 1, erase("shop", ofAda))
}

func TestEraseEntries_Refusals(t *testing.T) {
	t.Parallel()
	env := record.Env{Store: memstore.New()}
	all := document.O("_id", document.O("$exists", true))
	for name, c := range map[string]struct {
		app, field string
		params     datasource.EraseEntriesParams
	}{
		"no app":         {"", "app", datasource.EraseEntriesParams{DataSourceID: "orders", Filter: all}},
		"no data source": {"shop", "dataSourceId", datasource.EraseEntriesParams{Filter: all}},
		"all":            {"shop", "filter", datasource.EraseEntriesParams{DataSourceID: "orders"}},
		"a negative age": {"shop", "olderThan", datasource.EraseEntriesParams{DataSourceID: "orders", OlderThan: -1}},
	} {
		_, err := datasources.EraseEntries(t.Context(), env, c.app, c.params)
		require.ErrorIs(t, err, boterr.InvalidArgument, name)
		e, _ := boterr.AsError(err)
		require.Equal(t, c.field, e.Field, name)
	}
	_, err := datasources.EraseEntries(t.Context(), env, "shop", datasource.EraseEntriesParams{
		DataSourceID: "orders", Filter: document.O("$where", "true"),
	})
	require.Error(t, err)
}

func withoutStamps(entry document.Object) document.Object {
	return entry.Without(record.FieldCreatedAt).Without(record.FieldUpdatedAt)
}

func TestDataSources_StoreFails(t *testing.T) {
	t.Parallel()
	sharedtest.EachFailure(t, func(failing func(store.Store) store.Store) error {
		a := newApps(t, `{"_id": 1, "at": [1, 1]}`)
		env := record.Env{Store: failing(a.store), Now: a.clock, NewID: a.nextID}
		s := datasources.New(env, record.Scope{App: "mine"})
		_, found := call(t, s.FetchGeoNearFromDataSource, `{"dataSourceId": "table", "data": {"near": [0, 0]}}`)
		_, known := call(t, s.UpsertDataToDataSource, `{"dataSourceId": "table", "data": {"_id": 1, "createdAt": 1000}}`)
		_, added := call(t, s.UpsertDataToDataSource, `{"dataSourceId": "table", "data": {"_id": 2}}`)
		_, erased := datasources.EraseEntries(t.Context(), env, "mine", datasource.EraseEntriesParams{DataSourceID: "old", OlderThan: time.Hour})
		return errors.Join(found, known, added, erased)
	})
}
