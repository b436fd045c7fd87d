package inbox

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/blame"
	"github.com/botctx/go-sdk/internal/lease"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/internal/safelog"
	"github.com/botctx/go-sdk/store"
)

// Config says how an inbox works. Env.Store, Handler and Turns are required; the zero value of the
// others means the default.
type Config struct {
	// Env has the store, whose clock judges leases, the clock of records, and NewID, which makes
	// the ids of events without a Key.
	Env record.Env
	// DeriveID makes the id of an event with a Key of a text: the same of the same, and different
	// of others, in all processes on the store. Required.
	DeriveID func(of string) string
	// Turns are the turns of lanes.
	Turns *lease.Turns
	// Handler handles the events.
	Handler Handler
	// Enter is asked for a lane before its turn is claimed, where the process has more to keep
	// apart than its workers. It says how to leave the lane, or that it cannot be entered now. The
	// default lets all in. A lane that cannot be entered is asked for again with the next poll, or
	// after LaneLeft.
	Enter func(lane string) (leave func(), ok bool)
	// Workers is the number of lanes that Run handles at once. Apps and channels share them: an app may
	// hold half of what other apps leave, and a channel half of what its app may hold and the app's other
	// channels leave, so that whoever comes next finds a worker. One channel alone uses a quarter of them.
	// The default is 64.
	Workers int
	// Poll is the time after which Run looks for events that other processes accepted. The default
	// is a second.
	Poll time.Duration
	// Limit is the number of failures after which an event is a dead letter. The default is 5.
	Limit int
	// Backoff returns the pause after the given number of failures, from 1 on. The default begins
	// with a second and multiplies it by four, up to a minute: a lane whose event fails for ever
	// goes on after 80 seconds. Where the failure says to wait for longer, up to an hour
	// (boterr.RetryAfter), that is the pause.
	Backoff func(failures int) time.Duration
	// MaxPending is the number of events of an app that may wait; beyond it Accept is ResourceExhausted
	// for that app. The bound is approximate: each process counts every ten polls what all have accepted.
	// The default is 100,000; a negative number means no bound.
	MaxPending int
	// AcceptTimeout is for how long Accept waits for a store that does not answer, where its context
	// cannot end by itself, as that of a handler which goes on when the sender hangs up. It may wait twice
	// as long. The default is 10 seconds.
	AcceptTimeout time.Duration
	// Retention is how long the inbox remembers that an event with a Key is done. The default is
	// 30 days; a negative value means for ever.
	Retention time.Duration
	// DeadRetention is how long dead letters are kept after they died. A repeat of one that was removed
	// is a new event. The default is 90 days; a negative value means for ever.
	DeadRetention time.Duration
	// ShutdownTimeout is how long Run waits for what runs, once its context has ended, before it
	// ends the contexts of the runs as well. Then they have 5 seconds. The default is 20 seconds.
	ShutdownTimeout time.Duration
	// Hooks let the host see what happens.
	Hooks Hooks
	// Log takes lines about what happens: handled events at debug, failed ones at warn, and dead
	// letters at error. By default nothing is logged.
	Log *slog.Logger
}

// The defaults of Config.
const (
	defaultWorkers         = 64
	defaultPoll            = time.Second
	defaultLimit           = 5
	defaultMaxPending      = 100_000
	defaultAcceptTimeout   = 10 * time.Second
	defaultRetention       = 30 * 24 * time.Hour
	defaultDeadRetention   = 90 * 24 * time.Hour
	defaultShutdownTimeout = 20 * time.Second
)

// withDefaults returns the configuration with the defaults filled in, or what is wrong with it.
func (c Config) withDefaults() (Config, error) {
	switch {
	case c.Env.Store == nil:
		return c, boterr.Missing("env.store", "the store that holds the events")
	case c.DeriveID == nil:
		return c, boterr.Missing("deriveId", "the function that makes ids of texts")
	case c.Turns == nil:
		return c, boterr.Missing("turns", "the turns of lanes, by lease.NewTurns")
	case c.Handler == nil:
		return c, boterr.Missing("handler", "the function that handles an event")
	}
	for _, number := range []struct {
		field string
		value int64
	}{
		{"workers", int64(c.Workers)},
		{"poll", int64(c.Poll)},
		{"limit", int64(c.Limit)},
		{"acceptTimeout", int64(c.AcceptTimeout)},
		{"shutdownTimeout", int64(c.ShutdownTimeout)},
	} {
		if number.value < 0 {
			return c, boterr.Invalid(number.field, "must not be negative: leave it out for the default")
		}
	}
	setDefault(&c.Workers, defaultWorkers)
	setDefault(&c.Poll, defaultPoll)
	setDefault(&c.Limit, defaultLimit)
	setDefault(&c.MaxPending, defaultMaxPending)
	setDefault(&c.AcceptTimeout, defaultAcceptTimeout)
	setDefault(&c.Retention, defaultRetention)
	setDefault(&c.DeadRetention, defaultDeadRetention)
	setDefault(&c.ShutdownTimeout, defaultShutdownTimeout)
	if c.Enter == nil {
		c.Enter = func(string) (func(), bool) { return func() {}, true }
	}
	c.Env, c.Log = c.Env.WithDefaults(), safelog.New(c.Log)
	return c, nil
}

// setDefault sets what is zero.
func setDefault[T comparable](setting *T, otherwise T) {
	var zero T
	if *setting == zero {
		*setting = otherwise
	}
}

// Inbox keeps events until they are handled. New makes one. Any number, in any number of
// processes, may share one store: what holds then stands at the package. It is safe for concurrent
// use.
type Inbox struct {
	config Config
	// acceptor is accept with the host's hook around it.
	acceptor Acceptor
	events   store.Collection
	turns    *lease.Turns
	// compiled are the updates, once compiling is done. See updates.
	compiling sync.Once
	compiled  updates
	log       *slog.Logger
	load      load
	// accepting bounds acceptances, endings what is stored after runs.
	accepting, endings endings
	busy               lanes
	suspects           blame.Suspects
	// wake receives when there may be something to do.
	wake    chan struct{}
	feed    feed
	running atomic.Bool
	// pool is that of a Run, nil where there is none.
	pool    atomic.Pointer[pool]
	indexes indexes
}

// New returns an inbox. InvalidArgument names what is wrong with the configuration.
func New(config Config) (*Inbox, error) {
	config, err := config.withDefaults()
	if err != nil {
		return nil, err
	}
	database := record.Guard(config.Env.Store)
	b := &Inbox{
		config: config, events: database.Collection(collection), turns: config.Turns,
		log:  config.Log,
		wake: make(chan struct{}, 1), accepting: endings{within: config.AcceptTimeout}, endings: endings{within: config.Turns.Lease()},
	}
	b.feed = feedOf(b, config.Env.Store, database)
	if err := b.addHooks(); err != nil {
		return nil, err
	}
	return b, nil
}

// signal wakes who waits for something to do.
func (b *Inbox) signal() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// EnsureIndexes makes the indexes that inboxes need in a store, unless they are there. The errors
// are those of store.Collection.EnsureIndex; a store that panics is one, too.
func EnsureIndexes(ctx context.Context, database store.Store) error {
	events := record.Guard(database).Collection(collection)
	sparse := func(path string) store.Index {
		index := store.Ascending(path)
		index.Sparse = true
		return index
	}
	indexes := []store.Index{sparse(fieldDiedAt)}
	if _, isAlone := database.(store.Watcher); isAlone { // What waits is kept in memory.
		indexes = append(indexes, sparse(fieldDeadKey))
	} else {
		indexes = append(indexes,
			store.Ascending(fieldState, fieldAcceptedAt),
			store.Ascending(fieldState, fieldApp, fieldAcceptedAt, fieldID),
			store.Ascending(fieldLane),
			sparse(fieldRetryAt), sparse(fieldDoneAt), sparse(fieldSender),
		)
	}
	for _, index := range indexes {
		if err := events.EnsureIndex(ctx, index); err != nil {
			return err
		}
	}
	return nil
}

// indexes are made once for an inbox.
type indexes struct {
	mu     sync.Mutex
	isMade bool
}

// ensureIndexes makes the indexes where this inbox has not done so.
func (b *Inbox) ensureIndexes(ctx context.Context) error {
	b.indexes.mu.Lock()
	defer b.indexes.mu.Unlock()
	if b.indexes.isMade {
		return nil
	}
	if err := EnsureIndexes(ctx, b.config.Env.Store); err != nil {
		return err
	}
	b.indexes.isMade = true
	return nil
}
