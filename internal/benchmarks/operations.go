package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/record"
)

// operation is work that bot logic does, over memstore.
type operation struct {
	title string
	// entries is the number of entries of the data source.
	entries int
	do      func(ctx context.Context, bot *botctx.Context) error
}

var operations = []operation{
	{title: "an entry by id, of 10,000", entries: few, do: fetching(document.O(record.FieldID, "e5000"), 1)},
	{title: "a filter that finds 500 of 10,000", entries: few, do: fetching(northAndCheap(), few/20)},
	{title: "a filter that finds 5,000 of 100,000", entries: plenty, do: fetching(northAndCheap(), plenty/20)},
	{title: "findAndModify by id, of 10,000", entries: few, do: countingSeats(document.O(record.FieldID, "e5000"), document.Object{})},
	{
		title: "findAndModify by filter and sort, of 10,000", entries: few,
		do: countingSeats(document.O("area", "north"), document.O("price", 1, "rating", -1)),
	},
}

// northAndCheap is a filter that one of 20 entries matches.
func northAndCheap() document.Object {
	return document.O("area", "north", "price", document.O("$lt", 5))
}

var errOther = errors.New("the operation found something else")

func fetching(filter document.Object, want int) func(context.Context, *botctx.Context) error {
	return func(ctx context.Context, bot *botctx.Context) error {
		found, err := bot.FetchDataFromDataSource(ctx, datasource.FetchDataFromDataSourceParams{DataSourceID: "places", Filter: filter})
		if err == nil && len(found.Entries) != want {
			err = errOther
		}
		return err
	}
}

func countingSeats(filter, sort document.Object) func(context.Context, *botctx.Context) error {
	return func(ctx context.Context, bot *botctx.Context) error {
		_, err := bot.FindAndModifyDataFromDataSource(ctx, datasource.FindAndModifyDataFromDataSourceParams{
			DataSourceID: "places", Filter: filter, SortBy: sort, Patch: document.Inc("seats", 1),
		})
		return err
	}
}

// printOperations prints operations of bot logic over memstore alone, and what entries take in
// memory: two builds of this program, by turns, tell what a part of the engine brings.
func printOperations(ctx context.Context, out *strings.Builder, s settings) error {
	fmt.Fprint(out, "| operation | time |\n|---|---|\n")
	for _, o := range operations {
		bot, err := operating(o.entries)
		if err != nil {
			return err
		}
		measured, err := timingOf(s, func(int) error { return o.do(ctx, bot) })
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "| %s | %s |\n", o.title, measured)
	}
	filling, err := timingOf(s, func(int) error { _, err := operating(few); return err })
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "| 10,000 entries added | %s |\n", filling)
	before := heap()
	bot, err := operating(plenty)
	fmt.Fprintf(out, "| memory of an entry | %d bytes |\n", (heap()-before)/plenty)
	runtime.KeepAlive(bot)
	return err
}

// operating returns the operations over a store with so many entries, as a host has them.
func operating(entries int) (*botctx.Context, error) {
	host, err := botctx.New(botctx.Config{Store: fakes.New().Runtime().Env().Store})
	if err != nil {
		return nil, err
	}
	bot := host.Operations(record.Scope{App: fakes.DefaultApp})
	for from := 0; from < entries; from += few {
		added := make([]document.Object, few)
		for i := range added {
			added[i] = entryAt(from + i)
		}
		_, err := bot.UpsertDataToDataSource(context.Background(), datasource.UpsertDataToDataSourceParams{
			DataSourceID: "places", Data: added,
		})
		if err != nil {
			return nil, err
		}
	}
	return bot, nil
}
