package main

import (
	"context"
	"errors"
	"slices"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/query"
)

// memory is memstore, asked by filters that are compiled beforehand.
type memory struct {
	store     *memstore.Store
	places    store.Collection
	documents []document.Object
	byIDs     []*query.Filter
	filters   [questions]*query.Filter
	byPrice   *query.Sort
	counted   query.Change
}

// memoryIndexes are the indexes in memstore's terms.
var memoryIndexes = map[index][]store.IndexKey{
	onName:      {{Path: "name", Kind: query.Ascending}},
	onArea:      {{Path: "area", Kind: query.Ascending}},
	onPrice:     {{Path: "price", Kind: query.Ascending}},
	onAreaPrice: {{Path: "area", Kind: query.Ascending}, {Path: "price", Kind: query.Ascending}},
}

// openMemstore returns a memstore with so many places.
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

// compile compiles what the work asks for.
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
