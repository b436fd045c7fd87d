package main

import "github.com/botctx/go-sdk/document"

// documentPhrases are asked for as documents, as bot logic does. What came lately is
// compiled already, as in the services.
type documentPhrases struct {
	ids      []string
	compiler *document.Compiler
}

var _ phrases = documentPhrases{}

func (p documentPhrases) filter(q query) (*document.Filter, error) {
	return p.compiler.Filter(queryDocument(q))
}

func (p documentPhrases) idFilter(i int) (*document.Filter, error) {
	return p.compiler.Filter(document.O("_id", p.ids[i]))
}

func (p documentPhrases) visit() (document.Change, error) {
	update, err := p.compiler.Update(document.O("$inc", document.O("visits", 1)))
	return document.Change{Update: update}, err
}

func (p documentPhrases) byPrice() (*document.Sort, error) {
	return p.compiler.Sort(document.O("price", 1))
}

func (p documentPhrases) near() (*document.GeoNear, error) {
	return document.CompileGeoNear(document.O(
		"near", document.O("type", "Point", "coordinates", document.A(askedPoint.Longitude, askedPoint.Latitude)),
		"key", "location", "limit", nearLimit,
	))
}

// queryDocument returns a query as bot logic writes it.
func queryDocument(q query) document.Object {
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
	filters   [queries]*document.Filter
	idFilters []*document.Filter
	change    document.Change
	sort      *document.Sort
	geoNear   *document.GeoNear
}

var _ phrases = (*compiledPhrases)(nil)

// compileAll compiles the phrases for the ids of so many places.
func compileAll(count int) (p *compiledPhrases, err error) {
	p = &compiledPhrases{idFilters: make([]*document.Filter, count)}
	for q := range queries {
		if p.filters[q], err = document.CompileFilter(queryDocument(q)); err != nil {
			return nil, err
		}
	}
	for i := range p.idFilters {
		if p.idFilters[i], err = document.CompileFilter(document.O("_id", idAt(i))); err != nil {
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

func (p *compiledPhrases) filter(q query) (*document.Filter, error) { return p.filters[q], nil }

func (p *compiledPhrases) idFilter(i int) (*document.Filter, error) { return p.idFilters[i], nil }

func (p *compiledPhrases) visit() (document.Change, error) { return p.change, nil }

func (p *compiledPhrases) byPrice() (*document.Sort, error) { return p.sort, nil }

func (p *compiledPhrases) near() (*document.GeoNear, error) { return p.geoNear, nil }
