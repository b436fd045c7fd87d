package mongo

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/connstring"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/absent"
	"github.com/botctx/go-sdk/internal/display"
	"github.com/botctx/go-sdk/store"
)

// Store is a store.Store on a MongoDB database. Open and New make one.
type Store struct {
	database *mongo.Database
	// owned is the client that Close disconnects; nil for one that was handed in.
	owned *mongo.Client
	order *orderClock
}

var _ store.Store = (*Store)(nil)

// settings are what the options of Open and New set.
type settings struct {
	client       *options.ClientOptions
	writeConcern *writeconcern.WriteConcern
	readConcern  *readconcern.ReadConcern
	now          func() time.Time
}

// Option is a setting of a Store.
type Option func(*settings)

// WithClientOptions adds options to those that the address gives, such as a pool's size
// or a monitor. Open alone has a use for them.
func WithClientOptions(more *options.ClientOptions) Option {
	return func(s *settings) { s.client = more }
}

// WithWriteConcern sets when a write counts as done. The default is majority: what was
// acknowledged survives the loss of a primary.
func WithWriteConcern(concern *writeconcern.WriteConcern) Option {
	return func(s *settings) { s.writeConcern = concern }
}

// WithReadConcern sets what reads may see. The default is majority: what was read
// cannot be rolled back.
func WithReadConcern(concern *readconcern.ReadConcern) Option {
	return func(s *settings) { s.readConcern = concern }
}

// DefaultTimeout is how long a command may take of a store that Open made, where neither the
// address nor the options say so. A server that is gone without a word is found by it. What
// takes longer, such as the removal of millions of documents, needs a ctx with a deadline.
const DefaultTimeout = 30 * time.Second

// Open connects to the database that an address names, as in
// "mongodb://localhost:27017/bots", and asks the server for its time, so that a wrong
// address is found at once. The caller closes the store.
//
// An operation takes DefaultTimeout at most, all round trips and repetitions of a command
// included, unless the address says timeoutMS, or the options SetTimeout; a ctx with a
// deadline of its own goes by that alone. The client of New has what its maker gave it, which
// without a timeout waits for a partition to end.
//
// InvalidArgument: the address is invalid, or names no database, or an option is nil. Unavailable: no server
// answered within the address's serverSelectionTimeoutMS, 30 seconds by default, or
// within the timeout.
func Open(ctx context.Context, uri string, opts ...Option) (*Store, error) {
	address, err := connstring.ParseAndValidate(uri)
	if err != nil {
		return nil, boterr.Invalid("uri", "is no address of a MongoDB server: %s", display.Redact(err.Error()))
	}
	if address.Database == "" {
		return nil, boterr.Invalid("uri", "names no database; write it behind the server, as in mongodb://host:27017/bots")
	}
	if err := absent.CheckList("opts", opts); err != nil {
		return nil, err
	}
	set := settingsOf(opts)
	client, err := mongo.Connect(clientOptions(uri), set.client)
	if err != nil {
		return nil, boterr.Invalid("uri", "does not make a client: %s", display.Redact(err.Error()))
	}
	store, err := New(ctx, client.Database(address.Database), opts...)
	if err != nil {
		_ = client.Disconnect(context.WithoutCancel(ctx)) // The error of the answer that did not come says more.
		return nil, err
	}
	store.owned = client
	return store, nil
}

// clientOptions returns the options of an address, and the defaults for what it leaves open.
func clientOptions(uri string) *options.ClientOptions {
	return options.Client().SetTimeout(DefaultTimeout).ApplyURI(uri)
}

// New returns a store on a database of a client that the caller has, and keeps. It asks
// the server for its time, by which new documents are put in order. InvalidArgument: the database or an
// option is nil.
func New(ctx context.Context, database *mongo.Database, opts ...Option) (*Store, error) {
	if database == nil {
		return nil, boterr.Invalid("database", "is nil: give one of a client, or use Open")
	}
	if err := absent.CheckList("opts", opts); err != nil {
		return nil, err
	}
	set := settingsOf(opts)
	concerned := database.Client().Database(database.Name(), options.Database().
		SetWriteConcern(set.writeConcern).SetReadConcern(set.readConcern).SetReadPreference(readpref.Primary()))
	store := &Store{database: concerned, order: newOrderClock(set.now)}
	for asked := 0; asked < fewestQuestions || asked < mostQuestions && !store.order.isNear(); asked++ {
		if _, err := store.Now(ctx); err != nil {
			return nil, err
		}
	}
	return store, nil
}

func settingsOf(opts []Option) *settings {
	set := &settings{
		client: options.Client(), writeConcern: writeconcern.Majority(), readConcern: readconcern.Majority(), now: time.Now,
	}
	for _, option := range opts {
		option(set)
	}
	return set
}

// Close disconnects from the server, where Open made the connection. Operations under
// way are Unavailable.
func (s *Store) Close(ctx context.Context) error {
	if s.owned == nil {
		return nil
	}
	return failure(ctx, s.owned.Disconnect(ctx))
}

// Now returns the server's clock, in one round trip.
func (s *Store) Now(ctx context.Context) (time.Time, error) {
	if err := checkEnded(ctx); err != nil {
		return time.Time{}, err
	}
	asked := s.order.now()
	var hello struct {
		LocalTime time.Time `bson:"localTime"`
	}
	answer := s.database.RunCommand(ctx, bson.D{{Key: "hello", Value: 1}})
	if err := answer.Decode(&hello); err != nil {
		return time.Time{}, failure(ctx, err)
	}
	s.order.learn(asked, hello.LocalTime)
	return hello.LocalTime.UTC(), nil
}

// Collection returns the collection of that name. Every operation of one whose name is
// not allowed answers InvalidArgument.
func (s *Store) Collection(name string) store.Collection {
	if err := store.CheckName(name); err != nil {
		return &collection{err: err}
	}
	return &collection{store: s, stored: s.database.Collection(storedName(name)), name: name}
}

// checkEnded returns the error Canceled where ctx has ended.
func checkEnded(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	return boterr.New(boterr.Canceled, "", "the context ended: %w", context.Cause(ctx))
}

// Database returns the database of the store, with its concerns, for what a host does
// beside the SDK: indexes of its own, sharding, statistics. Documents that it writes
// there have no place in the order of insertion, and come first.
func (s *Store) Database() *mongo.Database { return s.database }
