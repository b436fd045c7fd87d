package mongo

import (
	"context"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// collection is the store.Collection of a name.
type collection struct {
	store  *Store
	stored *mongo.Collection
	name   string
	// err is what is wrong with the name.
	err error
}

var _ store.Collection = (*collection)(nil)

// check returns why an operation cannot begin.
func (c *collection) check(ctx context.Context) error {
	if c.err != nil {
		return c.err
	}
	return checkEnded(ctx)
}

// newest returns the collection as the primary has it, whether a majority has that or not.
// A change is made to that, as the server's own changes are: what a majority has may lag
// behind, and then another upsert's document would be there and not be found.
func (c *collection) newest() *collection {
	if c.err != nil {
		return c
	}
	latest := *c
	latest.stored = c.stored.Clone(options.Collection().SetReadConcern(readconcern.Local()))
	return &latest
}

// firstBatch is the number of documents that come with the answer to a search; more
// need another round trip.
const firstBatch = 1000

// Find implements store.Collection.
func (c *collection) Find(
	ctx context.Context, filter *query.Filter, opts store.FindOptions,
) ([]document.Object, error) {
	if err := opts.Check(); err != nil {
		return nil, err
	}
	results, err := c.find(ctx, filter, opts)
	if err != nil {
		return nil, err
	}
	call := query.NewEvaluation(ctx)
	documents := make([]document.Object, len(results))
	for i := range results {
		o := results[i].document
		call.Visit(o)
		if err := call.CheckSort(opts.Sort, o); err != nil {
			return nil, boterr.PrefixField("sort", err)
		}
		if documents[i], err = projected(call, o, filter, opts.Projection); err != nil {
			return nil, err
		}
	}
	return documents, nil
}

// projected returns what a projection leaves of a document, which may be absent.
func projected(
	call *query.Evaluation, o document.Object, filter *query.Filter, projection *query.Projection,
) (document.Object, error) {
	if o.IsZero() || projection == nil {
		return o, nil
	}
	o, err := call.Project(projection, filter, o)
	return o, boterr.PrefixField("projection", err)
}

// find returns what Find is asked for, whole.
func (c *collection) find(ctx context.Context, filter *query.Filter, opts store.FindOptions) ([]found, error) {
	set, err := searching(filter, opts)
	if err != nil {
		return nil, err
	}
	return c.search(ctx, filter, set)
}

// searching returns the driver's options of a search.
func searching(filter *query.Filter, opts store.FindOptions) (*options.FindOptionsBuilder, error) {
	order, err := sorting(filter, opts.Sort)
	if err != nil {
		return nil, err
	}
	set := options.Find().SetBatchSize(firstBatch)
	if order != nil {
		set.SetSort(order)
	}
	if opts.Skip > 0 {
		set.SetSkip(min(opts.Skip, maxDocuments))
	}
	if isPinned(filter) && opts.Skip == 0 {
		opts.Limit = 1
	}
	if opts.Limit > 0 {
		set.SetLimit(min(opts.Limit, maxDocuments))
	}
	if opts.Limit == 1 {
		set.SetLimit(-1) // The server keeps no cursor.
	}
	return set, nil
}

// maxDocuments is more than any collection has. The server adds skip and limit, which
// must not overflow.
const maxDocuments = 1 << 60

// search runs a search with the driver's options.
func (c *collection) search(
	ctx context.Context, filter *query.Filter, set *options.FindOptionsBuilder,
) ([]found, error) {
	if err := c.check(ctx); err != nil {
		return nil, err
	}
	where, err := queryOf(filter)
	if err != nil {
		return nil, err
	}
	cursor, err := c.stored.Find(ctx, where, set)
	if err != nil {
		return nil, filterFailure(ctx, filter, err)
	}
	return c.readAll(ctx, filter, cursor)
}

// readAll reads and closes a cursor of a search with a filter.
func (c *collection) readAll(
	ctx context.Context, filter *query.Filter, cursor *mongo.Cursor,
) (results []found, err error) {
	defer func() { _ = cursor.Close(context.WithoutCancel(ctx)) }() // One that was read to its end is closed already.
	for cursor.Next(ctx) {
		result, err := c.read(cursor.Current)
		if err != nil {
			return nil, err
		}
		results = append(results, result)
	}
	return results, filterFailure(ctx, filter, cursor.Err())
}

// read returns a document that the server sent. What is inserted next comes behind it.
func (c *collection) read(b bson.Raw) (found, error) {
	result, err := read(b)
	if err != nil {
		return result, c.unread(b, err)
	}
	c.store.order.see(result.hidden.order)
	return result, nil
}

// unread says which document cannot be read.
func (c *collection) unread(b bson.Raw, err error) error {
	failed, ok := boterr.AsError(err)
	if !ok {
		return err
	}
	return boterr.New(failed.Code, failed.Field, "the document with the _id %s in the collection %q: %s",
		b.Lookup(document.IDField), c.name, failed.Message())
}

// Count implements store.Collection.
func (c *collection) Count(ctx context.Context, filter *query.Filter) (int64, error) {
	if err := c.check(ctx); err != nil {
		return 0, err
	}
	where, err := queryOf(filter)
	if err != nil {
		return 0, err
	}
	if filter.Near() != nil { // An aggregation, which is how the driver counts, has no $near.
		found, err := c.search(ctx, filter, options.Find().SetProjection(bson.D{{Key: document.IDField, Value: 1}}))
		return int64(len(found)), err
	}
	count, err := c.stored.CountDocuments(ctx, where)
	return count, filterFailure(ctx, filter, err)
}

// Distinct implements store.Collection. The server's own distinct tells no order.
func (c *collection) Distinct(ctx context.Context, path string, filter *query.Filter) ([]any, error) {
	if err := document.CheckReadPath(path); err != nil {
		return nil, boterr.PrefixField("path", err)
	}
	if isHidden(path) {
		return nil, boterr.PrefixField("path", reserved(path))
	}
	set, err := searching(filter, store.FindOptions{})
	if err != nil {
		return nil, err
	}
	if top, _, _ := strings.Cut(path, "."); top != "" && !strings.HasPrefix(top, "$") {
		set.SetProjection(bson.D{{Key: top, Value: 1}})
	}
	results, err := c.search(ctx, filter, set)
	if err != nil {
		return nil, err
	}
	values, seen := []any{}, map[string]bool{}
	for _, result := range results {
		for _, value := range query.Values(result.document, path) {
			if key := string(document.AppendKey(nil, value)); !seen[key] {
				seen[key] = true
				values = append(values, value)
			}
		}
	}
	return values, nil
}
