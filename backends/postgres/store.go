package postgres

import (
	"context"
	_ "embed" // For schema.sql.
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/engine"
	"github.com/botctx/go-sdk/internal/safelog"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// Store is a store.Store on a PostgreSQL database. Open returns one. Any number of Stores, in any number of
// processes, may share a schema of the database.
type Store struct {
	pool *pgxpool.Pool
	// name is the name of the schema. schema is the quoted name.
	name    string
	schema  string
	timeout time.Duration
	log     *slog.Logger
	notices notices
	groups  groups
	closed  atomic.Bool
	// indexing is held while an index is built.
	indexing chan struct{}
	// lostAt is the time at which a lost connection was last noticed, in Unix nanoseconds.
	lostAt atomic.Int64

	// collections maps names to *collection.
	collections sync.Map
	// decoders is a pool of *engine.Decoder.
	decoders sync.Pool
}

var _ store.Store = (*Store)(nil)

type settings struct {
	schema  string
	timeout time.Duration
	logger  *slog.Logger
}

// Option changes a setting of a Store.
type Option func(*settings)

// WithSchema sets the database schema for the tables. The default is "botctx".
func WithSchema(name string) Option { return func(s *settings) { s.schema = name } }

// WithTimeout limits calls whose context has no deadline. The default is 30 seconds. The limit for creating an
// index is an hour.
func WithTimeout(timeout time.Duration) Option { return func(s *settings) { s.timeout = timeout } }

// WithLogger sets the logger for warnings about lost notices between processes. The default is slog.Default. A
// nil logger discards them.
func WithLogger(logger *slog.Logger) Option { return func(s *settings) { s.logger = logger } }

const (
	defaultSchema  = "botctx"
	defaultTimeout = 30 * time.Second
	// indexTimeout limits the creation of an index if the context has no deadline.
	indexTimeout = time.Hour
	// defaultPool is the largest number of connections if the address does not set one.
	defaultPool = 16
	// cancelTime limits the wait until the server confirms a cancellation.
	cancelTime = time.Second
	// longestSchema is the longest name in PostgreSQL, in bytes.
	longestSchema = 63
)

// Open opens the store in the database at an address, such as
// "postgres://user@host/database?sslmode=verify-full". It creates or migrates the schema; if several processes
// do so at the same time, one does the work and the others wait. The user needs permission to create the
// schema, or to create tables in an existing one.
//
// InvalidArgument: the address or an option is invalid. FailedPrecondition: a later version of this package
// created the schema, the database is not encoded in UTF8, or the user lacks a permission. Unavailable: the
// server does not answer.
func Open(ctx context.Context, address string, options ...Option) (*Store, error) {
	set := settings{schema: defaultSchema, timeout: defaultTimeout, logger: slog.Default()}
	for _, option := range options {
		if option == nil {
			return nil, boterr.Invalid("options", "an option is nil; leave it out")
		}
		option(&set)
	}
	if set.schema == "" || len(set.schema) > longestSchema || strings.ContainsAny(set.schema, "\x00$") {
		return nil, boterr.Invalid("schema", "is %q; give a name of 1 to %d bytes without NUL and $", set.schema, longestSchema)
	}
	if set.timeout <= 0 {
		return nil, boterr.Invalid("timeout", "is %v; give a positive duration", set.timeout)
	}
	config, err := configOf(address)
	if err != nil {
		return nil, err
	}
	s := &Store{
		name: set.schema, schema: pgx.Identifier{set.schema}.Sanitize(), timeout: set.timeout, log: safelog.New(set.logger),
		indexing: make(chan struct{}, 1),
	}
	config.ShouldPing = s.mustPing
	if s.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return nil, boterr.Invalid("address", "the connection pool cannot be created from its settings")
	}
	s.notices.begin(s)
	s.groups.waiting = map[place][]*grouped{}
	s.decoders.New = func() any { return engine.NewDecoder() }
	bounded, cancel := within(ctx, s.timeout)
	defer cancel()
	if err := s.failure(ctx, s.migrate(bounded)); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// configOf parses an address. Errors do not contain the address, because it may include a password.
func configOf(address string) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(address)
	if err != nil || address == "" {
		return nil, boterr.Invalid("address",
			"is malformed; give a URL with the scheme postgres, or pairs such as host=/run/postgresql dbname=bots")
	}
	switch config.ConnConfig.DefaultQueryExecMode {
	case pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol:
		return nil, boterr.Invalid("address", "default_query_exec_mode must be cache_statement, cache_describe or describe_exec")
	default:
	}
	if !strings.Contains(address, "pool_max_conns") {
		config.MaxConns = defaultPool
	}
	// Each statement is written for one plan, which reads an index in order. These settings enforce it.
	for name, value := range map[string]string{
		"plan_cache_mode": "force_generic_plan", "enable_hashjoin": "off", "enable_mergejoin": "off", "enable_seqscan": "off",
		"enable_bitmapscan": "off", "jit": "off", "max_parallel_workers_per_gather": "0", "bytea_output": "hex",
		// A stalled process must not hold locks forever.
		"idle_in_transaction_session_timeout": "10s",
	} {
		if _, isSet := config.ConnConfig.RuntimeParams[name]; !isSet {
			config.ConnConfig.RuntimeParams[name] = value
		}
	}
	config.ConnConfig.BuildContextWatcherHandler = func(conn *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.CancelRequestContextWatcherHandler{Conn: conn, DeadlineDelay: cancelTime}
	}
	return config, nil
}

//go:embed schema.sql
var makeSchema string

// format is the version of the schema.
const format = 1

// migrate creates the schema if it does not exist.
func (s *Store) migrate(ctx context.Context) error {
	var encoding string
	if err := s.pool.QueryRow(ctx, "SHOW server_encoding").Scan(&encoding); err != nil {
		return err
	}
	if encoding != "UTF8" {
		return boterr.New(boterr.FailedPrecondition, "address", "the database is encoded in %s; create one with the encoding UTF8", encoding)
	}
	if version, err := s.format(ctx, s.pool); err != nil || version == format {
		return err
	}
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", "botctx schema "+s.schema); err != nil {
			return err
		}
		if version, err := s.format(ctx, tx); err != nil || version == format {
			return err
		}
		var exists bool
		if err := tx.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname=$1)", s.name).Scan(&exists); err != nil {
			return err
		}
		if !exists {
			if _, err := tx.Exec(ctx, "CREATE SCHEMA "+s.schema); err != nil {
				return err
			}
		}
		_, err := tx.Exec(ctx, strings.ReplaceAll(makeSchema, "SCHEMA", s.schema))
		return err
	})
}

// format returns the version of the existing schema, or 0 if there is none.
func (s *Store) format(ctx context.Context, by querier) (version int, err error) {
	var exists bool
	const look = "SELECT EXISTS (SELECT FROM pg_tables WHERE schemaname=$1 AND tablename='_format')"
	if err := by.QueryRow(ctx, look, s.name).Scan(&exists); err != nil || !exists {
		return 0, err
	}
	if err := by.QueryRow(ctx, "SELECT version FROM "+s.schema+"._format").Scan(&version); err != nil {
		return 0, err
	}
	if version > format {
		return 0, boterr.New(boterr.FailedPrecondition, "schema",
			"the schema %s has format %d and this version reads format %d; use the version that created it, or later", s.schema, version, format)
	}
	return version, nil
}

// within returns a context with the deadline of a call that has none.
func within(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	if _, has := ctx.Deadline(); has {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, timeout)
}

// Collection implements store.Store.
func (s *Store) Collection(name string) store.Collection { return s.collection(name) }

func (s *Store) collection(name string) *engine.Collection {
	return &engine.Collection{Port: &port{store: s, name: name}, Err: store.CheckName(name)}
}

// Now returns the server's time, in UTC.
func (s *Store) Now(ctx context.Context) (now time.Time, err error) {
	if err := engine.CheckEnded(ctx); err != nil {
		return now, err
	}
	bounded, cancel := within(ctx, s.timeout)
	defer cancel()
	err = s.repeated(bounded, func() error { return s.pool.QueryRow(bounded, "SELECT clock_timestamp()").Scan(&now) })
	return now.UTC(), s.failure(ctx, err)
}

// repeated calls read, and calls it again if the connection is lost or the server cancels a statement.
func (s *Store) repeated(ctx context.Context, read func() error) error {
	err := read()
	for losses, cancels := 0, 0; losses < maxLosses && ctx.Err() == nil; {
		switch {
		case stateOf(err) == codeCanceled && cancels < maxCancels:
			cancels++
		case s.hasLost(err):
			losses++
		default:
			return err
		}
		err = read()
	}
	return err
}

// Explain runs a search like Find, and describes how it found the documents.
func (s *Store) Explain(
	ctx context.Context, collection string, filter *query.Filter, options store.FindOptions,
) (store.Explanation, error) {
	return s.collection(collection).Explain(ctx, filter, options)
}

// Close waits for calls in progress and closes the connections. Later calls fail with FailedPrecondition.
// Closing a store twice does nothing.
func (s *Store) Close() {
	if s.closed.Swap(true) {
		return
	}
	s.notices.end()
	s.pool.Close()
}

// isStale reports whether a description is outdated. If so, it reads the newest one.
func (s *Store) isStale(ctx context.Context, c *collection, known *description) (bool, error) {
	var version int64
	err := s.pool.QueryRow(ctx, c.texts.version).Scan(&version)
	if err != nil || version == known.version {
		return false, err
	}
	return true, s.reload(ctx, s.pool, c)
}

// port is a collection that may not exist yet.
type port struct {
	store *Store
	name  string
}

var _ engine.Port = (*port)(nil)

func (p *port) Read(ctx context.Context) (engine.View, error) {
	bounded, cancel := within(ctx, p.store.timeout)
	c, err := p.store.found(bounded, p.name)
	if err != nil || c == nil {
		cancel()
		return engine.EmptyView(p.name), p.store.failure(ctx, err)
	}
	return viewOf(bounded, cancel, &repeats{store: p.store, collection: c, candidates: firstCandidates}), nil
}

// viewOf returns a view for one attempt of a read.
func viewOf(ctx context.Context, cancel context.CancelFunc, r *repeats) engine.View {
	known := r.collection.newest.Load()
	return engine.View{Schema: known.ready, Source: &source{
		ctx: ctx, cancel: cancel, store: r.store, collection: r.collection, known: known, by: r.store.pool, candidates: r.candidates, repeats: r,
	}}
}

func (p *port) Again(ctx context.Context, failed engine.View, err error) (engine.View, error) {
	s, exists := failed.Source.(*source)
	if !exists {
		return failed, err
	}
	deadline, _ := s.ctx.Deadline()
	bounded, cancel := context.WithDeadline(ctx, deadline)
	if err := s.repeats.allow(bounded, &transaction{known: s.known}, err); err != nil {
		cancel()
		return failed, p.store.failure(ctx, err)
	}
	return viewOf(bounded, cancel, s.repeats), nil
}

func (p *port) Now(ctx context.Context) (time.Time, error) { return p.store.Now(ctx) }
