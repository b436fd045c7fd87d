package botctx

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/inbox"
	"github.com/botctx/go-sdk/internal/record"
)

// InboxOptions configures how a Runtime handles accepted events; see Config.Inbox. A zero field has its default
// value.
type InboxOptions struct {
	// Workers is the maximum number of lanes (senders) whose events Run handles concurrently. The default is 64. An app
	// gets at most half of the workers that other apps do not use, and a channel at most half of its app's
	// workers that other channels do not use. So a single channel uses at most a quarter of the workers, and
	// there is always a worker for another channel.
	Workers int
	// Poll is the interval for polling the store for events that other processes accepted. The default is a
	// second. A store that sends notices (store.Notifier) is polled at every tenth interval, because its
	// events start at once anyway.
	Poll time.Duration
	// Limit is the number of failed attempts after which an event becomes a dead letter. The default is 5.
	Limit int
	// Backoff returns the pause before the next attempt. failures is the number of failed attempts, at least 1.
	// The default begins with a second and multiplies by four up to a minute, less a random part of at most half.
	// So an event that always fails blocks its lane for at most about 80 seconds. If the error asks for a longer
	// pause (boterr.RetryAfter), that is the pause.
	Backoff func(failures int) time.Duration
	// MaxPending is the maximum number of waiting events of an app. If it is exceeded, Accept returns
	// ResourceExhausted for that app. The limit is approximate, because each process counts all events only
	// after every ten polls. The default is 100,000. A negative number means no limit.
	MaxPending int
	// AcceptTimeout is the time that Accept waits for a store that does not answer if its context never ends, as
	// in a handler that continues after the sender hangs up. The default is 10 seconds, and the maximum is 24 hours.
	AcceptTimeout time.Duration
	// ShutdownTimeout is the maximum time that Run waits for current runs after its context ends. Then it ends
	// the contexts of these runs and waits for 5 more seconds. The default is 20 seconds.
	ShutdownTimeout time.Duration
	// Hooks are called on events of the inbox.
	Hooks InboxHooks
	// Log receives records about events: handled events at debug level, failed attempts at warn, and dead
	// letters at error. The default is Config.Logger.
	Log *slog.Logger
}

// InboxHooks observe accepted events, for example for spans and metrics; backends/otel has hooks for OpenTelemetry.
// Nil hooks are ignored.
type InboxHooks struct {
	// AroundAccept is called for each event that Accept stores. It must call next, which stores the event. Before,
	// it may set event.Trace. If it panics, or if no call of next succeeds, Accept returns an error.
	AroundAccept func(ctx context.Context, event *InboxEvent, next func(context.Context) (Accepted, error)) (Accepted, error)
	// AroundRun is called for each attempt to handle an event. It must call next, which runs the bot logic, and
	// return its error. Its own error or panic is a failure of the attempt.
	AroundRun func(ctx context.Context, attempt InboxAttempt, next func(context.Context) error) error
	// Settled is called after the result of an attempt is stored. The worker waits until it returns. An attempt
	// whose process died is reported, too. A panic of the hook is logged and has no other effect.
	Settled func(ctx context.Context, settled SettledAttempt)
}

// InboxEvent is an event in the inbox.
type InboxEvent struct {
	// App and Channel are the ids of the app and channel at which the event arrived. From is the sender's id on
	// the platform.
	App, Channel, From string
	// Key is the key by which a repetition is recognised, or "" if there is none.
	Key string
	// Body has the fields of the Inbound: "event", "groupExternalId", "profile" and "key".
	Body document.Object
	// Trace is stored with the event until it is handled. AroundAccept may set it, for example to the trace
	// context of the acceptance.
	Trace string
}

// Accepted is the result of storing an event.
type Accepted struct {
	// ID is the id of the event in the inbox.
	ID string
	// IsRepeated is true if an event with the same Key was accepted before. The event is then not stored again.
	IsRepeated bool
}

// InboxAttempt is an attempt to handle an event.
type InboxAttempt struct {
	// ID is the id of the event in the inbox.
	ID    string
	Event InboxEvent
	// Attempt is the number of the attempt, starting with 1.
	Attempt int
	// AcceptedAt is the time of acceptance, by the clock of the process that accepted the event.
	AcceptedAt time.Time
}

// SettledAttempt is an attempt with its result. If Err is nil, the event is done. Otherwise it is a dead letter, or
// will be tried again.
type SettledAttempt struct {
	InboxAttempt
	// EndedAt is the end of the attempt, by the clock of this process.
	EndedAt time.Time
	// Err is the error of the attempt. IsDead is true if the event became a dead letter.
	Err    error
	IsDead bool
}

// DeadLetter is an accepted event that is not tried again, because too many attempts failed or its error is
// permanent.
type DeadLetter struct {
	// ID is the id of the event in the inbox.
	ID    string
	Event InboxEvent
	// AcceptedAt is the time of acceptance. DiedAt is the time at which the event was given up.
	AcceptedAt, DiedAt time.Time
	// Failures is the number of failed attempts.
	Failures int
	// Code is the code of the last error. Error is the error's text without credentials.
	Code  boterr.Code
	Error string
}

// Cursor returns the position of the dead letter in the order of DeadLetters, for use in DeadLettersParams.
func (l DeadLetter) Cursor() string { return inbox.Cursor(l.AcceptedAt, l.ID) }

func deadLetterOf(l inbox.DeadLetter) DeadLetter {
	return DeadLetter{
		ID: l.ID, Event: InboxEvent(l.Event), AcceptedAt: l.AcceptedAt, DiedAt: l.DiedAt,
		Failures: l.Failures, Code: l.Code, Error: l.Error,
	}
}

// DeadLettersParams select dead letters.
type DeadLettersParams struct {
	// App and Channel are the ids of the app and channel at which the events arrived. "" means any.
	App, Channel string
	// ID is the id of the only dead letter to return. "" means any.
	ID string
	// After and Before are Cursors. They select the first dead letters after After, or the last ones before Before.
	// Only one of them may be set, together with App. The dead letter of the cursor may have been removed.
	After, Before string
	// Limit is the maximum number of dead letters to return. 0 means all.
	Limit int
}

// DeadLetters returns the dead letters that match p, in the order in which the events were accepted. It returns
// InvalidArgument if a cursor is invalid or if the params contradict each other. Other errors come from the store.
func (r *Runtime) DeadLetters(ctx context.Context, p DeadLettersParams) ([]DeadLetter, error) {
	found, err := r.inbox.DeadLetters(ctx, inbox.DeadLettersParams(p))
	if err != nil {
		return nil, err
	}
	letters := make([]DeadLetter, len(found))
	for i, one := range found {
		letters[i] = deadLetterOf(one)
	}
	return letters, nil
}

// DeadLetter returns the dead letter with an id, or NotFound. Other errors come from the store.
func (r *Runtime) DeadLetter(ctx context.Context, id string) (DeadLetter, error) {
	found, err := r.inbox.DeadLetter(ctx, id)
	return deadLetterOf(found), err
}

// RetryDeadLetter puts a dead letter back into the inbox as the next event of its sender, even while a later event waits
// for its next attempt. Only an earlier event that waits comes first. The dead letter gets the full number of attempts
// again. Messages that earlier attempts sent are not sent again. It returns NotFound if there is no
// dead letter with that id. Other errors come from the store.
func (r *Runtime) RetryDeadLetter(ctx context.Context, id string) error {
	return r.inbox.Retry(ctx, id)
}

// DiscardDeadLetter removes a dead letter. If the platform repeats its event, the repetition is ignored. It
// returns NotFound if there is no dead letter with that id. Other errors come from the store.
func (r *Runtime) DiscardDeadLetter(ctx context.Context, id string) error {
	return r.inbox.Discard(ctx, id)
}

// InboxStats are numbers of events in the inbox.
type InboxStats struct {
	// Pending is the number of events that wait or are being handled. Oldest is the acceptance time of the first of
	// them, or zero.
	Pending int64
	Oldest  time.Time
	// DeadLetters is the number of dead letters.
	DeadLetters int64
	// Lanes is the number of senders whose events this process is handling.
	Lanes int
}

// InboxStats counts the events in the inbox. Errors come from the store.
func (r *Runtime) InboxStats(ctx context.Context) (InboxStats, error) {
	stats, err := r.inbox.Stats(ctx)
	return InboxStats(stats), err
}

// NextEvent returns the time at which the next accepted event can run, by the store's clock. ok is false if no event is
// waiting. It is for hosts that control the time and call RunNextEvent. Errors come from the store.
func (r *Runtime) NextEvent(ctx context.Context) (at time.Time, ok bool, err error) {
	return r.inbox.Next(ctx)
}

// EventResult is the result of RunNextEvent.
type EventResult struct {
	// Ran is true if an event could be handled. ID is its id in the inbox.
	Ran   bool
	ID    string
	Event InboxEvent
	// Err is the error of the attempt. IsDead is true if the event became a dead letter. Otherwise, Next is the time
	// of the next attempt.
	Err    error
	IsDead bool
	Next   time.Time
	// IsPostponed is true if the event waits because a run of its member is in progress elsewhere.
	IsPostponed bool
}

// RunNextEvent runs the first accepted event that can run, and stores the result. Most hosts call Run instead. The lease
// of the event is not renewed: if the run takes longer than the lease, the result is dropped and RunNextEvent returns an
// error. Other errors come from the store.
func (r *Runtime) RunNextEvent(ctx context.Context) (EventResult, error) {
	ran, err := r.inbox.RunNext(ctx)
	return EventResult{
		Ran: ran.Ran, ID: ran.ID, Event: InboxEvent(ran.Event), Err: ran.Err, IsDead: ran.IsDead, Next: ran.Next,
		IsPostponed: ran.IsPostponed,
	}, err
}

func (r *Runtime) newInbox(env record.Env) (*inbox.Inbox, error) {
	options := r.config.Inbox
	config := inbox.Config{
		Env: env, DeriveID: r.config.DeriveID, Leases: r.leases, Handler: r.runAccepted, Enter: r.enterLane,
		Retention: r.config.Retention.HandledEvents, DeadRetention: r.config.Retention.DeadLetters,
		Workers: options.Workers, Poll: options.Poll, Limit: options.Limit, Backoff: options.Backoff, MaxPending: options.MaxPending,
		AcceptTimeout: options.AcceptTimeout, ShutdownTimeout: options.ShutdownTimeout, Log: cmp.Or(options.Log, r.config.Logger),
	}
	if settled := options.Hooks.Settled; settled != nil {
		config.Settled = func(ctx context.Context, s inbox.Settled) {
			settled(ctx, SettledAttempt{
				InboxAttempt: InboxAttempt{ID: s.ID, Event: InboxEvent(s.Event), Attempt: s.Attempt, AcceptedAt: s.AcceptedAt},
				EndedAt:      s.At, Err: s.Err, IsDead: s.IsDead,
			})
		}
	}
	made, err := inbox.New(config)
	return made, boterr.PrefixField("Inbox", err)
}

// storeAccepted stores an event in the inbox, within the host's hook.
func (r *Runtime) storeAccepted(ctx context.Context, event InboxEvent) (err error) {
	around := r.config.Inbox.Hooks.AroundAccept
	if around == nil {
		_, err = r.inbox.Accept(ctx, inbox.Event(event))
		return err
	}
	defer boterr.Recover(&err)
	notStored := error(boterr.New(boterr.Internal, "", "the event is not stored: Inbox.Hooks.AroundAccept must call next"))
	_, err = around(ctx, &event, func(ctx context.Context) (Accepted, error) {
		accepted, err := r.inbox.Accept(ctx, inbox.Event(event))
		if notStored != nil {
			notStored = err
		}
		return Accepted(accepted), err
	})
	if err == nil {
		err = notStored
	}
	return err
}

// runAccepted is the handler of the inbox: it runs the bot logic for the event, within the host's hook.
func (r *Runtime) runAccepted(ctx context.Context, d *inbox.Delivery) error {
	run := func(ctx context.Context) error {
		arrived, err := inboundOf(d.Event)
		if err != nil {
			return err
		}
		return forInbox(r.receive(ctx, arrived, d))
	}
	if around := r.config.Inbox.Hooks.AroundRun; around != nil {
		return around(ctx, InboxAttempt{ID: d.ID, Event: InboxEvent(d.Event), Attempt: d.Attempt, AcceptedAt: d.AcceptedAt}, run)
	}
	return run(ctx)
}
