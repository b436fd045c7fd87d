package postgres_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/query"
)

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
	schema := newSchema(f)
	f.Fuzz(func(t *testing.T, name, field, value string) {
		database, memory := openIn(t, schema), memstore.New()
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
