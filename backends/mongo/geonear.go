package mongo

import (
	"cmp"
	"context"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// GeoNear implements store.Collection. The indexes say whether the server can search;
// where the collection has no geo index, all documents that match are measured here.
func (c *collection) GeoNear(ctx context.Context, near *query.GeoNear) ([]query.GeoResult, error) {
	if near == nil {
		return nil, boterr.Invalid("near", "a point to be near to is required")
	}
	if err := c.check(ctx); err != nil {
		return nil, err
	}
	indexes, err := c.indexes(ctx)
	if err != nil {
		return nil, err
	}
	near, isServed, err := served(near, indexes)
	if err != nil {
		return nil, err
	}
	var results []found
	if isServed {
		results, err = c.nearest(ctx, near)
	} else {
		results, err = c.find(ctx, near.Filter(), store.FindOptions{})
	}
	if err != nil {
		return nil, err
	}
	return measured(near, results), nil
}

// served names the field of the collection's geo index, where the search names none, and
// reports whether an index serves the search.
func served(near *query.GeoNear, indexes []storedIndex) (_ *query.GeoNear, isServed bool, err error) {
	paths := map[query.IndexKind][]string{}
	for _, index := range indexes {
		if len(index.others) > 0 {
			continue // It is not one for all documents, or hidden.
		}
		for _, key := range index.Keys {
			if isGeo(key) && !slices.Contains(paths[key.Kind], key.Path) {
				paths[key.Kind] = append(paths[key.Kind], key.Path)
			}
		}
	}
	asked := near
	if near.Key() == "" {
		named := paths[query.Geo2D]
		if len(named) == 0 {
			named = paths[query.Geo2DSphere]
		}
		switch len(named) {
		case 0:
			return nil, false, boterr.Invalid("key", "%w", query.ErrNoGeoIndex)
		case 1:
			near = near.WithKey(named[0])
		default:
			return nil, false, boterr.Invalid("key",
				"there are geo indexes on %q, so that the query must name one of the fields", named)
		}
	}
	if len(paths) == 0 {
		return near, false, nil
	}
	for _, kind := range near.Kinds() {
		if slices.Contains(paths[kind], near.Key()) {
			return near, true, nil
		}
	}
	return nil, false, asked.NotServed(near.Key())
}

// nearest asks the server for what is near. Package document measures it again, so that
// distances are the same to the last digit as those of every other store.
func (c *collection) nearest(ctx context.Context, near *query.GeoNear) ([]found, error) {
	where, err := queryOf(near.Filter())
	if err != nil {
		return nil, err
	}
	search := bson.D{
		{Key: "key", Value: near.Key()}, {Key: "query", Value: where}, {Key: "distanceField", Value: distancePath},
	}
	for field, value := range near.Source().All() {
		switch field {
		case "near", "spherical", "minDistance", "maxDistance":
			v, err := rawValue(value)
			if err != nil {
				return nil, err
			}
			search = append(search, bson.E{Key: field, Value: v})
		}
	}
	stages := bson.A{bson.D{{Key: "$geoNear", Value: search}}}
	limit := min(near.Limit(), maxDocuments)
	if limit == 0 {
		return c.aggregate(ctx, near, stages)
	}
	results, err := c.aggregate(ctx, near, append(stages, bson.D{{Key: "$limit", Value: limit + 1}}))
	if err != nil || int64(len(results)) <= limit || !isTie(near, results[limit-1], results[limit]) {
		return results, err
	}
	return c.aggregate(ctx, near, append(stages,
		bson.D{{Key: "$sort", Value: bson.D{{Key: distancePath, Value: 1}, {Key: orderPath, Value: 1}}}},
		bson.D{{Key: "$limit", Value: limit}}))
}

// distancePath is where the server puts a distance, by which it sorts.
const distancePath = hiddenField + ".distance"

// isTie reports whether two documents are equally far: which of them the server gives first
// is not known.
func isTie(near *query.GeoNear, a, b found) bool {
	first, _ := near.Distance(a.document)
	second, _ := near.Distance(b.document)
	return first == second
}

// aggregate returns what the stages of an aggregation make of the collection.
func (c *collection) aggregate(ctx context.Context, near *query.GeoNear, stages bson.A) ([]found, error) {
	cursor, err := c.stored.Aggregate(ctx, stages)
	if err != nil {
		return nil, filterFailure(ctx, near.Filter(), err)
	}
	return c.readAll(ctx, near.Filter(), cursor)
}

// measured returns the results of a search, nearest first.
func measured(near *query.GeoNear, candidates []found) []query.GeoResult {
	type place struct {
		result query.GeoResult
		from   float64
		order  int64
	}
	places := make([]place, 0, len(candidates))
	for _, candidate := range candidates {
		from, _ := near.Distance(candidate.document)
		if result, ok := near.Measure(candidate.document); ok {
			places = append(places, place{result: result, from: from, order: candidate.hidden.order})
		}
	}
	slices.SortStableFunc(places, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.order, b.order))
	})
	if limit := near.Limit(); limit > 0 && int64(len(places)) > limit {
		places = places[:limit]
	}
	results := make([]query.GeoResult, len(places))
	for i := range places {
		results[i] = places[i].result
	}
	return results
}
