package main

import (
	"context"
	"fmt"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
)

// memory is memstore. The two ways of using it differ in where filters and updates
// come from.
type memory struct {
	store   *memstore.Store
	places  store.Collection
	phrases phrases
}

var (
	_ engine[document.Object]      = (*memory)(nil)
	_ snapshotter[document.Object] = (*memory)(nil)
)

// phrases are what the work is put in for memstore.
type phrases interface {
	filter(q question) (*query.Filter, error)
	idFilter(i int) (*query.Filter, error)
	visit() (query.Change, error)
	byPrice() (*query.Sort, error)
	near() (*query.GeoNear, error)
}

// newCompiled opens a memstore that is asked with filters compiled beforehand, as a
// service does that knows its queries.
func newCompiled(_ context.Context, count int) (engine[document.Object], error) {
	asked, err := compileAll(count)
	if err != nil {
		return nil, err
	}
	return newMemory(asked), nil
}

// newUncompiled opens a memstore that is asked with filters that come as documents
// and go through a Compiler, as those of bot logic's operations do.
func newUncompiled(_ context.Context, count int) (engine[document.Object], error) {
	asked := documentPhrases{ids: make([]string, count), compiler: &query.Compiler{}}
	for i := range asked.ids {
		asked.ids[i] = idAt(i)
	}
	return newMemory(asked), nil
}

// memoryIndexes are the indexes in memstore's terms.
var memoryIndexes = map[indexName][]store.IndexKey{
	onName:      {{Path: "name", Kind: query.Ascending}},
	onArea:      {{Path: "area", Kind: query.Ascending}},
	onPrice:     {{Path: "price", Kind: query.Ascending}},
	onAreaPrice: {{Path: "area", Kind: query.Ascending}, {Path: "price", Kind: query.Ascending}},
	onLocation:  {{Path: "location", Kind: query.Geo2DSphere}},
}

func newMemory(asked phrases) *memory {
	return openMemory(memstore.New(), asked)
}

func openMemory(of *memstore.Store, asked phrases) *memory {
	return &memory{store: of, places: of.Collection("places"), phrases: asked}
}

func (m *memory) snapshot() engine[document.Object] { return openMemory(m.store.Fork(), m.phrases) }

func (m *memory) documentOf(p place) document.Object {
	tags := make([]any, 0, len(p.Tags))
	for _, tag := range p.Tags {
		tags = append(tags, tag)
	}
	return document.O(
		"_id", p.ID, "name", p.Name, "area", p.Area, "stars", p.Stars, "price", p.Price, "visits", p.Visits,
		"tags", document.A(tags...), "location", document.O("type", "Point",
			"coordinates", document.A(p.Location.Longitude, p.Location.Latitude)),
	)
}

func (m *memory) placeOf(o document.Object) (place, error) {
	var p writtenPlace
	err := document.Decode(o, &p)
	return p.place(), err
}

func (m *memory) load(ctx context.Context, documents []document.Object, index indexName) error {
	if err := m.insert(ctx, documents); err != nil || index == noIndex {
		return err
	}
	return m.places.EnsureIndex(ctx, store.Index{Keys: memoryIndexes[index]})
}

func (m *memory) insert(ctx context.Context, documents []document.Object) error {
	return m.places.Insert(ctx, documents...)
}

func (m *memory) byID(ctx context.Context, i int) (document.Object, error) {
	filter, err := m.phrases.idFilter(i)
	if err != nil {
		return document.Object{}, err
	}
	found, err := m.places.Find(ctx, filter, store.FindOptions{Limit: 1})
	if err != nil || len(found) == 0 {
		return document.Object{}, fmt.Errorf("place %d: %w", i, err)
	}
	return found[0], nil
}

func (m *memory) find(ctx context.Context, q question) ([]document.Object, error) {
	filter, err := m.phrases.filter(q)
	if err != nil {
		return nil, err
	}
	return m.places.Find(ctx, filter, store.FindOptions{})
}

func (m *memory) count(ctx context.Context, q question) (int64, error) {
	filter, err := m.phrases.filter(q)
	if err != nil {
		return 0, err
	}
	return m.places.Count(ctx, filter)
}

func (m *memory) areas(ctx context.Context) ([]string, error) {
	found, err := m.places.Distinct(ctx, "area", nil)
	return texts(found), err
}

// texts returns the texts among values.
func texts(values []any) []string {
	list := make([]string, 0, len(values))
	for _, value := range values {
		if text, ok := value.(string); ok {
			list = append(list, text)
		}
	}
	return list
}

func (m *memory) visit(ctx context.Context, i int) (document.Object, error) {
	filter, err := m.phrases.idFilter(i)
	if err != nil {
		return document.Object{}, err
	}
	return m.modify(ctx, filter, store.FindAndModifyOptions{New: true})
}

func (m *memory) visitCheapest(ctx context.Context, q question) (document.Object, error) {
	filter, err := m.phrases.filter(q)
	if err != nil {
		return document.Object{}, err
	}
	order, err := m.phrases.byPrice()
	if err != nil {
		return document.Object{}, err
	}
	return m.modify(ctx, filter, store.FindAndModifyOptions{Sort: order, New: true})
}

func (m *memory) modify(
	ctx context.Context, filter *query.Filter, options store.FindAndModifyOptions,
) (document.Object, error) {
	change, err := m.phrases.visit()
	if err != nil {
		return document.Object{}, err
	}
	result, err := m.places.FindAndModify(ctx, filter, change, options)
	return result.Document, err
}

func (m *memory) nearest(ctx context.Context) ([]document.Object, error) {
	near, err := m.phrases.near()
	if err != nil {
		return nil, err
	}
	found, err := m.places.GeoNear(ctx, near)
	documents := make([]document.Object, 0, len(found))
	for _, result := range found {
		documents = append(documents, result.Document)
	}
	return documents, err
}

func (m *memory) close() {}
