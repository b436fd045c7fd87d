package mongotest_test

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/event"
	driver "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/botctx/go-sdk/backends/mongo"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/query"
	"github.com/botctx/go-sdk/store"
)

// countedStore is a store whose commands are counted.
type countedStore struct {
	store.Store
	store.Collection

	test *testing.T
	// ctx is that of updates.
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

// update updates with stamps, as every service does.
func (c *countedStore) update(filter, update document.Object, opts store.UpdateOptions) error {
	change := changeOf(c.test, update)
	_, err := c.Update(c.ctx, filterOf(c.test, filter), change, opts)
	return err
}

func (c *countedStore) findAndModify(filter, update document.Object, opts store.FindAndModifyOptions) error {
	_, err := c.FindAndModify(c.ctx, filterOf(c.test, filter), changeOf(c.test, update), opts)
	return err
}

func (c *countedStore) find(filter document.Object, opts store.FindOptions) error {
	_, err := c.Find(c.test.Context(), filterOf(c.test, filter), opts)
	return err
}

func filterOf(t *testing.T, source document.Object) *query.Filter {
	t.Helper()
	filter, err := query.CompileFilter(source)
	require.NoError(t, err)
	return filter
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

// roundTrips are the round trips of every operation. docs/scaling.md has the same table.
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
		_, err := c.Count(c.test.Context(), filterOf(c.test, document.O("n", 1)))
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
	{"Update with Multi and Partly, certain to change each match", 1, func(c *countedStore) error {
		claim := document.O("$set", document.O("by", "me"), "$inc", document.O("n", 1))
		return c.update(document.O("by", nil), claim, store.UpdateOptions{Multi: true, Partly: true})
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
		_, err := c.Delete(c.test.Context(), filterOf(c.test, document.O("_id", 1)), store.DeleteOptions{})
		return err
	}},
	{"Delete of the first match", 1, func(c *countedStore) error {
		_, err := c.Delete(c.test.Context(), filterOf(c.test, document.O("n", 1)), store.DeleteOptions{})
		return err
	}},
	{"Delete of the first match that finds none", 2, func(c *countedStore) error {
		_, err := c.Delete(c.test.Context(), filterOf(c.test, document.O("n", 9)), store.DeleteOptions{})
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

func TestRoundTrips_TableIsDocumented(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../docs/scaling.md")
	require.NoError(t, err)
	for _, row := range roundTrips {
		require.Contains(t, string(text), fmt.Sprintf("\n| %s | %d |\n", row.operation, row.trips))
	}
}
