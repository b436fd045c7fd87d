package storetest_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/query"
)

// broken is a store that is right but for the collections that wrap makes.
type broken struct {
	store.Store

	wrap func(store.Collection) store.Collection
}

func (s broken) Collection(name string) store.Collection {
	return s.wrap(s.Store.Collection(name))
}

// breaking returns what makes stores with such collections.
func breaking(wrap func(store.Collection) store.Collection) func() store.Store {
	return func() store.Store { return broken{Store: memstore.New(), wrap: wrap} }
}

func rewritingWith(rewrite func(any) any) func() store.Store {
	return breaking(func(c store.Collection) store.Collection { return rewriting{c, rewrite} })
}

func changingWith(alter func(*query.Change)) func() store.Store {
	return breaking(func(c store.Collection) store.Collection { return changing{c, alter} })
}

func indexingWith(alter func(*store.Index)) func() store.Store {
	return breaking(func(c store.Collection) store.Collection { return indexing{c, alter} })
}

// looseNames takes any name, in small letters.
type looseNames struct{ store.Store }

func (s looseNames) Collection(name string) store.Collection {
	return s.Store.Collection("storetest" + strings.ToLower(strings.ToValidUTF8(strings.ReplaceAll(name, "\x00", ""), "")))
}

type noClock struct{ store.Store }

func (noClock) Now(context.Context) (time.Time, error) {
	return time.Time{}, boterr.New(boterr.Unavailable, "", "the clock stands still")
}

// byID finds in the order of the _ids.
type byID struct{ store.Collection }

func (c byID) Find(
	ctx context.Context, filter *query.Filter, options store.FindOptions,
) ([]document.Object, error) {
	if options.Sort == nil {
		options.Sort, _ = query.CompileSort(document.O("_id", 1))
	}
	return c.Collection.Find(ctx, filter, options)
}

// unlimited ignores Limit.
type unlimited struct{ store.Collection }

func (c unlimited) Find(
	ctx context.Context, filter *query.Filter, options store.FindOptions,
) ([]document.Object, error) {
	options.Limit = min(options.Limit, 0)
	return c.Collection.Find(ctx, filter, options)
}

// patternless finds nothing by patterns.
type patternless struct{ store.Collection }

func (c patternless) Find(
	ctx context.Context, filter *query.Filter, options store.FindOptions,
) ([]document.Object, error) {
	if strings.Contains(filter.Source().String(), "$regex") {
		return []document.Object{}, nil
	}
	return c.Collection.Find(ctx, filter, options)
}

// nilSlices finds nil where there is nothing.
type nilSlices struct{ store.Collection }

func (c nilSlices) Find(
	ctx context.Context, filter *query.Filter, options store.FindOptions,
) ([]document.Object, error) {
	found, err := c.Collection.Find(ctx, filter, options)
	return slices.Clip(append([]document.Object(nil), found...)), err
}

// cached gives every caller the same slice.
type cached struct {
	store.Collection

	mu    *sync.Mutex
	found *[]document.Object
}

func (c cached) Find(
	ctx context.Context, filter *query.Filter, options store.FindOptions,
) ([]document.Object, error) {
	found, err := c.Collection.Find(ctx, filter, options)
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(found) != len(*c.found) {
		*c.found = found
	}
	return *c.found, err
}

// unstableSort sorts ties by the last document first.
type unstableSort struct{ store.Collection }

func (c unstableSort) Find(
	ctx context.Context, filter *query.Filter, options store.FindOptions,
) ([]document.Object, error) {
	if options.Sort == nil {
		return c.Collection.Find(ctx, filter, options)
	}
	found, err := c.Collection.Find(ctx, filter, store.FindOptions{})
	if err != nil {
		return nil, err
	}
	slices.Reverse(found)
	options.Sort.Sort(found)
	found = page(found, options)
	for i := range found {
		if found[i], err = options.Projection.Apply(filter, found[i]); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// page applies Skip and Limit.
func page(found []document.Object, options store.FindOptions) []document.Object {
	found = found[min(options.Skip, int64(len(found))):]
	if options.Limit > 0 {
		found = found[:min(options.Limit, int64(len(found)))]
	}
	return found
}

// distinctToTheLetter takes 1 and 1.0 for two values, and null for none.
type distinctToTheLetter struct{ store.Collection }

func (c distinctToTheLetter) Distinct(
	ctx context.Context, path string, filter *query.Filter,
) ([]any, error) {
	found, err := c.Find(ctx, filter, store.FindOptions{})
	if err != nil {
		return nil, err
	}
	values := []any{}
	for _, o := range found {
		for _, value := range query.Values(o, path) {
			if value != nil && !slices.Contains(values, value) {
				values = append(values, value)
			}
		}
	}
	return values, nil
}

// gettingByText looks for an _id by its text alone.
type gettingByText struct{ store.Collection }

func (c gettingByText) Get(ctx context.Context, id any) (document.Object, bool, error) {
	found, err := c.Find(ctx, nil, store.FindOptions{})
	for _, o := range found {
		if fmt.Sprint(o.Value("_id")) == fmt.Sprint(id) {
			return o, true, nil
		}
	}
	return document.Object{}, false, err
}

// farthestFirst returns what is near the other way round.
type farthestFirst struct{ store.Collection }

func (c farthestFirst) GeoNear(ctx context.Context, query *query.GeoNear) ([]query.GeoResult, error) {
	results, err := c.Collection.GeoNear(ctx, query)
	slices.Reverse(results)
	return results, err
}

// forgiving takes a document on which a filter fails for one that does not match.
type forgiving struct{ store.Collection }

func (c forgiving) Find(
	ctx context.Context, filter *query.Filter, options store.FindOptions,
) ([]document.Object, error) {
	found, err := c.Collection.Find(ctx, filter, options)
	if err == nil || filter == nil || !filter.Source().Has("$expr") {
		return found, err
	}
	all, failed := c.Collection.Find(ctx, nil, store.FindOptions{})
	if failed != nil {
		return nil, err
	}
	var matching []document.Object
	for _, o := range all {
		if filter.Match(o) {
			matching = append(matching, o)
		}
	}
	return matching, nil
}

// exprBlind finds as if there were no $expr in a filter.
type exprBlind struct{ store.Collection }

func (c exprBlind) Find(
	ctx context.Context, filter *query.Filter, options store.FindOptions,
) ([]document.Object, error) {
	if filter != nil {
		if without, err := query.CompileFilter(filter.Source().Without("$expr")); err == nil && filter.Source().Has("$expr") {
			filter = without
		}
	}
	return c.Collection.Find(ctx, filter, options)
}

// indexingNear makes the index that a search needs when it is asked for.
type indexingNear struct{ store.Collection }

func (c indexingNear) Find(
	ctx context.Context, filter *query.Filter, options store.FindOptions,
) ([]document.Object, error) {
	if near := filter.Near(); near != nil {
		keys := []store.IndexKey{{Path: near.Key(), Kind: near.Kinds()[0]}}
		if err := c.EnsureIndex(ctx, store.Index{Keys: keys}); err != nil {
			return nil, err
		}
	}
	return c.Collection.Find(ctx, filter, options)
}

// withoutGeoIndexes takes geo indexes, and makes none.
type withoutGeoIndexes struct{ store.Collection }

func (c withoutGeoIndexes) EnsureIndex(ctx context.Context, index store.Index) error {
	for _, key := range index.Keys {
		if key.Kind == query.Geo2D || key.Kind == query.Geo2DSphere {
			return nil
		}
	}
	return c.Collection.EnsureIndex(ctx, index)
}

// indexedPlaces compares places by an index only.
type indexedPlaces struct {
	store.Collection

	indexed *sync.Map
}

func newIndexedPlaces(c store.Collection) store.Collection {
	return indexedPlaces{Collection: c, indexed: &sync.Map{}}
}

func (c indexedPlaces) EnsureIndex(ctx context.Context, index store.Index) error {
	for _, key := range index.Keys {
		c.indexed.Store(key.Kind, true)
	}
	return c.Collection.EnsureIndex(ctx, index)
}

func (c indexedPlaces) Find(
	ctx context.Context, filter *query.Filter, options store.FindOptions,
) ([]document.Object, error) {
	_, indexed := c.indexed.Load(query.Geo2DSphere)
	if !indexed && strings.Contains(filter.Source().String(), "$geo") {
		return nil, boterr.Invalid("", "there is no geo index")
	}
	return c.Collection.Find(ctx, filter, options)
}

// nearInDisorder finds what is near the other way round.
type nearInDisorder struct{ store.Collection }

func (c nearInDisorder) Find(
	ctx context.Context, filter *query.Filter, options store.FindOptions,
) ([]document.Object, error) {
	found, err := c.Collection.Find(ctx, filter, options)
	if filter.Near() != nil && options.Sort == nil {
		slices.Reverse(found)
	}
	return found, err
}

// unprojecting ignores projections.
type unprojecting struct{ store.Collection }

func (c unprojecting) Find(
	ctx context.Context, filter *query.Filter, options store.FindOptions,
) ([]document.Object, error) {
	options.Projection = nil
	return c.Collection.Find(ctx, filter, options)
}

func (c unprojecting) FindAndModify(
	ctx context.Context, filter *query.Filter, change query.Change, options store.FindAndModifyOptions,
) (store.FindAndModifyResult, error) {
	options.Projection = nil
	return c.Collection.FindAndModify(ctx, filter, change, options)
}

// projectingFirst filters and sorts what the projection leaves.
type projectingFirst struct{ store.Collection }

func (c projectingFirst) Find(
	ctx context.Context, filter *query.Filter, options store.FindOptions,
) ([]document.Object, error) {
	if options.Projection == nil {
		return c.Collection.Find(ctx, filter, options)
	}
	found, err := c.Collection.Find(ctx, nil, store.FindOptions{})
	if err != nil {
		return nil, err
	}
	for i := range found {
		if found[i], err = options.Projection.Apply(filter, found[i]); err != nil {
			return []document.Object{}, nil //nolint:nilerr // The defect.
		}
	}
	found = slices.DeleteFunc(found, func(o document.Object) bool { return !filter.Match(o) })
	options.Sort.Sort(found)
	return page(found, options), nil
}

// projectingLate projects what was written already.
type projectingLate struct{ store.Collection }

func (c projectingLate) FindAndModify(
	ctx context.Context, filter *query.Filter, change query.Change, options store.FindAndModifyOptions,
) (store.FindAndModifyResult, error) {
	projection := options.Projection
	options.Projection = nil
	result, err := c.Collection.FindAndModify(ctx, filter, change, options)
	if err != nil || result.Document.IsZero() {
		return result, err
	}
	result.Document, err = projection.Apply(filter, result.Document)
	return result, err
}
