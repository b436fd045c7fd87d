package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/hashicorp/go-memdb"
)

// trees is go-memdb: immutable radix trees of structs, whose readers wait for nobody and whose
// snapshots cost nothing, as with memstore. It has no language; what an index does not answer is
// filtered by hand.
type trees struct {
	ids   []string
	index indexName
	db    *memdb.MemDB
}

var (
	_ engine[*place]      = (*trees)(nil)
	_ snapshotter[*place] = (*trees)(nil)
)

// The table, and its index of ids.
const (
	treesTable = "places"
	treesID    = "id"
)

func newTrees(_ context.Context, count int) (engine[*place], error) {
	t := &trees{ids: make([]string, count)}
	for i := range t.ids {
		t.ids[i] = idAt(i)
	}
	err := t.open(noIndex)
	return t, err
}

// treesIndexes are the indexes in go-memdb's terms. Location has none.
var treesIndexes = map[indexName]memdb.Indexer{
	onName:  &memdb.StringFieldIndex{Field: "Name"},
	onArea:  &memdb.StringFieldIndex{Field: "Area"},
	onPrice: priceIndexer{},
	onAreaPrice: &memdb.CompoundIndex{
		Indexes: []memdb.Indexer{&memdb.StringFieldIndex{Field: "Area"}, priceIndexer{}},
	},
}

// open makes an empty database with one index beside that of ids.
func (t *trees) open(index indexName) (err error) {
	table := &memdb.TableSchema{Name: treesTable, Indexes: map[string]*memdb.IndexSchema{
		treesID: {Name: treesID, Unique: true, Indexer: &memdb.StringFieldIndex{Field: "ID"}},
	}}
	if indexer, ok := treesIndexes[index]; ok {
		table.Indexes[string(index)] = &memdb.IndexSchema{Name: string(index), Indexer: indexer}
		t.index = index
	}
	t.db, err = memdb.NewMemDB(&memdb.DBSchema{Tables: map[string]*memdb.TableSchema{treesTable: table}})
	return err
}

func (t *trees) documentOf(p place) *place { return new(p) }

func (t *trees) placeOf(document *place) (place, error) { return *document, nil }

func (t *trees) load(ctx context.Context, documents []*place, index indexName) error {
	if err := t.open(index); err != nil {
		return err
	}
	return t.insert(ctx, documents)
}

// insert replaces places whose id is there, which go-memdb does not tell and others refuse.
func (t *trees) insert(_ context.Context, documents []*place) error {
	txn := t.db.Txn(true)
	defer txn.Abort() // After a commit it has no effect.
	for _, document := range documents {
		if err := txn.Insert(treesTable, document); err != nil {
			return err
		}
	}
	txn.Commit()
	return nil
}

func (t *trees) byID(_ context.Context, i int) (*place, error) {
	return firstOf(t.db.Txn(false), treesID, t.ids[i])
}

// firstOf returns the first place of an index under a key.
func firstOf(txn *memdb.Txn, index string, key any) (*place, error) {
	found, err := txn.First(treesTable, index, key)
	if err != nil {
		return nil, err
	}
	p, ok := found.(*place)
	if !ok {
		return nil, fmt.Errorf("%v is missing", key)
	}
	return p, nil
}

func (t *trees) find(_ context.Context, q question) (found []*place, err error) {
	err = t.each(q, func(p *place) { found = append(found, p) })
	return found, err
}

func (t *trees) count(_ context.Context, q question) (n int64, err error) {
	err = t.each(q, func(*place) { n++ })
	return n, err
}

// each calls a function with each place that a query finds.
func (t *trees) each(q question, call func(*place)) error {
	candidates, isExact, err := t.candidates(t.db.Txn(false), q)
	if err != nil {
		return err
	}
	for next := candidates.Next(); next != nil; next = candidates.Next() {
		p, ok := next.(*place)
		if !ok {
			return errors.New("the table has places alone")
		}
		if q == priceBetween && t.index == onPrice && p.Price >= mostPrice {
			return nil
		}
		if isExact || p.meets(q) {
			call(p)
		}
	}
	return nil
}

// candidates returns the places of the index that serves a query, else all, and whether the query
// finds each of them.
func (t *trees) candidates(txn *memdb.Txn, q question) (found memdb.ResultIterator, isExact bool, err error) {
	switch {
	case q == nameIs && t.index == onName:
		found, err = txn.Get(treesTable, string(onName), askedNameText)
		return found, true, err
	case q == areaIs && t.index == onArea:
		found, err = txn.Get(treesTable, string(onArea), askedArea)
		return found, true, err
	case q == priceBetween && t.index == onPrice:
		found, err = txn.LowerBound(treesTable, string(onPrice), leastPrice)
		return found, true, err
	default:
		found, err = txn.Get(treesTable, treesID)
		return found, q == everything, err
	}
}

func (t *trees) areas(context.Context) (found []string, err error) {
	seen := make(map[string]bool)
	err = t.each(everything, func(p *place) {
		if !seen[p.Area] {
			seen[p.Area] = true
			found = append(found, p.Area)
		}
	})
	return found, err
}

func (t *trees) visit(_ context.Context, i int) (*place, error) {
	return t.change(func(txn *memdb.Txn) (*place, error) { return firstOf(txn, treesID, t.ids[i]) })
}

func (t *trees) visitCheapest(_ context.Context, q question) (*place, error) {
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
			err = errors.Join(err, fmt.Errorf("no place is found by query %d", q))
		}
		return best, err
	})
}

// change counts a visit of the place that a function chooses: a new place takes its place.
func (t *trees) change(choose func(*memdb.Txn) (*place, error)) (*place, error) {
	txn := t.db.Txn(true)
	defer txn.Abort() // After a commit it has no effect.
	chosen, err := choose(txn)
	if err != nil {
		return nil, err
	}
	after := *chosen
	after.Visits++
	if err := txn.Insert(treesTable, &after); err != nil {
		return nil, err
	}
	txn.Commit()
	return &after, nil
}

func (t *trees) nearest(context.Context) ([]*place, error) { return nil, errLacking }

func (t *trees) snapshot() engine[*place] {
	return &trees{ids: t.ids, index: t.index, db: t.db.Snapshot()}
}

func (t *trees) close() {}

// priceIndexer makes the keys of prices, which are not negative.
type priceIndexer struct{}

var (
	_ memdb.SingleIndexer = priceIndexer{}
	_ memdb.PrefixIndexer = priceIndexer{}
)

// FromObject implements memdb.SingleIndexer.
func (priceIndexer) FromObject(object any) (bool, []byte, error) {
	p, ok := object.(*place)
	if !ok {
		return false, nil, errors.New("it is no place")
	}
	return true, binary.BigEndian.AppendUint64(nil, math.Float64bits(p.Price)), nil
}

// FromArgs implements memdb.Indexer.
func (priceIndexer) FromArgs(arguments ...any) ([]byte, error) {
	price, ok := arguments[0].(float64)
	if !ok || len(arguments) != 1 {
		return nil, errors.New("one price is needed")
	}
	return binary.BigEndian.AppendUint64(nil, math.Float64bits(price)), nil
}

// PrefixFromArgs implements memdb.PrefixIndexer.
func (i priceIndexer) PrefixFromArgs(arguments ...any) ([]byte, error) {
	return i.FromArgs(arguments...)
}
