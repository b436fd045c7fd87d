package storetest_test

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

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
