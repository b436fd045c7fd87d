package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/query"
)

// growing is the work whose growth is measured, and the index it needs.
var growing = []task{
	{title: "get by id", kind: getByID, stride: apart},
	{title: "index, equality, finds 1", kind: findAll, query: nameIs, index: onName},
	{title: "findAndModify by id", kind: visitByID, stride: apart},
	{title: "scan, equality, finds 1", kind: findAll, query: nameIs},
}

// printGrowth prints how memstore's time grows with the number of documents.
func printGrowth(ctx context.Context, out *strings.Builder, s settings) error {
	fmt.Fprint(out, "| memstore, documents |")
	for _, t := range growing {
		fmt.Fprintf(out, " %s |", t.title)
	}
	fmt.Fprint(out, "\n|---|---|---|---|---|\n")
	for count := 1_000; count <= s.largest; count *= 10 {
		fmt.Fprintf(out, "| %d |", count)
		for _, t := range growing {
			t.documents = count
			measured, err := timeMemstore(ctx, t, s)
			if err != nil {
				return fmt.Errorf("%s: %w", t.title, err)
			}
			fmt.Fprintf(out, " %s |", measured)
		}
		fmt.Fprintln(out)
	}
	return nil
}

func timeMemstore(ctx context.Context, t task, s settings) (timing, error) {
	started, err := contenders[compiledColumn].start(ctx, t)
	if err != nil {
		return 0, err
	}
	defer started.close()
	return timingOf(s, started.do)
}

// printSharing prints what must not depend on size: a fork on the number of
// documents, and an update of one field on the number of the others.
func printSharing(ctx context.Context, out *strings.Builder, s settings) error {
	fmt.Fprint(out, "| memstore | time |\n|---|---|\n")
	for _, count := range []int{10, s.largest} {
		fork, err := forking(ctx, count)
		if err != nil {
			return err
		}
		measured, err := timingOf(s, fork)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "| fork of %d documents | %s |\n", count, measured)
	}
	for _, fields := range []int{10, 1_000} {
		set, err := setting(ctx, fields)
		if err != nil {
			return err
		}
		measured, err := timingOf(s, set)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "| `$set` of one of %d fields | %s |\n", fields, measured)
	}
	return nil
}

// forking returns work that forks a store of so many documents.
func forking(ctx context.Context, count int) (func(int) error, error) {
	store := memstore.New()
	loader := &memory{places: store.Collection("places")}
	if err := loader.insert(ctx, documentsOf(loader, count)); err != nil {
		return nil, err
	}
	return func(int) error { store.Fork(); return nil }, nil
}

// setting returns work that sets one field of a document of so many.
func setting(ctx context.Context, fields int) (func(round int) error, error) {
	wide := document.O(document.IDField, "wide")
	for i := range fields - 1 {
		wide = wide.With(fmt.Sprintf("field%d", i), i)
	}
	documents := memstore.New().Collection("documents")
	if err := documents.Insert(ctx, wide); err != nil {
		return nil, err
	}
	byID, err := query.CompileFilter(document.O(document.IDField, "wide"))
	if err != nil {
		return nil, err
	}
	var changes [2]query.Change
	for i := range changes {
		changes[i].Update, err = query.CompileUpdate(document.O("$set", document.O("field5", fmt.Sprint("value", i))))
		if err != nil {
			return nil, err
		}
	}
	return func(round int) error {
		_, err := documents.Update(ctx, byID, changes[round%2], store.UpdateOptions{})
		return err
	}, nil
}
