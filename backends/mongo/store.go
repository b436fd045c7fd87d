package mongo

import (
	"context"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/connstring"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/absent"
	"github.com/botctx/go-sdk/internal/display"
	"github.com/botctx/go-sdk/internal/engine"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// Store is a store.Store on a MongoDB database. Open and New create it.
type Store struct {
	database *mongo.Database
	// owned is the client that Close disconnects. It is nil if the client was passed to New.
	owned *mongo.Client
	order *orderClock
}

var _ store.Store = (*Store)(nil)

// settings has the values of the options of Open and New.
type settings struct {
	client       *options.ClientOptions
	writeConcern *writeconcern.WriteConcern
	readConcern  *readconcern.ReadConcern
}

// Option changes a setting of a Store.
type Option func(*settings)

// WithClientOptions adds options, such as a pool size or a monitor, to the address's options and to those that an
// earlier WithClientOptions added. It only affects Open.
func WithClientOptions(more *options.ClientOptions) Option {
	return func(s *settings) { s.client = options.MergeClientOptions(s.client, more) }
}

// WithWriteConcern sets how many servers must confirm a write. The default is majority: confirmed writes
// survive the loss of a primary.
func WithWriteConcern(concern *writeconcern.WriteConcern) Option {
	return func(s *settings) { s.writeConcern = concern }
}

// WithReadConcern sets which data reads return. The default is majority: data that was read cannot be rolled
// back.
func WithReadConcern(concern *readconcern.ReadConcern) Option {
	return func(s *settings) { s.readConcern = concern }
}

// DefaultTimeout limits each operation of a store returned by Open, if neither the address nor the options set
// a timeout. It detects a server that does not respond. Longer operations, such as the removal of millions of
// documents, need a ctx with a deadline.
const DefaultTimeout = 30 * time.Second

// Open connects to the database in an address such as "mongodb://localhost:27017/bots". It asks the server for
// its time, so a wrong address fails at once. Callers must close the store.
//
// Each operation is limited to DefaultTimeout, including all round trips and repeated commands. timeoutMS in
// the address, SetTimeout in the options, or a ctx with a deadline replace this limit. A client passed to New
// keeps its own settings; without a timeout it waits until a network partition ends.
//
// InvalidArgument: the address is invalid or names no database, or an option is nil. Unavailable: no server
// answered within serverSelectionTimeoutMS of the address, 30 seconds by default, or within the timeout.
func Open(ctx context.Context, uri string, opts ...Option) (*Store, error) {
	address, err := connstring.ParseAndValidate(uri)
	if err != nil {
		return nil, boterr.Invalid("uri", "is not the address of a MongoDB server: %s", display.Redact(err.Error()))
	}
	if address.Database == "" {
		return nil, boterr.Invalid("uri", "does not name a database; write it after the server, as in mongodb://host:27017/bots")
	}
	if err := absent.CheckList("opts", opts); err != nil {
		return nil, err
	}
	set := settingsOf(opts)
	client, err := mongo.Connect(clientOptions(uri), set.client)
	if err != nil {
		return nil, boterr.Invalid("uri", "cannot be used: %s", display.Redact(err.Error()))
	}
	store, err := New(ctx, client.Database(address.Database), opts...)
	if err != nil {
		_ = client.Disconnect(context.WithoutCancel(ctx)) // Ignore this error; the first one explains more.
		return nil, err
	}
	store.owned = client
	return store, nil
}

// clientOptions returns the options in an address and the defaults for all others.
func clientOptions(uri string) *options.ClientOptions {
	return options.Client().SetTimeout(DefaultTimeout).ApplyURI(uri)
}

// New returns a store on a database of the caller's client, which callers must disconnect. It asks the server
// for its time, by which new documents are ordered. InvalidArgument: the database or an option is nil.
func New(ctx context.Context, database *mongo.Database, opts ...Option) (*Store, error) {
	if database == nil {
		return nil, boterr.Invalid("database", "is nil: give a database of a client, or use Open")
	}
	if err := absent.CheckList("opts", opts); err != nil {
		return nil, err
	}
	set := settingsOf(opts)
	concerned := database.Client().Database(database.Name(), options.Database().
		SetWriteConcern(set.writeConcern).SetReadConcern(set.readConcern).SetReadPreference(readpref.Primary()))
	store := &Store{database: concerned, order: newOrderClock(time.Now)}
	for asked := 0; asked < fewestQuestions || asked < mostQuestions && !store.order.isNear(); asked++ {
		if _, err := store.Now(ctx); err != nil {
			return nil, err
		}
	}
	return store, nil
}

func settingsOf(opts []Option) *settings {
	set := &settings{
		client: options.Client(), writeConcern: writeconcern.Majority(), readConcern: readconcern.Majority(),
	}
	for _, option := range opts {
		option(set)
	}
	return set
}

// Close disconnects from the server if Open connected to it. Pending operations fail with Unavailable.
func (s *Store) Close(ctx context.Context) error {
	if s.owned == nil {
		return nil
	}
	return failure(ctx, nil, s.owned.Disconnect(ctx))
}

// Now returns the server's time, in one round trip.
func (s *Store) Now(ctx context.Context) (time.Time, error) {
	if err := engine.CheckEnded(ctx); err != nil {
		return time.Time{}, err
	}
	asked := s.order.now()
	var hello struct {
		LocalTime time.Time `bson:"localTime"`
	}
	answer := s.database.RunCommand(ctx, bson.D{{Key: "hello", Value: 1}})
	if err := answer.Decode(&hello); err != nil {
		return time.Time{}, failure(ctx, nil, err)
	}
	s.order.learn(asked, hello.LocalTime)
	return hello.LocalTime.UTC(), nil
}

// Collection returns the collection with this name. If the name is invalid, every operation of the collection
// returns InvalidArgument.
func (s *Store) Collection(name string) store.Collection {
	if err := store.CheckName(name); err != nil {
		return &collection{err: err}
	}
	return &collection{store: s, stored: s.database.Collection(storedName(name)), name: name}
}

// Database returns the store's database for other work of the host, such as further indexes, sharding and
// statistics. It has the store's read and write concerns. Documents that the host writes there have no place in
// the order of insertion and come first.
func (s *Store) Database() *mongo.Database { return s.database }

type collection struct {
	store  *Store
	stored *mongo.Collection
	name   string
	// err is InvalidArgument if the name is invalid.
	err error
}

var _ store.Collection = (*collection)(nil)

// check returns an error if an operation must not start.
func (c *collection) check(ctx context.Context) error {
	if c.err != nil {
		return c.err
	}
	return engine.CheckEnded(ctx)
}

// newest returns the collection with read concern local, which reads the primary's state, even if the majority
// lags behind. The server's own changes use this state, too. A read from a lagging majority could miss a
// document that another upsert has inserted.
func (c *collection) newest() *collection {
	if c.err != nil {
		return c
	}
	latest := *c
	latest.stored = c.stored.Clone(options.Collection().SetReadConcern(readconcern.Local()))
	return &latest
}

// firstBatch is the number of documents in the first answer to a search. More documents need more round trips.
const firstBatch = 1000

func (c *collection) Get(ctx context.Context, id any) (document.Object, bool, error) {
	byID, err := query.CompileFilter(document.O(document.IDField, document.O("$eq", id)))
	if err != nil {
		return document.Object{}, false, boterr.PrefixField("id", err)
	}
	found, err := c.Find(ctx, byID, store.FindOptions{Limit: 1})
	if err != nil || len(found) == 0 {
		return document.Object{}, false, err
	}
	return found[0], true, nil
}

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

// projected applies a projection to a document. A nil projection returns the whole document.
func projected(
	call *query.Evaluation, o document.Object, filter *query.Filter, projection *query.Projection,
) (document.Object, error) {
	if o.IsZero() || projection == nil {
		return o, nil
	}
	o, err := call.Project(projection, filter, o)
	return o, boterr.PrefixField("projection", err)
}

func (c *collection) find(ctx context.Context, filter *query.Filter, opts store.FindOptions) (results []found, err error) {
	set, err := searching(filter, opts)
	if err != nil {
		return nil, err
	}
	err = c.searchEach(ctx, filter, set, func(result found) error {
		results = append(results, result)
		return nil
	})
	return results, err
}

// searching returns the driver's options for a search.
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
		set.SetLimit(-1) // A negative limit makes the server keep no cursor.
	}
	return set, nil
}

// ids returns the _ids of the documents that match, as values for the server.
func (c *collection) ids(ctx context.Context, filter *query.Filter) (ids []bson.RawValue, err error) {
	set := options.Find().SetProjection(bson.D{{Key: document.IDField, Value: 1}})
	err = c.searchEach(ctx, filter, set, func(result found) error {
		id, _ := result.document.Field(document.IDField)
		value, err := rawValue(id)
		ids = append(ids, value)
		return err
	})
	return ids, err
}

// maxDocuments is more than any collection has. The sum of skip and limit must not overflow.
const maxDocuments = 1 << 60

// searchEach runs a search with the driver's options, and calls visit with each document until it fails.
func (c *collection) searchEach(
	ctx context.Context, filter *query.Filter, set *options.FindOptionsBuilder, visit func(found) error,
) error {
	if err := c.check(ctx); err != nil {
		return err
	}
	where, err := queryOf(filter)
	if err != nil {
		return err
	}
	cursor, err := c.stored.Find(ctx, where, set)
	if err != nil {
		return failure(ctx, filter, err)
	}
	return c.readEach(ctx, filter, cursor, visit)
}

// readEach reads a cursor to its end, or until visit fails, and closes it.
func (c *collection) readEach(
	ctx context.Context, filter *query.Filter, cursor *mongo.Cursor, visit func(found) error,
) error {
	defer func() { _ = cursor.Close(context.WithoutCancel(ctx)) }() // After the last batch, the cursor is already closed.
	for cursor.Next(ctx) {
		result, err := c.read(cursor.Current)
		if err == nil {
			err = visit(result)
		}
		if err != nil {
			return err
		}
	}
	return failure(ctx, filter, cursor.Err())
}

// read decodes a document from the server, and makes later insertions follow it.
func (c *collection) read(b bson.Raw) (found, error) {
	result, err := read(b)
	if err != nil {
		return result, c.unread(b, err)
	}
	c.store.order.see(result.hidden.order)
	return result, nil
}

// unread returns the error for a document that cannot be decoded.
func (c *collection) unread(b bson.Raw, err error) error {
	failed, ok := boterr.AsError(err)
	if !ok {
		return err
	}
	return boterr.New(failed.Code, failed.Field, "the document with the _id %s in the collection %q: %s",
		b.Lookup(document.IDField), c.name, failed.Message())
}

func (c *collection) Count(ctx context.Context, filter *query.Filter) (int64, error) {
	if err := c.check(ctx); err != nil {
		return 0, err
	}
	where, err := queryOf(filter)
	if err != nil {
		return 0, err
	}
	if filter.Near() != nil { // The driver counts with an aggregation, which cannot contain $near.
		ids, err := c.ids(ctx, filter)
		return int64(len(ids)), err
	}
	count, err := c.stored.CountDocuments(ctx, where)
	return count, failure(ctx, filter, err)
}

// Distinct implements store.Collection. It does not use the server's distinct, which has no defined order.
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
	call := query.NewEvaluation(ctx)
	all := engine.NewDistinct(call, path)
	err = c.searchEach(ctx, filter, set, func(result found) error {
		call.Visit(result.document)
		return all.Add(result.document)
	})
	if err != nil {
		return nil, err
	}
	return all.Values, nil
}
