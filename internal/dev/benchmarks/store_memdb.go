package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/hashicorp/go-memdb"
)

// trees is go-memdb: immutable radix trees of structs, whose readers wait for nobody and whose
// snapshots cost nothing, as with memstore. It has no language; what an index does not answer is
// filtered by hand.
type trees struct {
	places []*place
	ids    []string
	index  index
	db     *memdb.MemDB
}

// The table, and its index of ids.
const (
	treesTable = "places"
	treesID    = "id"
)

// treesIndexes are the indexes in go-memdb's terms.
var treesIndexes = map[index]memdb.Indexer{
	onName:      &memdb.StringFieldIndex{Field: "Name"},
	onArea:      &memdb.StringFieldIndex{Field: "Area"},
	onPrice:     priceIndexer{},
	onAreaPrice: &memdb.CompoundIndex{Indexes: []memdb.Indexer{&memdb.StringFieldIndex{Field: "Area"}, priceIndexer{}}},
}

// openTrees returns a database with so many places, and one index beside that of ids.
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

// newTrees makes an empty database.
func newTrees(of index) (*memdb.MemDB, error) {
	table := &memdb.TableSchema{Name: treesTable, Indexes: map[string]*memdb.IndexSchema{
		treesID: {Name: treesID, Unique: true, Indexer: &memdb.StringFieldIndex{Field: "ID"}},
	}}
	if indexer, hasOne := treesIndexes[of]; hasOne {
		table.Indexes[string(of)] = &memdb.IndexSchema{Name: string(of), Indexer: indexer}
	}
	return memdb.NewMemDB(&memdb.DBSchema{Tables: map[string]*memdb.TableSchema{treesTable: table}})
}

// insertInto replaces places whose id is there, which go-memdb does not tell and memstore refuses.
func insertInto(db *memdb.MemDB, places []*place) error {
	txn := db.Txn(true)
	defer txn.Abort() // After a commit it has no effect.
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

// firstOf returns the first place of an index under a key.
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

// each calls a function with each place that a question finds.
func (t *trees) each(q question, call func(*place)) error {
	candidates, isExact, err := t.candidates(t.db.Txn(false), q)
	if err != nil {
		return err
	}
	for next := candidates.Next(); next != nil; next = candidates.Next() {
		p := next.(*place) //nolint:forcetypeassert // The table has places alone.
		if q == priceBetween && t.index == onPrice && p.Price >= mostPrice {
			return nil
		}
		if isExact || p.meets(q) {
			call(p)
		}
	}
	return nil
}

// candidates returns the places of the index that serves a question, else all, and whether it asks for
// each of them.
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

// change counts a visit of the place that a function chooses: a new place takes its place.
func (t *trees) change(choose func(*memdb.Txn) (*place, error)) (int64, error) {
	txn := t.db.Txn(true)
	defer txn.Abort() // After a commit it has no effect.
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

// priceIndexer makes the keys of prices, which are not negative.
type priceIndexer struct{}

// FromObject implements memdb.SingleIndexer.
func (priceIndexer) FromObject(object any) (bool, []byte, error) {
	p, isPlace := object.(*place)
	if !isPlace {
		return false, nil, errors.New("it is no place")
	}
	return true, binary.BigEndian.AppendUint64(nil, math.Float64bits(p.Price)), nil
}

// FromArgs implements memdb.Indexer.
func (priceIndexer) FromArgs(arguments ...any) ([]byte, error) {
	price, isNumber := arguments[0].(float64)
	if !isNumber || len(arguments) != 1 {
		return nil, errors.New("one price is needed")
	}
	return binary.BigEndian.AppendUint64(nil, math.Float64bits(price)), nil
}

// PrefixFromArgs implements memdb.PrefixIndexer.
func (i priceIndexer) PrefixFromArgs(arguments ...any) ([]byte, error) {
	return i.FromArgs(arguments...)
}
