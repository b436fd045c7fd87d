package memstore

import (
	"slices"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
)

// visitNear is visitPlan for a filter with a $near: it yields the documents nearest
// first, those of the same distance in the order of insertion.
func (c *content) visitNear(
	call *query.Evaluation, filter *query.Filter, p *plan, yield func(position uint64, o document.Object) bool,
) error {
	near := filter.Near()
	if p.spatial == nil {
		return boterr.Invalid(near.Key(), "a search for what is near needs an index of the kind %q on the field", near.Kinds()[0])
	}
	search := nearSearch{near: near, filter: filter, plan: p}
	return c.nearest(call, &search, func(d distant) bool { return yield(d.position, d.document) })
}

// near returns the documents that GeoNear is asked for.
func (c *content) near(call *query.Evaluation, asked *query.GeoNear) ([]query.GeoResult, error) {
	asked, err := c.withGeoKey(asked)
	if err != nil {
		return nil, err
	}
	p, ok := c.planNear(asked, asked.Filter())
	if !ok {
		p = c.planFor(asked.Filter(), nil)
		p.spatial = nil // A plan for the filter does not serve the search.
	}
	search := nearSearch{near: asked, filter: asked.Filter(), plan: &p, limit: asked.Limit()}
	found := []query.GeoResult{}
	err = c.nearest(call, &search, func(d distant) bool {
		result, _ := asked.Measure(d.document)
		found = append(found, result)
		return int64(len(found)) != asked.Limit()
	})
	return found, inParameter("query", err)
}

// planNear returns the plan for a search for what is near among what a filter matches,
// and false where there is no index that serves it.
func (c *content) planNear(near *query.GeoNear, filter *query.Filter) (plan, bool) {
	for _, kind := range near.Kinds() {
		for i := range c.indexes {
			x := &c.indexes[i]
			for j := range x.spatial {
				if s := &x.spatial[j]; s.kind == kind && s.path == near.Key() && x.isSearchable(s, filter) {
					return plan{index: x, spatial: s, used: 1}, true
				}
			}
		}
	}
	return plan{}, false
}

// isSearchable reports whether a geo key can be searched: it is the first key of its index, or the
// filter bounds the first one. MongoDB requires that, and a search that works here must work there.
func (x *index) isSearchable(s *spatialIndex, filter *query.Filter) bool {
	first := x.spec.Keys[0].Path
	if s.path == first {
		return true
	}
	for condition := range filter.Conditions() {
		if _, ok := condition.Bounds(first); ok {
			return true
		}
	}
	return false
}

// planPlaces returns the plan for the conditions of a filter on places, and false where
// there is no index that serves one.
func (c *content) planPlaces(filter *query.Filter) (plan, bool) {
	for i := range c.indexes {
		x := &c.indexes[i]
		for j := range x.spatial {
			if cells, ok := filter.GeoCells(x.spatial[j].key); ok {
				return plan{index: x, spatial: &x.spatial[j], cells: cells, used: 1}, true
			}
		}
	}
	return plan{}, false
}

// withGeoKey names the field of the collection's geo index, where the query names no
// field; as in MongoDB an index on the plane goes before those on the globe. Where the
// collection has geo indexes, one of them must serve the search; without any, a query
// that names its field is served by a look at all documents.
func (c *content) withGeoKey(search *query.GeoNear) (*query.GeoNear, error) {
	flat, round := c.geoPaths(query.Geo2D), c.geoPaths(query.Geo2DSphere)
	asked := search
	if search.Key() == "" {
		paths := flat
		if len(paths) == 0 {
			paths = round
		}
		switch len(paths) {
		case 0:
			return nil, boterr.Invalid("key", "%w", query.ErrNoGeoIndex)
		case 1:
			search = search.WithKey(paths[0])
		default:
			return nil, boterr.Invalid("key", "there are geo indexes on %q, so that the query must name one of the fields", paths)
		}
	}
	if len(flat)+len(round) == 0 {
		return search, nil
	}
	if _, ok := c.planNear(search, search.Filter()); !ok {
		return nil, asked.NotServed(search.Key())
	}
	return search, nil
}

// geoPaths returns the fields that have a geo index of a kind.
func (c *content) geoPaths(kind query.IndexKind) []string {
	var paths []string
	for i := range c.indexes {
		for _, key := range c.indexes[i].spec.Keys {
			if key.Kind == kind && !slices.Contains(paths, key.Path) {
				paths = append(paths, key.Path)
			}
		}
	}
	return paths
}
