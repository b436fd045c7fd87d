package memstore_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
)

// stagedWrite returns a write of a kind that the numbers of a random generator choose. Documents have
// keys under two unique indexes, of which the second refuses what the first has taken already, and
// under one that is not, at times several.
func stagedWrite(t *testing.T, random *rand.Rand) func(context.Context, store.Collection) (string, error) {
	t.Helper()
	number := func() int { return random.IntN(8) }
	fields := document.O("p", number(), "k", document.A(number(), number()), "q", number(), "n", random.IntN(100))
	if random.IntN(2) == 0 {
		fields = document.O("k", number(), "q", number(), "n", random.IntN(100))
	}
	some := filter(t, []string{"_id", "k", "q", "n"}[random.IntN(4)], number())
	set := change(t, "$set", fields)
	first, second := fields.With("_id", random.IntN(12)), document.O("_id", random.IntN(12), "q", number())
	options := store.UpdateOptions{Multi: random.IntN(3) == 0, Upsert: random.IntN(3) == 0}
	if options.Upsert {
		set.OnInsert = document.O("_id", random.IntN(12))
	}
	return []func(context.Context, store.Collection) (string, error){
		func(ctx context.Context, c store.Collection) (string, error) { return "", c.Insert(ctx, first) },
		func(ctx context.Context, c store.Collection) (string, error) { return "", c.Insert(ctx, second, first) },
		func(ctx context.Context, c store.Collection) (string, error) {
			done, err := c.Update(ctx, some, set, options)
			return fmt.Sprint(done), err
		},
		func(ctx context.Context, c store.Collection) (string, error) {
			done, err := c.FindAndModify(ctx, some, set, store.FindAndModifyOptions{New: true, Upsert: options.Upsert})
			return fmt.Sprint(done), err
		},
		func(ctx context.Context, c store.Collection) (string, error) {
			removed, err := c.Delete(ctx, some, store.DeleteOptions{Multi: options.Multi})
			return strconv.FormatInt(removed, 10), err
		},
	}[random.IntN(5)]
}

// ensureStaged makes the indexes of stagedWrite.
func ensureStaged(t *testing.T, c store.Collection) {
	t.Helper()
	for _, index := range []store.Index{
		{Keys: ascending("p"), Unique: true, Sparse: true},
		{Keys: ascending("k")},
		{Keys: ascending("q"), Unique: true, Sparse: true},
	} {
		require.NoError(t, c.EnsureIndex(t.Context(), index))
	}
}

// found returns what there is under each key.
func found(t *testing.T, c store.Collection) (all []string) {
	t.Helper()
	for _, field := range []string{"p", "k", "q"} {
		for key := range 8 {
			documents, err := c.Find(t.Context(), filter(t, field, key), store.FindOptions{})
			require.NoError(t, err)
			all = append(all, fmt.Sprint(field, key, documents))
		}
	}
	return all
}

func TestGroup_ChangesAsOneWriteAfterTheOther(t *testing.T) {
	t.Parallel()
	for name, options := range map[string][]memstore.Option{"": nil, "beside": {memstore.WithShortTurns()}} {
		for seed := range uint64(rounds.Of(t, 60, 2000)) {
			synctest.Test(t, func(t *testing.T) { compareGroup(t, fmt.Sprint(name, " ", seed), seed, options) })
		}
	}
}

// compareGroup runs writes one after the other on a store without a journal, and on one whose journal
// is at work until all have run.
func compareGroup(t *testing.T, name string, seed uint64, options []memstore.Option) {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 3))
	plain := memstore.New()
	j := &memoryJournal{}
	grouped, err := memstore.Open(j, options...)
	require.NoError(t, err)
	var toldPlain, toldGrouped []string
	plain.Watch("a", func(before, after document.Object) { toldPlain = append(toldPlain, fmt.Sprint(before, after)) }, func() {})
	grouped.Watch("a", func(before, after document.Object) { toldGrouped = append(toldGrouped, fmt.Sprint(before, after)) }, func() {})
	ensureStaged(t, plain.Collection("a"))
	ensureStaged(t, grouped.Collection("a"))
	put(t, plain, "a", 1, 2, 3)
	put(t, grouped, "a", 1, 2, 3)
	gate := make(chan struct{})
	j.before = func() error {
		<-gate
		return nil
	}
	holds := insert(t.Context(), grouped, "holds the journal")
	put(t, plain, "a", "holds the journal")
	seen := contents(t, grouped, "a")
	type outcome struct {
		result string
		code   boterr.Code
	}
	var want []outcome
	var got []chan outcome
	for range 12 {
		write := stagedWrite(t, random)
		result, err := write(t.Context(), plain.Collection("a"))
		want = append(want, outcome{result, boterr.CodeOf(err)})
		done := make(chan outcome, 1)
		go func() {
			result, err := write(t.Context(), grouped.Collection("a"))
			done <- outcome{result, boterr.CodeOf(err)}
		}()
		got = append(got, done)
		synctest.Wait()
		if len(options) > 0 { // They take turns with those of the same collection.
			for len(done) == 0 {
				gate <- struct{}{}
				synctest.Wait()
			}
		}
	}
	if len(options) == 0 {
		require.Equal(t, seen, contents(t, grouped, "a"), "%s: nothing of it is seen before the journal has it", name)
	}
	close(gate)
	require.NoError(t, <-holds)
	for i := range want {
		require.Equal(t, want[i], <-got[i], "%s, write %d", name, i)
	}
	require.Equal(t, contents(t, plain, "a"), contents(t, grouped, "a"), name)
	require.Equal(t, found(t, plain.Collection("a")), found(t, grouped.Collection("a")), name)
	require.Equal(t, toldPlain, toldGrouped, name)
	require.Equal(t, contents(t, plain, "a"), contents(t, journaled(t, j), "a"), "%s: what the journal was given", name)
}

func TestWatch_BeginsAmidAGroup(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j, gate := gatedJournal()
		database := journaled(t, j)
		var told []string
		watchB := func() {
			database.Watch("b", func(_, after document.Object) { told = append(told, after.String()) }, func() {})
			require.Len(t, contents(t, database, "b"), 2)
		}
		defer database.Watch("a", func(_, after document.Object) {
			if id, _ := after.Field("_id"); id == "amid" {
				watchB()
			}
		}, func() {})()
		outcomes := []<-chan error{insert(t.Context(), database, "holds the journal")}
		outcomes = append(outcomes, insertInto(t.Context(), database, "b", "before"), insert(t.Context(), database, "amid"), insertInto(t.Context(), database, "b", "with it"))
		gate <- nil
		gate <- nil
		for _, outcome := range outcomes {
			require.NoError(t, <-outcome)
		}
		last := insertInto(t.Context(), database, "b", "last")
		gate <- nil
		require.NoError(t, <-last)
		require.Equal(t, []string{`{"_id":"last"}`}, told, "what could be read when it began is not told")
	})
}
