package postgres_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/postgres"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/conformance"
	"github.com/botctx/go-sdk/internal/sharedtest"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/query"
)

func TestOpen_RefusesSettings(t *testing.T) {
	t.Parallel()
	const address = "host=/nowhere"
	for name, open := range map[string]func() (*postgres.Store, error){
		"no address": func() (*postgres.Store, error) { return postgres.Open(t.Context(), "") },
		"no port":    func() (*postgres.Store, error) { return postgres.Open(t.Context(), "postgres://host:port/bots") },
		"text results": func() (*postgres.Store, error) {
			return postgres.Open(t.Context(), address+" default_query_exec_mode=exec")
		},
		"nil option": func() (*postgres.Store, error) { return postgres.Open(t.Context(), address, nil) },
		"no schema":  func() (*postgres.Store, error) { return postgres.Open(t.Context(), address, postgres.WithSchema("")) },
		"long schema": func() (*postgres.Store, error) {
			return postgres.Open(t.Context(), address, postgres.WithSchema(strings.Repeat("s", 64)))
		},
		"no time": func() (*postgres.Store, error) { return postgres.Open(t.Context(), address, postgres.WithTimeout(0)) },
	} {
		_, err := open()
		require.ErrorIs(t, err, boterr.InvalidArgument, name)
	}
}

func TestOpen_ShowsNoPassword(t *testing.T) {
	t.Parallel()
	for _, address := range []string{
		"postgres://bot:s3cret@localhost:x/bots", "host=localhost password=s3cret port=x", "postgres://bot:s3cret@127.0.0.1:1/bots",
		"host=/nowhere password=s3cret",
	} {
		_, err := postgres.Open(t.Context(), address)
		require.Error(t, err)
		require.NotContains(t, err.Error(), "s3cret")
	}
}

func TestOpen_ServerDoesNotAnswer(t *testing.T) {
	t.Parallel()
	_, err := postgres.Open(t.Context(), "host=/nowhere")
	require.ErrorIs(t, err, boterr.Unavailable)
}

func TestOpen_ManyAtOnceMakeOneSchema(t *testing.T) {
	t.Parallel()
	schema := newSchema(t)
	const many = 6
	opened := make([]*postgres.Store, many)
	for _, err := range conformance.AtOnce(many, func(worker int) (err error) {
		opened[worker], err = postgres.Open(t.Context(), server.URL, postgres.WithSchema(schema))
		return err
	}) {
		require.NoError(t, err)
	}
	for i, database := range opened {
		require.NoError(t, database.Collection("a").Insert(t.Context(), document.O("_id", i)))
		database.Close()
	}
	count, err := openIn(t, schema).Collection("a").Count(t.Context(), nil)
	require.NoError(t, err)
	require.EqualValues(t, many, count)
}

func TestOpen_SchemaThatExists(t *testing.T) {
	t.Parallel()
	schema := newSchema(t)
	execute(t, "CREATE SCHEMA "+schema)
	require.NoError(t, openIn(t, schema).Collection("a").Insert(t.Context(), document.O("_id", 1)))
}

func TestOpen_SchemaWithAnOddName(t *testing.T) {
	t.Parallel()
	needServer(t)
	const schema = `botctx_test "; DROP TABLE x; -- é`
	quoted := `"` + strings.ReplaceAll(schema, `"`, `""`) + `"`
	t.Cleanup(func() { execute(t, "DROP SCHEMA IF EXISTS "+quoted+" CASCADE") })
	c := openIn(t, schema).Collection("a")
	require.NoError(t, c.EnsureIndex(t.Context(), store.Ascending("n")))
	require.NoError(t, c.Insert(t.Context(), document.O("_id", 1, "n", document.A(1, 2))))
	found, err := openIn(t, schema).Collection("a").Find(t.Context(), sharedtest.Filter(t, "n", 2), store.FindOptions{})
	require.NoError(t, err)
	require.Len(t, found, 1)
}

func TestOpen_LaterFormat(t *testing.T) {
	t.Parallel()
	schema := newSchema(t)
	openIn(t, schema).Close()
	execute(t, "UPDATE "+schema+"._format SET version=99")
	_, err := postgres.Open(t.Context(), server.URL, postgres.WithSchema(schema))
	require.ErrorIs(t, err, boterr.FailedPrecondition)
	require.ErrorContains(t, err, "99")
}

func TestClose_RefusesAll(t *testing.T) {
	t.Parallel()
	database := open(t)
	a := database.Collection("a")
	require.NoError(t, a.Insert(t.Context(), document.O("_id", 1)))
	database.Close()
	database.Close()
	_, now := database.Now(t.Context())
	_, find := a.Find(t.Context(), nil, store.FindOptions{})
	for name, err := range map[string]error{"insert": a.Insert(t.Context(), document.O("_id", 2)), "find": find, "now": now} {
		require.ErrorIs(t, err, boterr.FailedPrecondition, name)
	}
	database.Notify("topic", "text")
	database.Listen("topic", func(string) {})()
}

func TestNow_IsTheServersClock(t *testing.T) {
	t.Parallel()
	database := open(t)
	before, err := database.Now(t.Context())
	require.NoError(t, err)
	var now float64
	require.NoError(t, database.Pool().QueryRow(t.Context(), "SELECT extract(epoch FROM clock_timestamp())::float8").Scan(&now))
	after, err := database.Now(t.Context())
	require.NoError(t, err)
	require.LessOrEqual(t, float64(before.UnixMicro())/1e6, now)
	require.LessOrEqual(t, now, float64(after.UnixMicro())/1e6)
	require.Equal(t, time.UTC, after.Location())
}

func TestError_HasTheCodeOfTheServer(t *testing.T) {
	t.Parallel()
	schema := newSchema(t)
	c := openIn(t, schema).Collection("a")
	require.NoError(t, c.Insert(t.Context(), document.O("_id", 1)))
	execute(t, "DROP TABLE "+schema+"._d1 CASCADE")
	_, err := c.Find(t.Context(), nil, store.FindOptions{})
	require.ErrorIs(t, err, boterr.FailedPrecondition)
	var refused *pgconn.PgError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, "42P01", refused.Code)
}

func TestCollection_IsNotMadeByWhatFindsNothing(t *testing.T) {
	t.Parallel()
	schema := newSchema(t)
	database := openIn(t, schema)
	exists := func() (exists bool) {
		require.NoError(t, database.Pool().QueryRow(t.Context(), "SELECT to_regclass($1) IS NOT NULL", schema+"._d1").Scan(&exists))
		return exists
	}
	c := database.Collection("a")
	one, set := sharedtest.Filter(t, "_id", 1), sharedtest.Change(t, "$set", document.O("n", 1))
	_, err := c.Delete(t.Context(), nil, store.DeleteOptions{Multi: true})
	require.NoError(t, err)
	_, err = c.Update(t.Context(), one, set, store.UpdateOptions{})
	require.NoError(t, err)
	require.False(t, exists())
	result, err := c.Update(t.Context(), one, set, store.UpdateOptions{Upsert: true})
	require.NoError(t, err)
	require.EqualValues(t, 1, result.UpsertedID)
	require.True(t, exists())
}

// FuzzNames searches for names and values that become part of a statement instead of arguments. The store must
// behave like a store in memory.
func FuzzNames(f *testing.F) {
	for _, hostile := range []string{
		"a", "", "'", `"`, "';--", `"; DROP SCHEMA public CASCADE; --`, "$1", "$$", "\\", "\\x00", "\x00", "\xff", "%s%d", "?", ":name",
		"a.b", "a'||pg_sleep(10)||'", "/*", "😀", strings.Repeat("n", 200), strings.Repeat("long", 700), "_d1", "system.x", "$set", "{}", "NULL",
	} {
		f.Add(hostile, hostile, hostile)
		f.Add("things", hostile, "v")
	}
	database := open(f)
	f.Fuzz(func(t *testing.T, name, field, value string) {
		memory := memstore.New()
		require.Equal(t, using(t, memory, name, field, value), using(t, database, name, field, value))
		_, err := database.Collection(name).Delete(t.Context(), nil, store.DeleteOptions{Multi: true})
		if err != nil {
			require.Error(t, store.CheckName(name))
		}
	})
}

// using prints the results of operations with this name of a collection, name of a field, and value.
func using(t *testing.T, database store.Store, name, field, value string) string {
	t.Helper()
	c := database.Collection(name)
	var answers strings.Builder
	note := func(of string, result any, err error) { fmt.Fprintln(&answers, of, result, err) }
	note("index", "", c.EnsureIndex(t.Context(), store.Ascending(field, "k")))
	note("insert", "", c.Insert(t.Context(), document.O("_id", value, field, value, "k", 1), document.O("_id", 1, field, document.A(value, 2))))
	filter, err := query.CompileFilter(document.O(field, value))
	if err != nil {
		return answers.String()
	}
	found, err := c.Find(t.Context(), filter, store.FindOptions{})
	note("find", found, err)
	one, exists, err := c.Get(t.Context(), value)
	note("get", fmt.Sprint(one, exists), err)
	count, err := c.Count(t.Context(), filter)
	note("count", count, err)
	values, err := c.Distinct(t.Context(), field, nil)
	note("distinct", values, err)
	if update, err := query.CompileUpdate(document.O("$set", document.O("x", value))); err == nil {
		result, err := c.Update(t.Context(), filter, query.Change{Update: update}, store.UpdateOptions{Multi: true})
		note("update", result, err)
	}
	if sort, err := query.CompileSort(document.O(field, -1)); err == nil {
		found, err := c.Find(t.Context(), nil, store.FindOptions{Sort: sort, Limit: 1})
		note("sort", found, err)
	}
	return answers.String()
}
