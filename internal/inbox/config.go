package inbox

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/background"
	"github.com/botctx/go-sdk/internal/blame"
	"github.com/botctx/go-sdk/internal/bounded"
	"github.com/botctx/go-sdk/internal/lease"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/internal/safelog"
	"github.com/botctx/go-sdk/store"
)

// Config configures an Inbox. Env.Store, DeriveID, Leases and Handler are required.
type Config struct {
	// Env has the store, whose clock determines when leases expire; the clock for records; and NewID for events
	// without a Key.
	Env record.Env
	// DeriveID derives the id of an event with a Key from a text that identifies the event. In all processes on
	// the store, equal texts must give equal ids, and different texts different ids. Required.
	DeriveID func(of string) string
	// Leases manages the leases of lanes. Required.
	Leases *lease.Leases
	// Handler handles the events. Required.
	Handler Handler
	// Enter is called for a lane before its lease is claimed. It returns a function to call when the lane is
	// left, or false if the lane cannot be entered now. A refused lane is tried again at the next poll, or
	// after LaneLeft. The default admits all lanes.
	Enter func(lane string) (leave func(), ok bool)
	// Retention is the time for which the inbox remembers handled events with a Key. DeadRetention is the
	// retention time of dead letters. See botctx.Retention.
	Retention, DeadRetention time.Duration

	// The other fields are a host's settings, see botctx.InboxOptions. Zero fields have their defaults.
	Workers         int
	Poll            time.Duration
	Limit           int
	Backoff         func(failures int) time.Duration
	MaxPending      int
	AcceptTimeout   time.Duration
	ShutdownTimeout time.Duration
	Log             *slog.Logger

	// Settled is called by the worker after the result of an attempt is stored. The worker waits until it
	// returns. A start that never came back also counts as an attempt. A panic of Settled is logged and has no
	// other effect. The default does nothing.
	Settled func(ctx context.Context, s Settled)
}

// The defaults of Config.
const (
	defaultWorkers         = 64
	defaultPoll            = time.Second
	defaultLimit           = 5
	defaultMaxPending      = 100_000
	defaultAcceptTimeout   = 10 * time.Second
	longestTimeout         = 24 * time.Hour
	defaultRetention       = 30 * 24 * time.Hour
	defaultDeadRetention   = 90 * 24 * time.Hour
	defaultShutdownTimeout = 20 * time.Second
)

// withDefaults returns the configuration with defaults for unset fields, or an error.
func (c Config) withDefaults() (Config, error) {
	switch {
	case c.Env.Store == nil:
		return c, boterr.Missing("env.store", "the store that holds the events")
	case c.DeriveID == nil:
		return c, boterr.Missing("deriveId", "the function that derives ids from texts")
	case c.Leases == nil:
		return c, boterr.Missing("leases", "the leases of lanes, by lease.New")
	case c.Handler == nil:
		return c, boterr.Missing("handler", "the function that handles an event")
	}
	err := cmp.Or(
		bounded.Default("Workers", &c.Workers, defaultWorkers),
		bounded.Default("Poll", &c.Poll, defaultPoll),
		bounded.Default("Limit", &c.Limit, defaultLimit),
		bounded.Default("AcceptTimeout", &c.AcceptTimeout, defaultAcceptTimeout),
		bounded.Default("ShutdownTimeout", &c.ShutdownTimeout, defaultShutdownTimeout),
	)
	if err != nil {
		return c, err
	}
	if c.AcceptTimeout > longestTimeout {
		return c, boterr.Invalid("AcceptTimeout", "must be at most %v", longestTimeout)
	}
	c.MaxPending = cmp.Or(c.MaxPending, defaultMaxPending)
	c.Retention = cmp.Or(c.Retention, defaultRetention)
	c.DeadRetention = cmp.Or(c.DeadRetention, defaultDeadRetention)
	if c.Enter == nil {
		c.Enter = func(string) (func(), bool) { return func() {}, true }
	}
	if c.Settled == nil {
		c.Settled = func(context.Context, Settled) {}
	}
	c.Env, c.Log = c.Env.WithDefaults(), safelog.New(c.Log)
	return c, nil
}

// Inbox stores events until they are handled. Create it with New. Any number of inboxes, in any number of
// processes, may share one store; the package comment describes the guarantees. It is safe for concurrent
// use.
type Inbox struct {
	config  Config
	events  store.Collection
	leases  *lease.Leases
	log     *slog.Logger
	backoff background.Backoff
	loads   bounded.Cache[string, *load]
	// underWay is the number of lanes that are being handled.
	underWay atomic.Int64
	suspects blame.Suspects
	// wake receives when there may be work.
	wake    chan struct{}
	source  source
	running atomic.Bool
	// pool is the pool of the current Run, or nil.
	pool    atomic.Pointer[pool]
	indexes indexes
}

// New returns an inbox, or InvalidArgument if the configuration is invalid.
func New(config Config) (*Inbox, error) {
	config, err := config.withDefaults()
	if err != nil {
		return nil, err
	}
	database := store.Wrap(config.Env.Store, nil)
	b := &Inbox{
		config: config, events: database.Collection(collection), leases: config.Leases,
		log: config.Log, wake: make(chan struct{}, 1), loads: bounded.Cache[string, *load]{Max: maxLoads},
		backoff: background.Backoff{
			First: time.Second, Growth: 4, Most: time.Minute, Random: 2,
			Chosen: config.Backoff, Log: config.Log, Message: "inbox: back-off panicked",
		},
	}
	b.source = sourceOf(b, config.Env.Store, database)
	return b, nil
}

// signal wakes a goroutine that waits for work.
func (b *Inbox) signal() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// EnsureIndexes creates the missing indexes that inboxes need in a store. Errors come from
// store.Collection.EnsureIndex, or from a panic of the store.
func EnsureIndexes(ctx context.Context, database store.Store) error {
	events := store.Wrap(database, nil).Collection(collection)
	sparse := func(path string) store.Index {
		index := store.Ascending(path)
		index.Sparse = true
		return index
	}
	indexes := []store.Index{sparse(fieldDiedAt), sparse(fieldDeadKey)}
	if _, isAlone := database.(store.Watcher); !isAlone { // Waiting events in a store.Watcher are kept in memory.
		indexes = append(indexes,
			store.Ascending(fieldState, fieldAcceptedAt),
			store.Ascending(fieldState, fieldApp),
			store.Ascending(fieldState, fieldLane),
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

// indexes is the state of ensureIndexes.
type indexes struct {
	mu     sync.Mutex
	isMade bool
}

// ensureIndexes creates the indexes once per inbox.
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

// Settled is an attempt to handle an event, and its result; see botctx.SettledAttempt.
type Settled struct {
	ID             string
	Event          Event
	Attempt        int
	AcceptedAt, At time.Time
	Err            error
	IsDead         bool
}

func (b *Inbox) tellSettled(ctx context.Context, e stored, failure error, isDead bool) {
	defer safelog.Recovered(ctx, b.log, "inbox: hook panicked", nil, slog.String("event", e.id))
	b.config.Settled(ctx, Settled{
		ID: e.id, Event: e.Event, Attempt: int(e.attempts()) + 1, Err: failure, IsDead: isDead,
		AcceptedAt: document.Timestamp(e.acceptedAt).Time(), At: b.config.Env.Now(),
	})
}
