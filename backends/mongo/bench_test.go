package mongo_test

import (
	"context"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	driver "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/botctx/go-sdk/backends/mongo"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// pair is an operation in two versions: by the driver directly, and by the store.
type pair struct {
	name   string
	driver func(ctx context.Context, c *driver.Collection, n int) error
	store  func(ctx context.Context, c store.Collection, n int) error
}

func memberLike(n int) document.Object {
	return document.O(
		"_id", idOf(n), "app", "shop", "channel", "web", "externalId", n, "firstName", "Ada", "lastName", "Lovelace", "group", n%10,
		"tags", document.A("new", "vip"), "meta", document.O("cart", document.O("total", 12.5, "items", document.A(1, 2, 3))),
		"createdAt", 1_700_000_000_000, "updatedAt", 1_700_000_000_000, "etag", "e", "_version", 1,
	)
}

// plain returns the document of memberLike in the driver's form.
func plain(n int) bson.D {
	return bson.D{
		{Key: "_id", Value: idOf(n)},
		{Key: "app", Value: "shop"},
		{Key: "channel", Value: "web"},
		{Key: "externalId", Value: int64(n)},
		{Key: "firstName", Value: "Ada"},
		{Key: "lastName", Value: "Lovelace"},
		{Key: "group", Value: int64(n % 10)},
		{Key: "tags", Value: bson.A{"new", "vip"}},
		{Key: "meta", Value: bson.D{{Key: "cart", Value: bson.D{
			{Key: "total", Value: 12.5}, {Key: "items", Value: bson.A{int64(1), int64(2), int64(3)}},
		}}}},
		{Key: "createdAt", Value: int64(1_700_000_000_000)},
		{Key: "updatedAt", Value: int64(1_700_000_000_000)},
		{Key: "etag", Value: "e"},
		{Key: "_version", Value: int64(1)},
	}
}

func idOf(n int) string { return "member-" + strconv.Itoa(n) }

// byID returns the driver's filter for one document.
func byID(n int) bson.D { return bson.D{{Key: "_id", Value: idOf(n % benchmarked)}} }

// change returns the driver's update, with the stamps that services add to their updates.
func change(n int) bson.D {
	return bson.D{
		{Key: "$set", Value: bson.D{{Key: "step", Value: int64(n)}, {Key: "updatedAt", Value: int64(n)}, {Key: "etag", Value: "f"}}},
		{Key: "$inc", Value: bson.D{{Key: "_version", Value: int64(1)}}},
	}
}

func storeFilter(n int) *query.Filter {
	f, _ := query.CompileFilter(document.O("_id", idOf(n%benchmarked)))
	return f
}

func storeChange(n int) query.Change {
	u, _ := query.CompileUpdate(document.O("$set", document.O("step", n)))
	return query.Change{
		Update: u, Fixed: []string{"app", "createdAt"},
		Stamps: query.Stamps{Set: document.O("updatedAt", n, "etag", "f"), Increment: []string{"_version"}},
	}
}

// benchmarked is the number of documents in each collection.
const benchmarked = 200

var pairs = []pair{
	{
		name: "find by _id",
		driver: func(ctx context.Context, c *driver.Collection, n int) error {
			var o bson.D
			return c.FindOne(ctx, byID(n)).Decode(&o)
		},
		store: func(ctx context.Context, c store.Collection, n int) error {
			_, err := c.Find(ctx, storeFilter(n), store.FindOptions{})
			return err
		},
	},
	{
		name: "insert",
		driver: func(ctx context.Context, c *driver.Collection, n int) error {
			_, err := c.InsertOne(ctx, plain(benchmarked+n))
			return err
		},
		store: func(ctx context.Context, c store.Collection, n int) error {
			return c.Insert(ctx, memberLike(benchmarked+n))
		},
	},
	{
		name: "update by _id",
		driver: func(ctx context.Context, c *driver.Collection, n int) error {
			_, err := c.UpdateOne(ctx, byID(n), change(n))
			return err
		},
		store: func(ctx context.Context, c store.Collection, n int) error {
			_, err := c.Update(ctx, storeFilter(n), storeChange(n), store.UpdateOptions{})
			return err
		},
	},
	{
		name: "findOneAndUpdate by _id",
		driver: func(ctx context.Context, c *driver.Collection, n int) error {
			var o bson.D
			return c.FindOneAndUpdate(ctx, byID(n), change(n), options.FindOneAndUpdate().SetReturnDocument(options.After)).Decode(&o)
		},
		store: func(ctx context.Context, c store.Collection, n int) error {
			_, err := c.FindAndModify(ctx, storeFilter(n), storeChange(n), store.FindAndModifyOptions{New: true})
			return err
		},
	},
	{
		name: "count",
		driver: func(ctx context.Context, c *driver.Collection, n int) error {
			_, err := c.CountDocuments(ctx, byID(n))
			return err
		},
		store: func(ctx context.Context, c store.Collection, n int) error {
			_, err := c.Count(ctx, storeFilter(n))
			return err
		},
	},
	{
		name: "delete by _id",
		driver: func(ctx context.Context, c *driver.Collection, n int) error {
			_, err := c.DeleteOne(ctx, bson.D{{Key: "_id", Value: idOf(benchmarked + n)}})
			return err
		},
		store: func(ctx context.Context, c store.Collection, n int) error {
			f, err := query.CompileFilter(document.O("_id", idOf(benchmarked+n)))
			if err != nil {
				return err
			}
			_, err = c.Delete(ctx, f, store.DeleteOptions{})
			return err
		},
	},
}

// BenchmarkStoreBesideTheDriver alternates between the driver and the store for each operation, and reports the
// medians and their ratio.
func BenchmarkStoreBesideTheDriver(b *testing.B) {
	benchmarkPairs(b, newDatabase(b))
}

// BenchmarkClientBesideTheDriver compares the same operations on a server that does no work. So it measures the
// overhead of the store in this process.
func BenchmarkClientBesideTheDriver(b *testing.B) {
	benchmarkPairs(b, newSilentDatabase(b))
}

func benchmarkPairs(b *testing.B, database *driver.Database) {
	b.Helper()
	store, err := mongo.New(b.Context(), database)
	require.NoError(b, err)
	own, other := store.Collection("own"), store.Database().Collection("other")
	for n := range benchmarked {
		require.NoError(b, own.Insert(b.Context(), memberLike(n)))
		_, err := other.InsertOne(b.Context(), plain(n))
		require.NoError(b, err)
	}
	next := 0
	for _, p := range pairs {
		b.Run(p.name, func(b *testing.B) {
			var direct, through []time.Duration
			if p.name == "delete by _id" {
				next = 0 // Count from the start: documents with higher numbers were not inserted.
			}
			for b.Loop() {
				next++
				began := time.Now() //nolint:forbidigo // A benchmark measures real time.
				if err := p.driver(b.Context(), other, next); err != nil {
					b.Fatal(err)
				}
				between := time.Now() //nolint:forbidigo // A benchmark.
				if err := p.store(b.Context(), own, next); err != nil {
					b.Fatal(err)
				}
				through = append(through, time.Since(between)) //nolint:forbidigo // A benchmark.
				direct = append(direct, between.Sub(began))
			}
			slices.Sort(direct)
			slices.Sort(through)
			half := len(direct) / 2
			b.ReportMetric(float64(direct[half].Nanoseconds())/1000, "driver-µs")
			b.ReportMetric(float64(through[half].Nanoseconds())/1000, "store-µs")
			b.ReportMetric(float64(through[half])/float64(direct[half]), "ratio")
			b.ReportMetric(0, "ns/op")
		})
	}
}
