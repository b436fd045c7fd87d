package memstore

import (
	"cmp"
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
	if !c.hasGeoIndex(near) {
		return boterr.Invalid(near.Key(), "a search for what is near needs an index of the kind %q on the field", near.Kinds()[0])
	}
	type found struct {
		placed

		distance float64
	}
	var all []found
	err := c.look(ctx, filter, p, func(position uint64, o document.Object) bool {
		if result, ok := near.Measure(o); ok {
			all = append(all, found{placed: placed{document: o, position: position}, distance: result.Distance})
		}
		return true
	})
	if err != nil {
		return err
	}
	slices.SortStableFunc(all, func(a, b found) int { return cmp.Compare(a.distance, b.distance) })
	for _, f := range all {
		if !yield(f.position, f.document) {
			break
		}
	}
	return nil
}

// hasGeoIndex reports whether there is an index that can serve a search.
func (c *content) hasGeoIndex(near *document.GeoNear) bool {
	for i := range c.indexes {
		for _, key := range c.indexes[i].spec.Keys {
			if key.Path == near.Key() && slices.Contains(near.Kinds(), key.Kind) {
				return true
			}
		}
	}
	return false
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
	if !c.hasGeoIndex(query) {
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
