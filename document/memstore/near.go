package memstore

import (
	"context"
	"slices"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// followNear is follow for a filter with a $near: it yields the documents nearest
// first, those of the same distance in the order of insertion.
func (c *content) followNear(
	ctx context.Context, filter *document.Filter, p *plan, yield func(position uint64, o document.Object) bool,
) error {
	near := filter.Near()
	if p.spatial == nil {
		return boterr.Invalid(near.Key(), "a search for what is near needs an index of the kind %q on the field", near.Kinds()[0])
	}
	search := nearSearch{near: near, filter: filter, plan: p}
	return c.nearest(ctx, &search, func(d distant) bool { return yield(d.position, d.document) })
}

// near returns the documents that GeoNear is asked for.
func (c *content) near(ctx context.Context, query *document.GeoNear) ([]document.GeoResult, error) {
	query, err := c.withGeoKey(query)
	if err != nil {
		return nil, err
	}
	p, ok := c.planNear(query)
	if !ok {
		p = c.planFor(query.Filter(), nil)
		p.spatial = nil // What serves the filter does not serve the search.
	}
	search := nearSearch{near: query, filter: query.Filter(), plan: &p}
	found := []document.GeoResult{}
	err = c.nearest(ctx, &search, func(d distant) bool {
		result, _ := query.Measure(d.document)
		found = append(found, result)
		return int64(len(found)) != query.Limit()
	})
	return found, err
}

// planNear returns the plan for a search for what is near, and false where there is no
// index that serves it.
func (c *content) planNear(near *document.GeoNear) (plan, bool) {
	for _, kind := range near.Kinds() {
		for i := range c.indexes {
			x := &c.indexes[i]
			for j := range x.spatial {
				if s := &x.spatial[j]; s.kind == kind && s.path == near.Key() {
					return plan{index: x, spatial: s, used: 1}, true
				}
			}
		}
	}
	return plan{}, false
}

// planPlaces returns the plan for the conditions of a filter on places, and false where
// there is no index that serves one.
func (c *content) planPlaces(filter *document.Filter) (plan, bool) {
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
// field. As in MongoDB an index on the plane goes before those on the globe, and has
// to serve the search.
func (c *content) withGeoKey(query *document.GeoNear) (*document.GeoNear, error) {
	if query.Key() != "" {
		return query, nil
	}
	paths := c.geoPaths(document.Geo2D)
	if len(paths) == 0 {
		paths = c.geoPaths(document.Geo2DSphere)
	}
	switch len(paths) {
	case 0:
		return nil, boterr.Invalid("key", "%w", document.ErrNoGeoIndex)
	case 1:
	default:
		return nil, boterr.Invalid("key", "there are geo indexes on %q, so that the query must name one of the fields", paths)
	}
	query = query.WithKey(paths[0])
	if _, ok := c.planNear(query); !ok {
		return nil, boterr.Invalid("near", "the index on %q does not serve this point, which needs the kind %q", paths[0], query.Kinds()[0])
	}
	return query, nil
}

// geoPaths returns the fields that have a geo index of a kind.
func (c *content) geoPaths(kind document.IndexKind) []string {
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
