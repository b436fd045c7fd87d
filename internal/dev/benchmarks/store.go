package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/hashicorp/go-memdb"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/query"
)

// place is a document for both stores. It has eight fields, including an array and an object.
type place struct {
	ID, Name, Area      string
	Stars, Visits       int64
	Price               float64
	Tags                []string
	Longitude, Latitude float64
}

// Parameters of the places. A question for an area has 477 results among 10,000 places.
const (
	areas      = 21
	priceSteps = 10_007 // a prime number, so that this many places have different prices
)

// placeAt returns the i-th place, which is always the same.
func placeAt(i int) place {
	return place{
		ID: idAt(i), Name: fmt.Sprintf("Place %d", i), Area: fmt.Sprintf("area-%d", i%areas), Stars: int64(i % 5),
		Price: float64(i*7919%priceSteps) / 100, Tags: []string{"all", fmt.Sprintf("tag-%d", i%19)},
		Longitude: 13 + fraction(float64(i)*0.6180339887), Latitude: 52 + fraction(float64(i)*0.7548776662),
	}
}

func idAt(i int) string { return fmt.Sprintf("place-%07d", i) }

// fraction returns the fractional part of x.
func fraction(x float64) float64 { return x - math.Floor(x) }

// question is a query for both stores.
type question int

// The questions, with the share of places that match.
const (
	nameIs       question = iota // one place
	areaIs                       // 1 in 21
	tagIs                        // 1 in 19, in an array
	priceBetween                 // 471 of 10,007
	areaAndPrice                 // 1 in 85
	questions
)

// The operands of the questions.
const (
	askedName  = "Place 777"
	askedArea  = "area-7"
	askedTag   = "tag-3"
	leastPrice = 20.0
	mostPrice  = 24.72
)

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

// index names an index of a store.
type index string

// The indexes.
const (
	noIndex     index = ""
	onName      index = "name"
	onArea      index = "area"
	onPrice     index = "price"
	onAreaPrice index = "area, price"
)

// engine is a store of places. Its methods return a number that must be the same in both stores: how many places were
// found, or how many visits a place has.
type engine interface {
	// fill inserts the places into an empty store, inOneCall at a time.
	fill(ctx context.Context, inOneCall int) (int64, error)
	byID(ctx context.Context, i int) (int64, error)
	find(ctx context.Context, q question) (int64, error)
	count(ctx context.Context, q question) (int64, error)
	// areas returns the number of different areas.
	areas(ctx context.Context) (int64, error)
	// visit increments the visits of the i-th place. visitCheapest increments the visits of the cheapest place that
	// matches a question.
	visit(ctx context.Context, i int) (int64, error)
	visitCheapest(ctx context.Context, q question) (int64, error)
	// fork makes an independent copy of the store and reads a place from it.
	fork(ctx context.Context) (int64, error)
}

// engines are the stores in the order of the table's columns.
var engines = []struct {
	name string
	open func(ctx context.Context, count int, of index) (engine, error)
}{{"memstore", openMemstore}, {"go-memdb", openTrees}}

// The numbers of documents in the rows of the table.
const (
	few    = 10_000
	plenty = 10 * few
)

// apart is a step between places that defeats the processor's cache. It eventually reaches all places.
const apart = 7_919

// storeRow is a row of the table: work that both stores do.
type storeRow struct {
	title     string
	documents int
	index     index
	do        func(ctx context.Context, e engine, round int) (int64, error)
}

// asking returns work that evaluates a question.
func asking(q question) func(context.Context, engine, int) (int64, error) {
	return func(ctx context.Context, e engine, _ int) (int64, error) { return e.find(ctx, q) }
}

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

// printStore writes the table that compares memstore with go-memdb.
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

// trees is go-memdb: immutable radix trees of structs. As in memstore, readers never wait and snapshots are free. It
// has no query language, so conditions without an index are evaluated here.
type trees struct {
	places []*place
	ids    []string
	index  index
	db     *memdb.MemDB
}

// The table and its index of ids.
const (
	treesTable = "places"
	treesID    = "id"
)

var treesIndexes = map[index]memdb.Indexer{
	onName:      &memdb.StringFieldIndex{Field: "Name"},
	onArea:      &memdb.StringFieldIndex{Field: "Area"},
	onPrice:     priceIndexer{},
	onAreaPrice: &memdb.CompoundIndex{Indexes: []memdb.Indexer{&memdb.StringFieldIndex{Field: "Area"}, priceIndexer{}}},
}

// openTrees returns a database with count places, indexed by id and by one more index.
func openTrees(_ context.Context, count int, of index) (engine, error) {
	t := &trees{index: of}
	for i := range count {
		t.places, t.ids = append(t.places, new(placeAt(i))), append(t.ids, idAt(i))
	}
	var err error
	if t.db, err = newTrees(of); err != nil {
		return nil, err
	}
	return t, insertInto(t.db, t.places)
}

// newTrees returns an empty database.
func newTrees(of index) (*memdb.MemDB, error) {
	table := &memdb.TableSchema{Name: treesTable, Indexes: map[string]*memdb.IndexSchema{
		treesID: {Name: treesID, Unique: true, Indexer: &memdb.StringFieldIndex{Field: "ID"}},
	}}
	if indexer, hasOne := treesIndexes[of]; hasOne {
		table.Indexes[string(of)] = &memdb.IndexSchema{Name: string(of), Indexer: indexer}
	}
	return memdb.NewMemDB(&memdb.DBSchema{Tables: map[string]*memdb.TableSchema{treesTable: table}})
}

// insertInto inserts places. Unlike memstore, go-memdb silently replaces a place with the same id.
func insertInto(db *memdb.MemDB, places []*place) error {
	txn := db.Txn(true)
	defer txn.Abort() // Abort has no effect after a commit.
	for _, each := range places {
		if err := txn.Insert(treesTable, each); err != nil {
			return err
		}
	}
	txn.Commit()
	return nil
}

func (t *trees) fill(_ context.Context, inOneCall int) (int64, error) {
	db, err := newTrees(noIndex)
	if err != nil {
		return 0, err
	}
	for some := range slices.Chunk(t.places, inOneCall) {
		if err := insertInto(db, some); err != nil {
			return 0, err
		}
	}
	return int64(len(t.places)), nil
}

func (t *trees) byID(_ context.Context, i int) (int64, error) {
	_, err := firstOf(t.db.Txn(false), treesID, t.ids[i])
	return 1, err
}

// firstOf returns the first place with a key in an index.
func firstOf(txn *memdb.Txn, index string, key any) (*place, error) {
	found, err := txn.First(treesTable, index, key)
	if err != nil {
		return nil, err
	}
	p, isPlace := found.(*place)
	if !isPlace {
		return nil, fmt.Errorf("%v is missing", key)
	}
	return p, nil
}

func (t *trees) find(_ context.Context, q question) (int64, error) {
	var found []*place
	err := t.each(q, func(p *place) { found = append(found, p) })
	return int64(len(found)), err
}

func (t *trees) count(_ context.Context, q question) (n int64, err error) {
	err = t.each(q, func(*place) { n++ })
	return n, err
}

// each calls a function with each place that matches a question.
func (t *trees) each(q question, call func(*place)) error {
	candidates, isExact, err := t.candidates(t.db.Txn(false), q)
	if err != nil {
		return err
	}
	for next := candidates.Next(); next != nil; next = candidates.Next() {
		p := next.(*place) //nolint:forcetypeassert // The table only has places.
		if q == priceBetween && t.index == onPrice && p.Price >= mostPrice {
			return nil
		}
		if isExact || p.meets(q) {
			call(p)
		}
	}
	return nil
}

// candidates returns the places from the index for a question, or all places. isExact is true if all of them match.
func (t *trees) candidates(txn *memdb.Txn, q question) (found memdb.ResultIterator, isExact bool, err error) {
	switch {
	case q == nameIs && t.index == onName:
		found, err = txn.Get(treesTable, string(onName), askedName)
		return found, true, err
	case q == areaIs && t.index == onArea:
		found, err = txn.Get(treesTable, string(onArea), askedArea)
		return found, true, err
	case q == priceBetween && t.index == onPrice:
		found, err = txn.LowerBound(treesTable, string(onPrice), leastPrice)
		return found, true, err
	default:
		found, err = txn.Get(treesTable, treesID)
		return found, false, err
	}
}

func (t *trees) areas(context.Context) (int64, error) {
	all, err := t.db.Txn(false).Get(treesTable, treesID)
	if err != nil {
		return 0, err
	}
	seen := make(map[string]bool)
	for next := all.Next(); next != nil; next = all.Next() {
		seen[next.(*place).Area] = true //nolint:forcetypeassert // As in each.
	}
	return int64(len(seen)), nil
}

func (t *trees) visit(_ context.Context, i int) (int64, error) {
	return t.change(func(txn *memdb.Txn) (*place, error) { return firstOf(txn, treesID, t.ids[i]) })
}

func (t *trees) visitCheapest(_ context.Context, q question) (int64, error) {
	return t.change(func(txn *memdb.Txn) (best *place, err error) {
		if q == areaIs && t.index == onAreaPrice {
			return firstOf(txn, string(onAreaPrice)+"_prefix", askedArea)
		}
		err = t.each(q, func(p *place) {
			if best == nil || p.Price < best.Price {
				best = p
			}
		})
		if best == nil {
			err = errors.Join(err, errors.New("nothing is found"))
		}
		return best, err
	})
}

// change increments the visits of the chosen place by replacing the place.
func (t *trees) change(choose func(*memdb.Txn) (*place, error)) (int64, error) {
	txn := t.db.Txn(true)
	defer txn.Abort() // Abort has no effect after a commit.
	chosen, err := choose(txn)
	if err != nil {
		return 0, err
	}
	after := *chosen
	after.Visits++
	if err := txn.Insert(treesTable, &after); err != nil {
		return 0, err
	}
	txn.Commit()
	return after.Visits, nil
}

func (t *trees) fork(ctx context.Context) (int64, error) {
	copied := *t
	copied.db = t.db.Snapshot()
	return copied.byID(ctx, 0)
}

// priceIndexer creates keys for prices, which must not be negative.
type priceIndexer struct{}

func (priceIndexer) FromObject(object any) (bool, []byte, error) {
	p, isPlace := object.(*place)
	if !isPlace {
		return false, nil, errors.New("it is not a place")
	}
	return true, binary.BigEndian.AppendUint64(nil, math.Float64bits(p.Price)), nil
}

func (priceIndexer) FromArgs(arguments ...any) ([]byte, error) {
	price, isNumber := arguments[0].(float64)
	if !isNumber || len(arguments) != 1 {
		return nil, errors.New("one price is needed")
	}
	return binary.BigEndian.AppendUint64(nil, math.Float64bits(price)), nil
}

func (i priceIndexer) PrefixFromArgs(arguments ...any) ([]byte, error) {
	return i.FromArgs(arguments...)
}

// memory is memstore with precompiled filters.
type memory struct {
	store     *memstore.Store
	places    store.Collection
	documents []document.Object
	byIDs     []*query.Filter
	filters   [questions]*query.Filter
	byPrice   *query.Sort
	counted   query.Change
}

// memoryIndexes are the indexes for memstore.
var memoryIndexes = map[index][]store.IndexKey{
	onName:      {{Path: "name", Kind: query.Ascending}},
	onArea:      {{Path: "area", Kind: query.Ascending}},
	onPrice:     {{Path: "price", Kind: query.Ascending}},
	onAreaPrice: {{Path: "area", Kind: query.Ascending}, {Path: "price", Kind: query.Ascending}},
}

// openMemstore returns a memstore with count places.
func openMemstore(ctx context.Context, count int, of index) (engine, error) {
	m := &memory{store: memstore.New()}
	m.places = m.store.Collection("places")
	for i := range count {
		m.documents = append(m.documents, documentOf(placeAt(i)))
	}
	if err := m.compile(count); err != nil {
		return nil, err
	}
	if err := m.places.Insert(ctx, m.documents...); err != nil || of == noIndex {
		return m, err
	}
	return m, m.places.EnsureIndex(ctx, store.Index{Keys: memoryIndexes[of]})
}

func documentOf(p place) document.Object {
	return document.O(
		"_id", p.ID, "name", p.Name, "area", p.Area, "stars", p.Stars, "price", p.Price, "visits", p.Visits,
		"tags", document.A(p.Tags[0], p.Tags[1]), "location", document.O("type", "Point", "coordinates", document.A(p.Longitude, p.Latitude)),
	)
}

// compile compiles the filters for count places.
func (m *memory) compile(count int) (err error) {
	for q, asked := range []document.Object{
		nameIs:       document.O("name", askedName),
		areaIs:       document.O("area", askedArea),
		tagIs:        document.O("tags", askedTag),
		priceBetween: document.O("price", document.O("$gte", leastPrice, "$lt", mostPrice)),
		areaAndPrice: document.O("area", askedArea, "price", document.O("$lt", mostPrice)),
	} {
		if m.filters[q], err = query.CompileFilter(asked); err != nil {
			return err
		}
	}
	m.byIDs = make([]*query.Filter, count)
	for i := range m.byIDs {
		if m.byIDs[i], err = query.CompileFilter(document.O("_id", idAt(i))); err != nil {
			return err
		}
	}
	if m.counted.Update, err = query.CompileUpdate(document.O("$inc", document.O("visits", 1))); err != nil {
		return err
	}
	m.byPrice, err = query.CompileSort(document.O("price", 1))
	return err
}

func (m *memory) fill(ctx context.Context, inOneCall int) (int64, error) {
	places := memstore.New().Collection("places")
	for some := range slices.Chunk(m.documents, inOneCall) {
		if err := places.Insert(ctx, some...); err != nil {
			return 0, err
		}
	}
	return int64(len(m.documents)), nil
}

func (m *memory) byID(ctx context.Context, i int) (int64, error) {
	found, err := m.places.Find(ctx, m.byIDs[i], store.FindOptions{Limit: 1})
	return int64(len(found)), err
}

func (m *memory) find(ctx context.Context, q question) (int64, error) {
	found, err := m.places.Find(ctx, m.filters[q], store.FindOptions{})
	return int64(len(found)), err
}

func (m *memory) count(ctx context.Context, q question) (int64, error) {
	return m.places.Count(ctx, m.filters[q])
}

func (m *memory) areas(ctx context.Context) (int64, error) {
	found, err := m.places.Distinct(ctx, "area", nil)
	return int64(len(found)), err
}

func (m *memory) visit(ctx context.Context, i int) (int64, error) {
	return m.change(ctx, m.byIDs[i], store.FindAndModifyOptions{New: true})
}

func (m *memory) visitCheapest(ctx context.Context, q question) (int64, error) {
	return m.change(ctx, m.filters[q], store.FindAndModifyOptions{Sort: m.byPrice, New: true})
}

func (m *memory) change(ctx context.Context, filter *query.Filter, options store.FindAndModifyOptions) (int64, error) {
	result, err := m.places.FindAndModify(ctx, filter, m.counted, options)
	if err == nil && !result.Matched {
		err = errors.New("nothing is found")
	}
	return document.Get(result.Document, "visits", int64(0)), err
}

func (m *memory) fork(ctx context.Context) (int64, error) {
	copied := *m
	copied.store = m.store.Fork()
	copied.places = copied.store.Collection("places")
	return copied.byID(ctx, 0)
}
