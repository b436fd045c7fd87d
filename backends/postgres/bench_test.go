package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/postgres"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/sharedtest"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// entry returns a small document with eight fields.
func entry(i int) document.Object {
	return document.O(
		"_id", entryID(i), "name", fmt.Sprintf("Place %d", i), "area", area(i), "stars", i%5, "price", float64(i%97)+0.5,
		"open", i%3 != 0, "tags", document.A("a", fmt.Sprintf("t%d", i%7)), "due", i,
	)
}

func entryID(i int) string { return fmt.Sprintf("entry-%07d", i) }

func area(i int) string { return fmt.Sprintf("area-%d", i%1000) }

// operations are the measured operations, either of the store or of statements written by hand.
type operations struct {
	get, page, insert, findAndModify, claim func(ctx context.Context, i int) error
}

// overStore inserts entries into a store with two indexes.
func overStore(b *testing.B, count int) operations {
	b.Helper()
	c := open(b).Collection("entries")
	require.NoError(b, c.EnsureIndex(b.Context(), store.Ascending("area", "price")))
	require.NoError(b, c.EnsureIndex(b.Context(), store.Ascending("due")))
	for from := 0; from < count; from += 1_000 {
		var documents []document.Object
		for i := from; i < min(from+1_000, count); i++ {
			documents = append(documents, entry(i))
		}
		require.NoError(b, c.Insert(b.Context(), documents...))
	}
	byPrice, byDue := sharedtest.Sort(b, "price", 1), sharedtest.Sort(b, "due", 1)
	postpone, star := sharedtest.Change(b, "$inc", document.O("due", count)), sharedtest.Change(b, "$inc", document.O("stars", 1))
	modify := func(ctx context.Context, f *query.Filter, change query.Change, sort *query.Sort) error {
		result, err := c.FindAndModify(ctx, f, change, store.FindAndModifyOptions{Sort: sort})
		if err == nil && !result.Matched {
			err = errors.New("nothing matched")
		}
		return err
	}
	return operations{
		get: func(ctx context.Context, i int) error {
			_, _, err := c.Get(ctx, entryID(i))
			return err
		},
		page: func(ctx context.Context, i int) error {
			_, err := c.Find(ctx, sharedtest.Filter(b, "area", area(i)), store.FindOptions{Sort: byPrice, Limit: 10})
			return err
		},
		insert: func(ctx context.Context, i int) error { return c.Insert(ctx, entry(i)) },
		findAndModify: func(ctx context.Context, i int) error {
			return modify(ctx, sharedtest.Filter(b, "_id", entryID(i)), star, nil)
		},
		claim: func(ctx context.Context, i int) error {
			return modify(ctx, sharedtest.Filter(b, "due", document.O("$lt", i+count/2)), postpone, byDue)
		},
	}
}

// byHand does the same as overStore with hand-written statements on a table with one column per field. A program
// that needs no other queries could be written like this.
func byHand(b *testing.B, count int) operations {
	b.Helper()
	schema, pool := newSchema(b), newPool(b)
	table := pgx.Identifier{schema, "entries"}.Sanitize()
	do := func(text string, arguments ...any) {
		b.Helper()
		_, err := pool.Exec(b.Context(), text, arguments...)
		require.NoError(b, err)
	}
	do("CREATE SCHEMA " + schema)
	do(`CREATE TABLE ` + table + `(pos bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id text NOT NULL UNIQUE, area text, price float8,
		due bigint, stars int, rest jsonb) WITH (fillfactor=80)`)
	do("CREATE INDEX ON " + table + "(area, price, pos)")
	do("CREATE INDEX ON " + table + "(due, pos)")
	const rest = `{"name":"Place","open":true,"tags":["a","t1"]}`
	do("INSERT INTO "+table+"(id,area,price,due,stars,rest) SELECT 'entry-'||lpad(i::text,7,'0'), 'area-'||i%1000, i%97+0.5, i, i%5, $2"+
		" FROM generate_series(0,$1-1) i", count, rest)
	do("ANALYZE " + table)
	read := func(ctx context.Context, text string, arguments ...any) error {
		rows, err := pool.Query(ctx, text, arguments...)
		if err != nil {
			return err
		}
		_, err = pgx.CollectRows(rows, pgx.RowToMap)
		return err
	}
	return operations{
		get: func(ctx context.Context, i int) error {
			return read(ctx, "SELECT pos, id, area, price, due, stars, rest FROM "+table+" WHERE id=$1", entryID(i))
		},
		page: func(ctx context.Context, i int) error {
			return read(ctx, "SELECT pos, id, area, price, due, stars, rest FROM "+table+" WHERE area=$1 ORDER BY price, pos LIMIT 10", area(i))
		},
		insert: func(ctx context.Context, i int) error {
			_, err := pool.Exec(ctx, "INSERT INTO "+table+"(id,area,price,due,stars,rest) VALUES($1,$2,$3,$4,$5,$6)",
				entryID(i), area(i), float64(i%97)+0.5, i, i%5, rest)
			return err
		},
		findAndModify: func(ctx context.Context, i int) error {
			return read(ctx, "UPDATE "+table+" SET stars=stars+1 WHERE id=$1 RETURNING *", entryID(i))
		},
		claim: func(ctx context.Context, i int) error {
			return read(ctx, "UPDATE "+table+" SET due=due+$2 WHERE pos=(SELECT pos FROM "+table+
				" WHERE due<$1 ORDER BY due, pos LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING *", i+count/2, count)
		},
	}
}

// BenchmarkGrowth shows which operations become slower with more documents. Only the depth of index trees
// should matter.
func BenchmarkGrowth(b *testing.B) {
	for _, count := range []int{1_000, 10_000, 100_000, 1_000_000} {
		b.Run(strconv.Itoa(count), func(b *testing.B) {
			for _, by := range []struct {
				name string
				make func(*testing.B, int) operations
			}{{"store", overStore}, {"hand", byHand}} {
				b.Run(by.name, func(b *testing.B) { measure(b, count, by.make(b, count)) })
			}
		})
	}
}

func measure(b *testing.B, count int, o operations) {
	b.Helper()
	var next atomic.Int64
	pick := func() int { return int(uint64(next.Add(1)) * 2654435761 % uint64(count)) }
	var claimed atomic.Int64
	inTurn := func() int { return int(claimed.Add(1)) } // A claimed entry moves to the end.
	added := func() int { return 2_000_000 + int(next.Add(1)) }
	for _, one := range []struct {
		name string
		// parallel is the number of workers per processor.
		parallel int
		number   func() int
		call     func(ctx context.Context, i int) error
	}{
		{"get", 1, pick, o.get},
		{"page", 1, pick, o.page},
		{"insert", 8, added, o.insert},
		{"findAndModify", 8, pick, o.findAndModify},
		{"claim", 4, inTurn, o.claim},
	} {
		b.Run(one.name, func(b *testing.B) {
			b.SetParallelism(one.parallel)
			b.RunParallel(func(each *testing.PB) {
				for each.Next() {
					if err := one.call(b.Context(), one.number()); err != nil {
						b.Error(err)
					}
				}
			})
		})
	}
}

// Many writes to one document wait for each other, but the time to choose the next one must not grow with their number.
func BenchmarkGroups_OneDocument(b *testing.B) {
	for b.Loop() {
		require.Equal(b, 16_000, postgres.GroupsOf(16_000))
	}
}
