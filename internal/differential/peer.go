package differential

import (
	"context"
	"errors"
	"fmt"

	"github.com/256dpi/lungo"
	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store/storetest"
)

// peer is a collection of lungo, used through the interface that it has in common
// with MongoDB's driver.
type peer struct{ collection lungo.ICollection }

// runOnPeer runs a case on an empty collection of lungo. refused is the error of an
// operation that lungo refuses; err tells that there is no outcome to compare.
func runOnPeer(ctx context.Context, c *storetest.Case) (out storetest.Outcome, refused, err error) {
	client, engine, err := lungo.Open(ctx, lungo.Options{Store: lungo.NewMemoryStore()})
	if err != nil {
		return out, nil, err
	}
	defer engine.Close()
	defer func() {
		if panicked := recover(); panicked != nil {
			err = fmt.Errorf("lungo panicked: %v", panicked)
		}
	}()
	p := peer{client.Database("differential").Collection("cases")}
	if len(c.Docs) > 0 {
		documents := make([]any, 0, len(c.Docs))
		for _, o := range c.Docs {
			documents = append(documents, objectToBSON(o))
		}
		if _, err := p.collection.InsertMany(ctx, documents); err != nil {
			return out, nil, fmt.Errorf("inserting the documents: %w", err)
		}
	}
	arguments, err := c.Arguments()
	if err != nil {
		return out, nil, err
	}
	a := peerArguments{Arguments: arguments, filter: objectToBSON(arguments.Filter), sort: objectToBSON(arguments.Sort)}
	for _, filter := range arguments.ArrayFilters {
		a.arrayFilters.Filters = append(a.arrayFilters.Filters, objectToBSON(filter))
	}
	return p.run(ctx, c, a)
}

// peerArguments are the arguments of a case in the driver's types.
type peerArguments struct {
	storetest.Arguments

	filter, sort bson.D
	arrayFilters options.ArrayFilters
}

// run runs the operation of a case.
func (p peer) run(
	ctx context.Context, c *storetest.Case, a peerArguments,
) (out storetest.Outcome, refused, err error) {
	var found []bson.D
	switch c.Kind {
	case "find":
		found, refused = p.find(ctx, a)
		out.Docs, err = objectsFromBSON(found)
		return out, refused, err
	case "count":
		out.Count, refused = p.count(ctx, a)
		return out, refused, nil
	case "distinct":
		values, refused := p.collection.Distinct(ctx, a.Key, a.filter)
		read, err := fromBSON(bson.A(values))
		if list, ok := read.(document.Array); ok {
			for _, value := range list.All() {
				out.Values = append(out.Values, value)
			}
		}
		return out, refused, err
	case "update", "replace":
		out, refused = p.update(ctx, c, a)
	case "findAndModify":
		out, refused, err = p.findAndModify(ctx, a)
	default:
		return out, nil, fmt.Errorf("lungo has nothing for %s", c.Kind)
	}
	if refused != nil || err != nil {
		return out, refused, err
	}
	cursor, err := p.collection.Find(ctx, bson.D{})
	if err == nil {
		err = cursor.All(ctx, &found)
	}
	if err != nil {
		return out, nil, err
	}
	out.After, err = objectsFromBSON(found)
	return out, nil, err
}

func (p peer) find(ctx context.Context, a peerArguments) (found []bson.D, err error) {
	option := options.Find().SetSkip(a.Skip).SetLimit(a.Limit)
	if len(a.sort) > 0 {
		option.SetSort(a.sort)
	}
	cursor, err := p.collection.Find(ctx, a.filter, option)
	if err != nil {
		return nil, err
	}
	err = cursor.All(ctx, &found)
	return found, err
}

func (p peer) count(ctx context.Context, a peerArguments) (int64, error) {
	option := options.Count().SetSkip(a.Skip)
	if a.Limit > 0 {
		option.SetLimit(a.Limit)
	}
	return p.collection.CountDocuments(ctx, a.filter, option)
}

func (p peer) update(
	ctx context.Context, c *storetest.Case, a peerArguments,
) (out storetest.Outcome, refused error) {
	var result *mongo.UpdateResult
	change := objectToBSON(a.Update)
	option := options.Update().SetUpsert(a.Upsert)
	if len(a.arrayFilters.Filters) > 0 {
		option.SetArrayFilters(a.arrayFilters)
	}
	switch {
	case c.Kind == "replace":
		result, refused = p.collection.ReplaceOne(ctx, a.filter, change, options.Replace().SetUpsert(a.Upsert))
	case c.Multi:
		result, refused = p.collection.UpdateMany(ctx, a.filter, change, option)
	default:
		result, refused = p.collection.UpdateOne(ctx, a.filter, change, option)
	}
	if refused != nil {
		return out, refused
	}
	out.Matched, out.Modified, out.Upserted = result.MatchedCount, result.ModifiedCount, result.UpsertedID != nil
	return out, nil
}

func (p peer) findAndModify(
	ctx context.Context, a peerArguments,
) (out storetest.Outcome, refused, err error) {
	when := options.Before
	if a.New {
		when = options.After
	}
	before, err := p.collection.CountDocuments(ctx, bson.D{})
	if err != nil {
		return out, nil, err
	}
	var found bson.D
	refused = p.modify(ctx, a, when).Decode(&found)
	if errors.Is(refused, mongo.ErrNoDocuments) {
		found, refused = nil, nil
	}
	if refused != nil {
		return out, refused, nil
	}
	if found != nil {
		out.Doc, err = objectFromBSON(found)
	}
	after, counted := p.collection.CountDocuments(ctx, bson.D{})
	out.Upserted = after > before
	return out, nil, errors.Join(err, counted)
}

func (p peer) modify(ctx context.Context, a peerArguments, when options.ReturnDocument) lungo.ISingleResult {
	change := objectToBSON(a.Update)
	if isReplacement(a.Update) {
		option := options.FindOneAndReplace().SetUpsert(a.Upsert).SetReturnDocument(when)
		if len(a.sort) > 0 {
			option.SetSort(a.sort)
		}
		return p.collection.FindOneAndReplace(ctx, a.filter, change, option)
	}
	option := options.FindOneAndUpdate().SetUpsert(a.Upsert).SetReturnDocument(when)
	if len(a.sort) > 0 {
		option.SetSort(a.sort)
	}
	if len(a.arrayFilters.Filters) > 0 {
		option.SetArrayFilters(a.arrayFilters)
	}
	return p.collection.FindOneAndUpdate(ctx, a.filter, change, option)
}

// isReplacement reports whether an update is a new document.
func isReplacement(update document.Object) bool {
	for key := range update.All() {
		return key[:min(len(key), 1)] != "$"
	}
	return true
}
