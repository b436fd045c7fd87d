package datasource_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/store/memstore"
)

// operation is an operation of the service.
type operation[P, R any] = func(context.Context, P) (R, error)

// apps are the data sources of two apps in one store, with a clock that stands still
// and ids that count.
type apps struct {
	mine, theirs *datasource.Service

	mu  sync.Mutex
	now time.Time
	ids int
}

// table is the data source of the tests.
const table = "table"

// newApps returns two apps. The entries, given as JSON, are in the table of mine.
func newApps(t *testing.T, entries ...string) *apps {
	t.Helper()
	a := &apps{now: time.UnixMilli(1000)}
	env := record.Env{Store: memstore.New(), Now: a.clock, NewID: a.nextID}
	a.mine = datasource.New(env, record.Scope{App: "mine"})
	a.theirs = datasource.New(env, record.Scope{App: "theirs"})
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

// advance moves the clock by a second.
func (a *apps) advance() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.now = a.now.Add(time.Second)
}

// object reads an object from JSON.
func object(t *testing.T, text string) document.Object {
	t.Helper()
	var o document.Object
	require.NoError(t, json.Unmarshal([]byte(text), &o), text)
	return o
}

// upsert writes entries, given as JSON, to the table.
func upsert(t *testing.T, s *datasource.Service, entries ...string) datasource.UpsertOutcome {
	t.Helper()
	data := make([]document.Object, 0, len(entries))
	for _, entry := range entries {
		data = append(data, object(t, entry))
	}
	done, err := s.UpsertDataToDataSource(t.Context(), datasource.UpsertDataToDataSourceParams{DataSourceID: table, Data: data})
	require.NoError(t, err)
	return done.Result
}

// call calls an operation as JSON does, and returns the JSON of its result.
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

// requireResult calls an operation as JSON does, and compares the JSON of its result.
func requireResult[P, R any](t *testing.T, run operation[P, R], params, want string) {
	t.Helper()
	got, err := call(t, run, params)
	require.NoError(t, err, params)
	require.JSONEq(t, want, got, params)
}

// requireTable compares the table without createdAt and updatedAt.
func requireTable(t *testing.T, s *datasource.Service, want ...string) {
	t.Helper()
	found, err := s.FetchDataFromDataSource(t.Context(), datasource.FetchDataFromDataSourceParams{DataSourceID: table})
	require.NoError(t, err)
	require.Len(t, found.Entries, len(want))
	for i, entry := range found.Entries {
		require.JSONEq(t, want[i], withoutStamps(entry).String())
	}
}

// requireRefused calls an operation with parameters that are wrong, each with the
// field at fault, on a table of two entries, and compares the error and the table.
func requireRefused[P, R any](
	t *testing.T, of func(*datasource.Service) operation[P, R], fields map[string]string,
) {
	t.Helper()
	a := newApps(t, `{"_id": 1, "n": 1, "tags": ["a"]}`, `{"_id": "two", "n": "text"}`)
	a.advance()
	shown := func() string {
		found, err := a.mine.FetchDataFromDataSource(t.Context(), datasource.FetchDataFromDataSourceParams{DataSourceID: table})
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

// merged returns the cases of all maps.
func merged(all ...map[string]string) map[string]string {
	cases := map[string]string{}
	for _, some := range all {
		maps.Copy(cases, some)
	}
	return cases
}

// noTable are the ways not to name a data source by either of two parameters.
func noTable() map[string]string {
	return map[string]string{
		`{}`:                     "dataSourceId",
		`{"dataSourceId": ""}`:   "dataSourceId",
		`{"collectionName": ""}`: "dataSourceId",
		`{"dataSourceId": 5}`:    "dataSourceId",
		`{"dataSourceId": "table", "collectionName": "other"}`:       "collectionName",
		`{"collectionName": "` + fmt.Sprintf("%0250d", 1) + `"}`:     "collectionName",
		`{"collectionName": {"$ne": ""}, "dataSourceId": "another"}`: "collectionName",
	}
}
