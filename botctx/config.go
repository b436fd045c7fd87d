package botctx

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/internal/absent"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/internal/safelog"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/utility"
)

// Config configures a Runtime: the store, the ports to external services, and the host's settings. Only Store
// is required.
type Config struct {
	// Records.

	// Store holds the records. Required.
	Store store.Store
	// Now is the clock for records and for Context.Now. The default is time.Now. Due times and leases use the
	// Store's own clock: see memstore.WithNow.
	Now func() time.Time
	// Pause waits for d by the clock of Now, or until ctx ends. Operations use it to wait for a concurrent
	// operation that does the same work, and bot logic through Context.Pause. The default waits by the
	// machine's clock.
	Pause func(ctx context.Context, d time.Duration)
	// NewID returns a new id for a record. The default is a UUID of version 7.
	NewID func() string
	// DeriveID returns the id for a text: always the same for one text, and different for different texts. It
	// makes the ids of a run's messages, see Context.SendID. The default is a UUID of version 8.
	DeriveID func(of string) string
	// NewEtag returns a new etag for a record, except for channels, whose etags are times. The default is
	// made of the time and a NewID.
	NewEtag func() string

	// Replacements for parts of the SDK.

	// Override returns the host's own implementations of domains for a scope. own holds the SDK's
	// implementations, which also remain in use for nil domains. An implementation may embed the SDK's, to
	// replace one method and keep the rest:
	//
	//	type audited struct{ member.Operations } // It has its own GetMember.
	//	Override: func(_ record.Scope, own botctx.Services) botctx.Services {
	//		return botctx.Services{Members: audited{own.Members}}
	//	}
	//
	// The SDK's services use the host's: the sends of the example read members by its GetMember. Messages of
	// members and agents in the SDK's live chats are relayed even if LiveChats is the host's.
	Override func(scope record.Scope, own Services) Services
	// LoadChannel returns a channel of an app with its credentials, or NotFound. The default loads it from
	// the Store. The result is copied, so the host may keep it. A run loads its own channel once, and its
	// sends use that copy.
	LoadChannel func(ctx context.Context, app, id string) (*channel.Channel, error)
	// Arrive returns the member who sent an event, and creates new ones. The default finds and creates
	// members in the Store; a host that overrides Members must set its own.
	Arrive func(ctx context.Context, inbound Inbound) (*member.Member, error)

	// External services.

	// Connectors send to the platforms. Sends to a channel type without a connector return Unsupported.
	Connectors send.Connectors
	// ParallelSends is the number of messages sent concurrently by a call to several members. The default is
	// 1: one after the other, in order.
	ParallelSends int
	// HTTP sends the requests of Context.Fetch. The default is the guarded client of
	// package outbound with its own limits.
	HTTP outbound.Doer
	// Mailer sends mails. Without it SendEmail is Unsupported.
	Mailer utility.Mailer
	// Payments returns the client of an app's payment account by its name, or NotFound. Without it there are
	// no accounts.
	Payments func(app, name string) (utility.PaymentClient, error)
	// ObjectStore keeps uploaded files. Without it UploadFileToObjectStore is Unsupported.
	ObjectStore utility.ObjectStore
	// Upload limits uploads.
	Upload utility.UploadLimits

	// Operations.

	// Interceptors wrap every operation that bot logic calls; the first one is the outermost.
	Interceptors []Interceptor
	// CheckEtags makes updateMember return Conflict for a stale etag.
	CheckEtags bool
	// Strict makes unknown parameters of Call, and parameters that a platform would
	// ignore, InvalidArgument.
	Strict bool
	// LiveChat has the host's settings for live chats.
	LiveChat LiveChat

	// Runs of bot logic.

	// Flow decides which nodes may answer an event.
	Flow Flow
	// OtherNodes must be set if other processes of the host handle nodes that this one does not have. Then
	// NewAgenda and UpdateAgenda accept a node that is not handled here, with a warning; without it they
	// return NotFound. A process that handles no nodes at all accepts any node.
	OtherNodes bool
	// MaxRedirects bounds the redirects from one node to the next, including the redirects in other members'
	// runs. The default is 50.
	MaxRedirects int
	// MaxRun is the time limit of a run: of an accepted event, an agenda or a Receive, from the beginning to
	// the last action, including runs of other members that it redirects to. When it expires, the run's ctx
	// ends, its operations and its write-back of the member are refused, and it fails with Unavailable, so
	// that its event or agenda is tried again. Waiting for another run of the member does not count, see
	// MaxWait. Go cannot end an action that ignores its ctx: it keeps its worker until it returns. The
	// default is a minute, by the machine's clock; a negative value means no limit, as in the fakes, so that
	// a debugger may stop the test.
	MaxRun time.Duration
	// MaxSend is the time limit of one call of an outside service: Send and each optional port of a
	// connector, a mail, a request of a payment account, and a request of live chats by HTTP. When it
	// expires, the call's ctx ends and the call fails with Unavailable; its run continues with that error.
	// The time that a message waits in send.Limited does not count. Go cannot end a call that ignores its
	// ctx: it keeps its run and its worker until it returns. Files, Context.Fetch and scripts have other
	// limits (Upload.Timeout, the Timeout of outbound.Config, script.Options.Deadline), and the host's work
	// for its records, such as LoadChannel, has MaxRun. The default is 15 seconds by the machine's clock, or
	// MaxRun if that is shorter; it must not be longer than MaxRun. A negative value means no limit, as in
	// the fakes.
	MaxSend time.Duration
	// ParallelRuns allows runs of one member to run at once. Without it they take turns: within this process
	// in the order in which they came, and also with runs of other processes if the store is shared (not a
	// store.Watcher). Accepted events run in their order all the same.
	ParallelRuns bool
	// MaxWait is the time that a run waits for another run of the same member; after that it fails with
	// Unavailable. The default is a minute.
	MaxWait time.Duration
	// AgendaWait is the time that an agenda waits for a run of its member before it is postponed by a
	// second. The default is a second, or zero if another run of the member is already waiting, so that one
	// member does not occupy all workers.
	AgendaWait time.Duration
	// Scheduler configures the runs of agendas.
	Scheduler SchedulerOptions
	// Inbox configures the runs of accepted events.
	Inbox InboxOptions
	// Retention sets how long handled events, dead letters, agendas, live chats and similar records are kept.
	Retention Retention
	// LaneLease is the length of the lease that a run holds on its member's lane and renews every quarter of
	// it. If a process dies in a run, other processes cannot run the member until the lease has expired. The
	// default is 30 seconds.
	LaneLease time.Duration
	// Zone returns the time zone of a member, such as "Europe/London". It applies to CRON patterns that name
	// no zone themselves (agenda.InZone) and to Context.Location. It is called when a pattern is set, with
	// the member as the run has it, and before each run by the pattern, so that the pattern follows a member
	// who moves: if the time of day has not come in the new zone yet, the run waits for it. If Zone fails, so
	// does the operation, or the run, which is tried again; after the last attempt the pattern continues in
	// its previous zone. The names are from the IANA database of the machine, or of the program if it imports
	// time/tzdata. The default, also for "", is UTC.
	Zone func(ctx context.Context, m *member.Member) (string, error)
	// OnChoice is called with the choice for an event, just before the answer runs, and also if nothing
	// answers. The default does nothing.
	OnChoice func(ctx context.Context, choice Choice)
	// OnWarning is called with likely mistakes: with the warnings of Graph before the first run after Handle,
	// and when an agenda is created for a node that does not exist. The default does nothing.
	OnWarning func(ctx context.Context, warning Warning)
	// OnUnfilled is called with the path of each {{path}} of a template for which the context's member has no
	// value: it may be misspelt. The default does nothing.
	OnUnfilled func(ctx context.Context, scope record.Scope, path string)
	// OnWait is called before a run waits for another run of the same member. It gets the id of the member or
	// of their lane, and a channel that is closed when the run's turn has come. A test that controls the
	// order of runs itself, such as in package explore, waits there. The default does nothing.
	OnWait func(ctx context.Context, member string, turn <-chan struct{})
	// Logger receives lines about events that callers do not see, or not in full. At error and warn: panics
	// with their stack, and redirects that exceed MaxRedirects. At warn: members that a run could not write
	// back, and the warnings of OnWarning. At debug: each Choice, and the paths of OnUnfilled. It also
	// receives the scheduler's lines, unless Scheduler.Log is set. The lines hold ids, names of functions,
	// codes and the text of panics. The default discards them.
	Logger *slog.Logger
}

// The defaults of Config.
const (
	defaultMaxRedirects  = 50
	defaultMaxWait       = time.Minute
	defaultMaxRun        = time.Minute
	defaultMaxSend       = 15 * time.Second
	defaultUploadTimeout = 45 * time.Second
)

// withDefaults returns a copy of the Config with defaults for unset fields.
func (c Config) withDefaults() (Config, error) {
	if c.Store == nil {
		return c, boterr.Invalid("Store", "a Runtime needs a store, such as memstore.New()")
	}
	if err := c.check(); err != nil {
		return c, err
	}
	c.Retention.Assignments = cmp.Or(c.Retention.Assignments, defaultAssignments)
	c.Retention.PostComments = cmp.Or(c.Retention.PostComments, defaultPostComments)
	if c.MaxRedirects <= 0 {
		c.MaxRedirects = defaultMaxRedirects
	}
	if c.MaxWait <= 0 {
		c.MaxWait = defaultMaxWait
	}
	c, err := c.withLimits()
	if err != nil {
		return c, err
	}
	if c.HTTP == nil {
		client, err := outbound.New(outbound.Config{Timeout: c.withinRun(outbound.DefaultTimeout)})
		if err != nil {
			return c, err
		}
		c.HTTP = client
	}
	if c.Pause == nil {
		c.Pause = pause
	}
	if c.DeriveID == nil {
		c.DeriveID = derivedUUID
	}
	c.Logger = safelog.New(c.Logger)
	c.Connectors = c.boundedConnectors()
	if c.Mailer != nil && c.MaxSend > 0 {
		c.Mailer = boundedMailer{c.Mailer, c.callLimit("the mail service")}
	}
	c.Interceptors = slices.Clone(c.Interceptors)
	return c, nil
}

// env returns the environment of the services.
func (c Config) env() record.Env {
	env := record.Env{Store: c.Store, Now: c.Now, NewID: c.NewID, NewEtag: c.NewEtag}
	return env.WithDefaults()
}

// maxWorkers is the limit for the numbers of workers and of parallel sends.
const maxWorkers = 10_000

// check returns an error for settings that would otherwise fail later, in a run.
func (c Config) check() error {
	for _, port := range [...]struct {
		field string
		given any
	}{{"Store", c.Store}, {"HTTP", c.HTTP}, {"Mailer", c.Mailer}, {"ObjectStore", c.ObjectStore}} {
		if err := absent.Check(port.field, port.given); err != nil {
			return err
		}
	}
	for platform, connector := range c.Connectors {
		if err := checkConnector(connector); err != nil {
			return boterr.WithField("Connectors["+string(platform)+"]", err)
		}
	}
	if err := absent.CheckList("Interceptors", c.Interceptors); err != nil {
		return err
	}
	for _, number := range [...]struct {
		field string
		value int
	}{
		{"Scheduler.Workers", c.Scheduler.Workers},
		{"Inbox.Workers", c.Inbox.Workers},
		{"ParallelSends", c.ParallelSends},
	} {
		if number.value < 0 || number.value > maxWorkers {
			return boterr.Invalid(number.field, "must be from 1 to %d, or left out, got %d", maxWorkers, number.value)
		}
	}
	return nil
}

// withLimits returns the Config with its time limits. They do not exceed the limit of a run.
func (c Config) withLimits() (Config, error) {
	if c.MaxRun == 0 {
		c.MaxRun = defaultMaxRun
	}
	for _, limit := range [...]struct {
		field string
		given time.Duration
	}{{"MaxSend", c.MaxSend}, {"Upload.Timeout", c.Upload.Timeout}, {"HTTP", timeoutOf(c.HTTP)}} {
		if c.MaxRun > 0 && limit.given > c.MaxRun {
			return c, boterr.Invalid(limit.field, "has a limit of %v, and a run ends after MaxRun (%v): lower the one, or raise the other",
				limit.given, c.MaxRun)
		}
	}
	if c.MaxSend == 0 {
		c.MaxSend = c.withinRun(defaultMaxSend)
	}
	if c.Upload.Timeout <= 0 {
		c.Upload.Timeout = c.withinRun(defaultUploadTimeout)
	}
	if c.Upload.MaxBytes <= 0 {
		c.Upload.MaxBytes = send.MaxFileMegabytes << 20
	}
	return c, nil
}

// withinRun returns the limit, or the limit of a run if that is shorter.
func (c Config) withinRun(limit time.Duration) time.Duration {
	if c.MaxRun < 0 {
		return limit
	}
	return min(limit, c.MaxRun)
}

// timeoutOf returns the time limit of an HTTP client's requests, or 0 if it is unknown.
func timeoutOf(client outbound.Doer) time.Duration {
	switch client := client.(type) {
	case *outbound.Client:
		return client.Timeout()
	case *http.Client:
		return client.Timeout
	default:
		return 0
	}
}

// checkConnector refuses a nil connector, also inside wrappers.
func checkConnector(connector send.Connector) error {
	for {
		if connector == nil {
			return boterr.Invalid("", "is nil: leave it out")
		}
		if err := absent.Check("", connector); err != nil {
			return err
		}
		wrapper, isWrapper := connector.(send.Wrapper)
		if !isWrapper {
			return nil
		}
		connector = wrapper.Unwrap()
	}
}
