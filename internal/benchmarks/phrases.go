package main

import (
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
)

// documentPhrases are asked for as documents, as bot logic does. What came lately is
// compiled already, as in the services.
type documentPhrases struct {
	ids      []string
	compiler *query.Compiler
}

var _ phrases = documentPhrases{}

func (p documentPhrases) filter(q question) (*query.Filter, error) {
	return p.compiler.Filter(queryDocument(q))
}

func (p documentPhrases) idFilter(i int) (*query.Filter, error) {
	return p.compiler.Filter(document.O("_id", p.ids[i]))
}

func (p documentPhrases) visit() (query.Change, error) {
	update, err := p.compiler.Update(document.O("$inc", document.O("visits", 1)))
	return query.Change{Update: update}, err
}

func (p documentPhrases) byPrice() (*query.Sort, error) {
	return p.compiler.Sort(document.O("price", 1))
}

func (p documentPhrases) near() (*query.GeoNear, error) {
	return query.CompileGeoNear(document.O(
		"near", document.O("type", "Point", "coordinates", document.A(askedPoint.Longitude, askedPoint.Latitude)),
		"key", "location", "limit", nearLimit,
	))
}

// queryDocument returns a query as bot logic writes it.
func queryDocument(q question) document.Object {
	switch q {
	case nameIs:
		return document.O("name", nameAt(askedName))
	case areaIs:
		return document.O("area", askedArea)
	case tagIs:
		return document.O("tags", askedTag)
	case priceBetween:
		return document.O("price", document.O("$gte", leastPrice, "$lt", mostPrice))
	case areaAndPrice:
		return document.O("area", askedArea, "price", document.O("$lt", mostPrice))
	default:
		return document.O()
	}
}

// compiledPhrases holds everything compiled.
type compiledPhrases struct {
	filters   [queries]*query.Filter
	idFilters []*query.Filter
	change    query.Change
	sort      *query.Sort
	geoNear   *query.GeoNear
}

var _ phrases = (*compiledPhrases)(nil)

// compileAll compiles the phrases for the ids of so many places.
func compileAll(count int) (p *compiledPhrases, err error) {
	p = &compiledPhrases{idFilters: make([]*query.Filter, count)}
	for q := range queries {
		if p.filters[q], err = query.CompileFilter(queryDocument(q)); err != nil {
			return nil, err
		}
	}
	for i := range p.idFilters {
		if p.idFilters[i], err = query.CompileFilter(document.O("_id", idAt(i))); err != nil {
			return nil, err
		}
	}
	uncompiled := documentPhrases{}
	if p.change, err = uncompiled.visit(); err != nil {
		return nil, err
	}
	if p.sort, err = uncompiled.byPrice(); err != nil {
		return nil, err
	}
	p.geoNear, err = uncompiled.near()
	return p, err
}

func (p *compiledPhrases) filter(q question) (*query.Filter, error) { return p.filters[q], nil }

func (p *compiledPhrases) idFilter(i int) (*query.Filter, error) { return p.idFilters[i], nil }

func (p *compiledPhrases) visit() (query.Change, error) { return p.change, nil }

func (p *compiledPhrases) byPrice() (*query.Sort, error) { return p.sort, nil }

func (p *compiledPhrases) near() (*query.GeoNear, error) { return p.geoNear, nil }
