package hostile

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
)

// Filled returns a store in memory with about 20 MB: a few documents with long arrays, some
// with long texts, deep ones, and many small ones.
func Filled(ctx context.Context) (*memstore.Store, error) {
	store := memstore.New()
	w, err := NewWorld(store)
	if err != nil {
		return nil, err
	}
	for _, fill := range []func() []document.Object{wide, long, deep, many} {
		if err := w.insert(ctx, "things", fill()); err != nil {
			return nil, err
		}
	}
	return store, w.insertRecords(ctx)
}

// Copy inserts what a filled store has into an empty one.
func Copy(ctx context.Context, filled, empty store.Store) error {
	for _, name := range collections() {
		documents, err := filled.Collection(name).Find(ctx, nil, store.FindOptions{})
		if err != nil {
			return err
		}
		if err := empty.Collection(name).Insert(ctx, documents...); err != nil {
			return err
		}
	}
	return nil
}

// insert adds documents to a data source of the app.
func (w *World) insert(ctx context.Context, dataSource string, documents []document.Object) error {
	const atOnce = 5_000
	for len(documents) > 0 {
		n := min(atOnce, len(documents))
		list := make([]any, n)
		for i, o := range documents[:n] {
			list[i] = o
		}
		text, err := document.O("dataSourceId", dataSource, "data", document.A(list...)).MarshalJSON()
		if err != nil {
			return err
		}
		if _, err := w.bot.Call(ctx, "upsertDataToDataSource", text); err != nil {
			return err
		}
		documents = documents[n:]
	}
	return nil
}

// wide are documents with arrays of nulls, of numbers and of objects.
func wide() []document.Object {
	numbers, objects := make([]any, 20_000), make([]any, 20_000)
	for i := range numbers {
		numbers[i], objects[i] = i, document.O("a", i%7, "b", document.A(i, "x"))
	}
	var documents []document.Object
	for i := range 6 {
		documents = append(documents, document.O(
			"_id", fmt.Sprint("wide", i), "l", document.A(make([]any, 100_000)...), "n", document.A(numbers...),
			"o", document.A(objects...), "at", document.A(i, i)))
	}
	return documents
}

// long are documents with long texts.
func long() []document.Object {
	var documents []document.Object
	for i := range 4 {
		documents = append(documents, document.O(
			"_id", fmt.Sprint("long", i), "s", strings.Repeat("ab", 500_000), "t", strings.Repeat("ab", 500_000), "i", i))
	}
	return documents
}

// deep are documents of objects within arrays within objects.
func deep() []document.Object {
	var documents []document.Object
	for i := range 50 {
		inner := any(i)
		for range 40 {
			inner = document.O("a", document.A(inner, document.O("a", 1)))
		}
		documents = append(documents, document.O("_id", fmt.Sprint("deep", i), "d", inner))
	}
	return documents
}

// many are small documents.
func many() []document.Object {
	documents := make([]document.Object, 30_000)
	for i := range documents {
		documents[i] = document.O(
			"_id", strconv.Itoa(i), "s", fmt.Sprint("text ", i), "i", i, "n", document.A(i), "l", document.A(i, "x"),
			"o", document.A(document.O("a", i%7)))
	}
	return documents
}

// insertRecords adds the records that the operations on members and assignments need.
func (w *World) insertRecords(ctx context.Context) error {
	members, assignments := make([]document.Object, 2_000), make([]document.Object, 2_000)
	for i := range members {
		id := fmt.Sprint("member", i)
		if i == 0 {
			id = "member"
		}
		meta := document.O("n", document.A(i), "l", document.A(i, nil, "x"), "s", strings.Repeat("ab", 100),
			"o", document.A(document.O("a", i%7, "b", document.A(i, "x"))))
		members[i] = meta.With("_id", id).With("app", "app").With("channel", "channel").With("externalId", id).With("meta", meta)
		assignments[i] = document.O(
			"_id", fmt.Sprint("assignment", i), "app", "app", "inlet", "channel", "member", "member", "meta", meta,
			"slot", fmt.Sprint("ended/", i), "targets", document.A(), "endedAt", 1)
	}
	if err := w.store.Collection("members").Insert(ctx, members...); err != nil {
		return err
	}
	return w.store.Collection("assignments").Insert(ctx, assignments...)
}
