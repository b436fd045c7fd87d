package storetest

import (
	"context"
	"fmt"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// Run runs the case on an empty collection.
func (c *Case) Run(ctx context.Context, collection store.Collection) (Outcome, error) {
	if err := c.EnsureIndexes(ctx, collection); err != nil {
		return Outcome{}, err
	}
	if err := collection.Insert(ctx, c.Docs...); err != nil {
		return Outcome{}, fmt.Errorf("inserting the documents: %w", err)
	}
	arguments, err := c.Arguments()
	if err != nil {
		return Outcome{}, err
	}
	filter, err := query.CompileFilter(arguments.Filter)
	if err != nil {
		return Outcome{}, err
	}
	switch c.Kind {
	case "find", "count", "distinct", "geoNear":
		return c.read(ctx, collection, filter, arguments)
	default:
		return c.write(ctx, collection, filter, arguments)
	}
}

// EnsureIndexes makes the indexes of the case.
func (c *Case) EnsureIndexes(ctx context.Context, collection store.Collection) error {
	for _, index := range c.Indexes {
		if err := collection.EnsureIndex(ctx, indexOf(index)); err != nil {
			return err
		}
	}
	return nil
}

// indexOf reads an index of a case.
func indexOf(keys [][]any) store.Index {
	var index store.Index
	for _, key := range keys {
		path, _ := key[0].(string)
		kind := query.Ascending
		switch key[1] {
		case int64(-1):
			kind = query.Descending
		case "2d":
			kind = query.Geo2D
		case "2dsphere":
			kind = query.Geo2DSphere
		}
		index.Keys = append(index.Keys, store.IndexKey{Path: path, Kind: kind})
	}
	return index
}

// read runs an operation that reads.
func (c *Case) read(
	ctx context.Context, collection store.Collection, filter *query.Filter, arguments Arguments,
) (out Outcome, err error) {
	switch c.Kind {
	case "count":
		out.Count, err = count(ctx, collection, filter, arguments)
	case "distinct":
		out.Values, err = collection.Distinct(ctx, arguments.Key, filter)
	case "geoNear":
		out.Docs, err = near(ctx, collection, arguments.GeoNear)
	default:
		out.Docs, err = find(ctx, collection, filter, arguments)
	}
	return out, err
}

func find(
	ctx context.Context, collection store.Collection, filter *query.Filter, arguments Arguments,
) ([]document.Object, error) {
	sort, err := query.CompileSort(arguments.Sort)
	if err != nil {
		return nil, err
	}
	projection, err := query.CompileProjection(arguments.Projection)
	if err != nil {
		return nil, err
	}
	return collection.Find(ctx, filter, store.FindOptions{
		Sort: sort, Skip: arguments.Skip, Limit: arguments.Limit, Projection: projection,
	})
}

// count counts; with skip or limit what Find returns, since Count has neither.
func count(
	ctx context.Context, collection store.Collection, filter *query.Filter, arguments Arguments,
) (int64, error) {
	if arguments.Skip == 0 && arguments.Limit == 0 {
		return collection.Count(ctx, filter)
	}
	docs, err := find(ctx, collection, filter, arguments)
	return int64(len(docs)), err
}

func near(ctx context.Context, collection store.Collection, argument document.Object) ([]document.Object, error) {
	query, err := query.CompileGeoNear(argument)
	if err != nil {
		return nil, err
	}
	found, err := collection.GeoNear(ctx, query)
	docs := make([]document.Object, 0, len(found))
	for _, result := range found {
		docs = append(docs, result.Document)
	}
	return docs, err
}

// write runs an operation that writes.
func (c *Case) write(
	ctx context.Context, collection store.Collection, filter *query.Filter, arguments Arguments,
) (out Outcome, err error) {
	update, err := query.CompileUpdate(arguments.Update, arguments.ArrayFilters...)
	if err != nil {
		return Outcome{}, err
	}
	sort, err := query.CompileSort(arguments.Sort)
	if err != nil {
		return Outcome{}, err
	}
	projection, err := query.CompileProjection(arguments.Projection)
	if err != nil {
		return Outcome{}, err
	}
	change := query.Change{Update: update, OnInsert: document.O(document.IDField, "inserted")}
	if c.Kind == "findAndModify" {
		result, failed := collection.FindAndModify(ctx, filter, change, store.FindAndModifyOptions{
			Sort: sort, Upsert: arguments.Upsert, New: arguments.New, Projection: projection,
		})
		out.Doc, out.Upserted, err = result.Document, result.UpsertedID != nil, failed
	} else {
		result, failed := collection.Update(ctx, filter, change,
			store.UpdateOptions{Multi: c.Multi, Sort: sort, Upsert: arguments.Upsert})
		out.Matched, out.Modified, out.Upserted, err = result.Matched, result.Modified, result.UpsertedID != nil, failed
	}
	if err != nil {
		return out, err
	}
	out.After, err = collection.Find(ctx, nil, store.FindOptions{})
	return out, err
}
