package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
)

// place is what both stores keep: eight fields, of which one is an array and one an object.
type place struct {
	ID, Name, Area      string
	Stars, Visits       int64
	Price               float64
	Tags                []string
	Longitude, Latitude float64
}

// The sizes of what the questions find: one area in 21 is 477 of 10,000 places.
const (
	areas      = 21
	priceSteps = 10_007 // prime, so that up to as many places all differ in price
)

// placeAt returns the i-th place. The same number always gives the same place.
func placeAt(i int) place {
	return place{
		ID: idAt(i), Name: nameAt(i), Area: fmt.Sprintf("area-%d", i%areas), Stars: int64(i % 5),
		Price: float64(i*7919%priceSteps) / 100, Tags: []string{"all", fmt.Sprintf("tag-%d", i%19)},
		Longitude: 13 + fraction(float64(i)*0.6180339887), Latitude: 52 + fraction(float64(i)*0.7548776662),
	}
}

func idAt(i int) string { return fmt.Sprintf("place-%07d", i) }

func nameAt(i int) string { return fmt.Sprintf("Place %d", i) }

// fraction spreads its argument over [0, 1).
func fraction(x float64) float64 { return x - math.Floor(x) }

// question is one that is put to the stores.
type question int

// The questions.
const (
	nameIs       question = iota // one place
	areaIs                       // 1 in 21
	tagIs                        // 1 in 19, in an array
	priceBetween                 // 471 of 10,007
	areaAndPrice                 // 1 in 85
	questions
)

// What they ask for.
const (
	askedName  = "Place 777"
	askedArea  = "area-7"
	askedTag   = "tag-3"
	leastPrice = 20.0
	mostPrice  = 24.72
)

// meets reports whether a place is one that a question asks for.
func (p *place) meets(q question) bool {
	switch q {
	case nameIs:
		return p.Name == askedName
	case areaIs:
		return p.Area == askedArea
	case tagIs:
		return slices.Contains(p.Tags, askedTag)
	case priceBetween:
		return p.Price >= leastPrice && p.Price < mostPrice
	default:
		return p.Area == askedArea && p.Price < mostPrice
	}
}

// index names an index that a store keeps.
type index string

// The indexes.
const (
	noIndex     index = ""
	onName      index = "name"
	onArea      index = "area"
	onPrice     index = "price"
	onAreaPrice index = "area, price"
)

// engine is a store of places. What a method returns is the same for both stores: how many were found, or how often a
// place was visited.
type engine interface {
	// fill inserts the places into an empty store, so many in each call.
	fill(ctx context.Context, inOneCall int) (int64, error)
	byID(ctx context.Context, i int) (int64, error)
	find(ctx context.Context, q question) (int64, error)
	count(ctx context.Context, q question) (int64, error)
	// areas counts the different areas.
	areas(ctx context.Context) (int64, error)
	// visit counts a visit of the i-th place, visitCheapest of the cheapest that a question finds.
	visit(ctx context.Context, i int) (int64, error)
	visitCheapest(ctx context.Context, q question) (int64, error)
	// fork copies the store, which lives on by itself, and reads a place there.
	fork(ctx context.Context) (int64, error)
}

// engines are the stores, in the order of the table's columns.
var engines = []struct {
	name string
	open func(ctx context.Context, count int, of index) (engine, error)
}{{"memstore", openMemstore}, {"go-memdb", openTrees}}

// The numbers of documents that rows have.
const (
	few    = 10_000
	plenty = 10 * few
)

// apart is a stride with which a processor's cache helps little; all places have their turn.
const apart = 7_919

// storeRow is work that both stores do.
type storeRow struct {
	title     string
	documents int
	index     index
	do        func(ctx context.Context, e engine, round int) (int64, error)
}

// asking returns work that finds what a question asks for.
func asking(q question) func(context.Context, engine, int) (int64, error) {
	return func(ctx context.Context, e engine, _ int) (int64, error) { return e.find(ctx, q) }
}

// counting returns work that counts it.
func counting(q question) func(context.Context, engine, int) (int64, error) {
	return func(ctx context.Context, e engine, _ int) (int64, error) { return e.count(ctx, q) }
}

// filling returns work that fills a store.
func filling(inOneCall int) func(context.Context, engine, int) (int64, error) {
	return func(ctx context.Context, e engine, _ int) (int64, error) { return e.fill(ctx, inOneCall) }
}

var (
	readFar     = func(ctx context.Context, e engine, round int) (int64, error) { return e.byID(ctx, round*apart%few) }
	changeNear  = func(ctx context.Context, e engine, round int) (int64, error) { return e.visit(ctx, round%few) }
	changeFar   = func(ctx context.Context, e engine, round int) (int64, error) { return e.visit(ctx, round*apart%few) }
	changeFirst = func(ctx context.Context, e engine, _ int) (int64, error) { return e.visitCheapest(ctx, areaIs) }
)

// storeRows are the rows of the table.
var storeRows = []storeRow{
	{title: "insert 10,000 in one call", documents: few, do: filling(few)},
	{title: "insert 10,000 one by one", documents: few, do: filling(1)},
	{title: "get by id, far apart", documents: few, do: readFar},
	{title: "index, equality, finds 1", documents: few, index: onName, do: asking(nameIs)},
	{title: "index, equality, finds 476", documents: few, index: onArea, do: asking(areaIs)},
	{title: "index, range, finds 471", documents: few, index: onPrice, do: asking(priceBetween)},
	{title: "index, equality, finds 1 of 100,000", documents: plenty, index: onName, do: asking(nameIs)},
	{title: "scan, equality, finds 1", documents: few, do: asking(nameIs)},
	{title: "scan, equality, finds 476", documents: few, do: asking(areaIs)},
	{title: "scan, range, finds 471", documents: few, do: asking(priceBetween)},
	{title: "scan, element of an array, finds 527", documents: few, do: asking(tagIs)},
	{title: "scan, two conditions, finds 118", documents: few, do: asking(areaAndPrice)},
	{title: "scan, equality, finds 4,762 of 100,000", documents: plenty, do: asking(areaIs)},
	{title: "findAndModify by id", documents: few, do: changeNear},
	{title: "findAndModify by id, far apart", documents: few, do: changeFar},
	{title: "findAndModify by filter and sort", documents: few, do: changeFirst},
	{title: "findAndModify by filter and sort, index", documents: few, index: onAreaPrice, do: changeFirst},
	{title: "count by filter", documents: few, do: counting(areaIs)},
	{title: "count by filter, index", documents: few, index: onArea, do: counting(areaIs)},
	{title: "distinct, 21 values", documents: few, do: func(ctx context.Context, e engine, _ int) (int64, error) { return e.areas(ctx) }},
	{
		title: "a copy of all that can be read and written", documents: few,
		do: func(ctx context.Context, e engine, _ int) (int64, error) { return e.fork(ctx) },
	},
}

// printStore prints what work takes memstore and go-memdb.
func printStore(ctx context.Context, out *strings.Builder, s settings) error {
	fmt.Fprint(out, "| work | memstore | go-memdb | times faster than go-memdb |\n|---|---|---|---|\n")
	for _, row := range storeRows {
		var turns []*turn
		for _, each := range engines {
			e, err := each.open(ctx, row.documents, row.index)
			if err != nil {
				return fmt.Errorf("%s: %s: %w", row.title, each.name, err)
			}
			turns = append(turns, &turn{do: func(round int) error {
				_, err := row.do(ctx, e, round)
				return err
			}})
		}
		timings, err := medians(turns, s)
		if err != nil {
			return fmt.Errorf("%s: %w", row.title, err)
		}
		fmt.Fprintf(out, "| %s | %s | %s | %s |\n", row.title, timings[0], timings[1], shortNumber(float64(timings[1]/timings[0])))
	}
	return nil
}
