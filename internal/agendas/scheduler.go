package agendas

import (
	"cmp"
	"context"
	"crypto/rand"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/background"
	"github.com/botctx/go-sdk/internal/bounded"
	"github.com/botctx/go-sdk/internal/cron"
	"github.com/botctx/go-sdk/internal/display"
	"github.com/botctx/go-sdk/internal/lease"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/internal/safelog"
	"github.com/botctx/go-sdk/internal/timelimit"
	"github.com/botctx/go-sdk/store"
)

// SchedulerConfig configures a Scheduler. Env.Store and Handler are required.
type SchedulerConfig struct {
	// Env provides the store. The store's clock, not Env.Now, determines when agendas are due and leases expire.
	Env record.Env
	// Handler runs the agendas.
	Handler agenda.Handler
	// Zone returns the time zone of an agenda's member, for patterns that name none. It is called before each
	// run by a pattern. If the zone has changed, the pattern continues in the new zone, and the run waits if
	// its time of day has not come there yet. After an error or an unknown zone, the run fails before it
	// begins and is tried again; after the last attempt the pattern continues in its previous zone. By default
	// patterns stay in the zone in which they were given.
	Zone func(ctx context.Context, of agenda.Agenda) (string, error)
	// Retention and FailedRetention limit how long Run keeps completed agendas, counted from their last scheduled time,
	// and agendas that failed for good, counted from the last failure; see botctx.Retention.
	Retention, FailedRetention time.Duration

	SchedulerOptions
}

// SchedulerOptions are a host's settings for a scheduler, see botctx.SchedulerOptions. Zero fields have their
// defaults.
type SchedulerOptions struct {
	Workers         int
	Lease           time.Duration
	Poll            time.Duration
	Limit           int
	Backoff         func(failures int) time.Duration
	LateAfter       time.Duration
	ShutdownTimeout time.Duration
	Around          func(agenda.Handler) agenda.Handler
	Hooks           agenda.Hooks
	Log             *slog.Logger
}

// The defaults of SchedulerOptions.
const (
	defaultWorkers         = 64
	defaultLease           = time.Minute
	defaultPoll            = time.Second
	defaultLimit           = 5
	defaultLateAfter       = time.Minute
	defaultShutdownTimeout = 20 * time.Second
	defaultRetention       = 30 * 24 * time.Hour
	defaultFailedRetention = 90 * 24 * time.Hour
)

// withDefaults returns the configuration with defaults for unset fields, or an error.
func (c SchedulerConfig) withDefaults() (SchedulerConfig, error) {
	if c.Env.Store == nil {
		return c, boterr.Missing("env.store", "the store that holds the agendas")
	}
	if c.Handler == nil {
		return c, boterr.Missing("handler", "the function that runs an agenda")
	}
	err := cmp.Or(
		bounded.Default("Workers", &c.Workers, defaultWorkers),
		bounded.Default("Limit", &c.Limit, defaultLimit),
		bounded.Default("Lease", &c.Lease, defaultLease),
		bounded.Default("Poll", &c.Poll, defaultPoll),
		bounded.Default("LateAfter", &c.LateAfter, defaultLateAfter),
		bounded.Default("ShutdownTimeout", &c.ShutdownTimeout, defaultShutdownTimeout),
	)
	if err != nil {
		return c, err
	}
	c.Retention = cmp.Or(c.Retention, defaultRetention)
	c.FailedRetention = cmp.Or(c.FailedRetention, defaultFailedRetention)
	if err := lease.Check(c.Lease); err != nil {
		return c, err
	}
	c.Log = safelog.New(c.Log)
	return c.withAround()
}

// withAround returns the configuration with the Handler that Around returns.
func (c SchedulerConfig) withAround() (SchedulerConfig, error) {
	if c.Around == nil {
		return c, nil
	}
	if c.Handler = c.Around(c.Handler); c.Handler == nil {
		return c, boterr.Invalid("around", "returned no handler: return one that calls the given handler")
	}
	return c, nil
}

// Scheduler claims the due agendas of all apps and passes each to a handler: Run does so in real time until its
// context ends, RunNext one by one in virtual time. Any number of schedulers in any number of processes may share a
// store; the package comment describes the guarantees. A Scheduler is safe for concurrent use.
type Scheduler struct {
	store   store.Store
	clock   *lease.Clock
	agendas store.Collection
	// records are the agendas of all apps.
	records    *record.Collection
	candidates candidates
	// patterns are the patterns that were parsed.
	patterns bounded.Cache[patternKey, *cron.Pattern]
	// name is the value of fieldClaim in agendas that this scheduler holds. It is a string.
	name any

	config  SchedulerConfig
	log     *slog.Logger
	backoff background.Backoff

	running  atomic.Bool
	inFlight inFlight
	// serving guards server, which is the pool of the last Run that has begun.
	serving sync.Mutex
	server  *pool
}

// NewScheduler returns a scheduler, or InvalidArgument if the configuration is invalid.
func NewScheduler(config SchedulerConfig) (*Scheduler, error) {
	c, err := config.withDefaults()
	if err != nil {
		return nil, err
	}
	database := store.Wrap(c.Env.Store, nil)
	guarded := c.Env
	guarded.Store = database
	s := &Scheduler{
		store: database, clock: lease.NewClock(database, timelimit.Now, c.Lease),
		agendas: database.Collection(schema.Collection), records: record.Open(guarded, schema),
		patterns: bounded.Cache[patternKey, *cron.Pattern]{Max: maxPatterns},
		name:     rand.Text(), config: c, log: c.Log,
		backoff: background.Backoff{
			First: 10 * time.Second, Growth: 2, Most: time.Hour, Random: 1,
			Chosen: c.Backoff, Log: c.Log, Message: "agenda: back-off panicked",
		},
	}
	if watcher, ok := c.Env.Store.(store.Watcher); ok {
		s.candidates = newWatchedQueue(watcher, s.agendas)
	} else {
		s.candidates = newPolledQueue(database, s.agendas)
	}
	return s, nil
}

// Next returns the time, by the store's clock, at which the next agenda can be claimed. It is the current time if
// an agenda is due. ok is false if no agenda waits. Errors come from the store.
func (s *Scheduler) Next(ctx context.Context) (at time.Time, ok bool, err error) {
	defer boterr.Recover(&err)
	now, err := s.clock.Now(ctx)
	if err != nil {
		return time.Time{}, false, err
	}
	return s.candidates.next(ctx, now)
}

// Due returns the number of agendas that can be claimed now. Errors come from the store.
func (s *Scheduler) Due(ctx context.Context) (count int, err error) {
	defer boterr.Recover(&err)
	now, err := s.clock.Now(ctx)
	if err != nil {
		return 0, err
	}
	return s.candidates.count(ctx, now)
}

// RunNext claims the first due agenda, runs it, and stores the outcome. The next call sees agendas that the run
// schedules, changes or deletes. The lease is not renewed: if the handler outlasts it, another call may take the
// agenda. If ctx ends during the run and the handler returns an error, that is not a failure, and the claim is
// released.
//
// Errors come from the store. After an error, the agenda runs again when its lease has expired, or at once if it was
// not claimed.
func (s *Scheduler) RunNext(ctx context.Context) (result agenda.Result, err error) {
	defer boterr.Recover(&err)
	// Writes continue after ctx ends: a claim that the store makes after its caller gave up would have no holder, and
	// an outcome must always be stored.
	writing := context.WithoutCancel(ctx)
	for {
		now, err := s.clock.Now(ctx)
		if err != nil {
			return agenda.Result{}, err
		}
		found, err := s.candidates.first(ctx, now)
		if err != nil || found.IsZero() {
			return agenda.Result{}, err
		}
		c, err := s.claimHere(writing, found, now)
		if err != nil {
			return agenda.Result{}, err
		}
		if c != nil {
			return s.runHere(ctx, writing, c)
		}
	}
}

// claimHere claims a due agenda for RunNext, which runs suspects like other agendas. It returns nil if the agenda
// has changed meanwhile, or cannot be claimed now.
func (s *Scheduler) claimHere(ctx context.Context, found document.Object, now time.Time) (c *Claim, err error) {
	ready, isSpent, err := s.prepare(ctx, found, now)
	if err == nil && !ready.IsZero() {
		c, err = s.claim(ctx, ready, now)
	}
	if c == nil {
		s.candidates.giveBack(found)
		return nil, err
	}
	c.isSpent = isSpent
	return c, nil
}

// runHere runs a claim with ctx and stores the outcome with writing.
func (s *Scheduler) runHere(ctx, writing context.Context, c *Claim) (agenda.Result, error) {
	s.tellClaimed(ctx, agenda.Event{Run: c.run, At: c.claimedAt})
	failure := s.handle(ctx, c)
	if failure != nil && ctx.Err() != nil && !c.isSpent {
		return s.abandon(writing, c, failure, released)
	}
	return s.finish(writing, c, failure)
}

// call calls a hook unless it is nil.
func (s *Scheduler) call(ctx context.Context, name string, hook func(context.Context, agenda.Event), e agenda.Event) {
	if hook == nil {
		return
	}
	defer safelog.Recovered(ctx, s.log, "agenda: hook panicked", nil, slog.String("hook", name), slog.String("agenda", e.Run.Agenda.ID))
	hook(ctx, e)
}

// tellClaimed reports the start of a run.
func (s *Scheduler) tellClaimed(ctx context.Context, e agenda.Event) {
	s.report(ctx, slog.LevelDebug, "agenda: claimed", e)
	s.call(ctx, "Claimed", s.config.Hooks.Claimed, e)
	late := e.At.Sub(e.Run.ScheduledAt)
	if late <= s.config.LateAfter {
		return
	}
	s.report(ctx, slog.LevelWarn, "agenda: late", e, slog.Duration("late", late))
	s.call(ctx, "Late", s.config.Hooks.Late, e)
}

// tellFinished reports that a run succeeded.
func (s *Scheduler) tellFinished(ctx context.Context, e agenda.Event) {
	s.report(ctx, slog.LevelDebug, "agenda: finished", e)
	s.call(ctx, "Finished", s.config.Hooks.Finished, e)
}

// tellFailed reports that a run failed, with the given level in the log.
func (s *Scheduler) tellFailed(ctx context.Context, level slog.Level, e agenda.Event) {
	s.report(ctx, level, "agenda: failed", e, slog.String("error", display.Text(e.Err)))
	s.call(ctx, "Failed", s.config.Hooks.Failed, e)
}

// report writes a line of the log.
func (s *Scheduler) report(ctx context.Context, level slog.Level, message string, e agenda.Event, more ...slog.Attr) {
	if !s.log.Enabled(ctx, level) {
		return
	}
	a := &e.Run.Agenda
	attributes := append([]slog.Attr{
		slog.String("agenda", a.ID), slog.String("app", a.App), slog.String("member", a.Member),
		slog.String("node", a.NodeCompositeID), slog.Time("scheduled", e.Run.ScheduledAt),
		slog.Int("attempt", e.Run.Attempt), slog.Int("missed", e.Run.Missed),
	}, more...)
	if !e.Next.IsZero() {
		attributes = append(attributes, slog.Time("next", e.Next))
	}
	s.log.LogAttrs(ctx, level, message, attributes...)
}
