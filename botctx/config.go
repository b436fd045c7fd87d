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
	"github.com/botctx/go-sdk/internal/bounded"
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
	// Pause waits for d by the clock of Now, or until ctx ends. Context.Pause calls it, and so do operations
	// that wait for a concurrent call which does the same work. The default waits by the machine's clock.
	Pause func(ctx context.Context, d time.Duration)
	// NewID returns a new id for a record. The default is a UUID of version 7.
	NewID func() string
	// DeriveID returns an id for a text. Equal texts must have equal ids, and different texts different ids.
	// The ids of a run's messages are made with it; see Context.SendID. The default is a UUID of version 8.
	DeriveID func(of string) string
	// NewEtag returns a new etag for a record. It is not used for channels, whose etags are times. The
	// default is a NewID.
	NewEtag func() string

	// Replacements for parts of the SDK.

	// Override returns the host's own implementations of domains for a scope. own holds the SDK's
	// implementations. If a field of the result is nil, the SDK's implementation of that domain is used. To
	// replace only some methods, embed the SDK's implementation:
	//
	//	type audited struct{ member.Operations } // GetMember of audited replaces the SDK's method.
	//	Override: func(_ botctx.Scope, own botctx.Services) botctx.Services {
	//		return botctx.Services{Members: audited{own.Members}}
	//	}
	//
	// The SDK's services call the host's implementations: in the example, the SDK's sends load members with
	// the GetMember of audited. Messages in the SDK's live chats are relayed even if LiveChats is replaced.
	// Sends must leave out unsubscribed members in the runs of agendas, which AgendaOf recognises.
	Override func(scope Scope, own Services) Services
	// LoadChannel returns a channel of an app with its credentials, or NotFound. The default loads it from
	// the Store. The SDK copies the result and does not modify it. A run loads its own channel once, at its
	// start.
	LoadChannel func(ctx context.Context, app, id string) (*channel.Channel, error)
	// Arrive returns the member who sent an event, and creates the member if necessary. The default finds
	// and creates members in the Store. A host that overrides Members must set Arrive, too.
	Arrive func(ctx context.Context, inbound Inbound) (*member.Member, error)

	// External services.

	// Connectors send to the platforms. Sends to a channel type without a connector return Unsupported.
	Connectors send.Connectors
	// ParallelSends is the maximum number of concurrent messages in a call that sends to several members. The
	// default is 1: messages are sent one after the other, in order.
	ParallelSends int
	// HTTP sends the requests of Context.Fetch. The default is the guarded client of package outbound with
	// the default limits of that package.
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
	// Strict makes operations return InvalidArgument for unknown parameters of Call and for parameters that
	// the platform would ignore.
	Strict bool
	// LiveChat holds the host's settings for live chats.
	LiveChat LiveChat

	// Runs of bot logic.

	// Flow decides which nodes may answer an event.
	Flow Flow
	// OtherNodes must be set if other processes of the host handle nodes that this process lacks. If it is
	// set, NewAgenda and UpdateAgenda accept unknown nodes with a warning. Otherwise they return NotFound for
	// such a node. A process without any nodes always accepts unknown nodes.
	OtherNodes bool
	// MaxRedirects is the maximum number of redirects that follow from one event or agenda, including
	// redirects in the runs of other members. The default is 50.
	MaxRedirects int
	// MaxRun is the time limit of a run by the machine's clock, including the runs of other members that it
	// redirects to. It does not include the time that the run waits for another run of the member; see
	// MaxWait. When the limit expires, the run's ctx ends, its operations are refused, and its changes to the
	// member are not written back. The run fails with Unavailable, so its event or agenda is tried again. An
	// action that ignores its ctx keeps its worker busy until it returns.
	//
	// The default is a minute. A negative value means no limit. The fakes set no limit, so that a test can
	// be stopped in a debugger.
	MaxRun time.Duration
	// MaxSend is the time limit of one call of an outside service by the machine's clock. It applies to Send
	// and the optional ports of connectors, to mails, to requests of payment accounts, and to HTTP requests of
	// live chats. The time that a message waits in send.Limited does not count. When the limit expires, the
	// call's ctx ends, and the operation returns Unavailable to the bot logic. A call that ignores its ctx
	// blocks the run until it returns.
	//
	// The default is 15 seconds, or MaxRun if that is shorter. It must not be longer than MaxRun. A negative
	// value means no limit, as in the fakes. Other limits apply to uploads (Upload.Timeout), to Context.Fetch
	// (outbound.Config.Timeout) and to scripts (script.Options.Deadline). Functions of the host such as
	// LoadChannel are limited only by MaxRun.
	MaxSend time.Duration
	// ParallelRuns allows concurrent runs of one member. Otherwise the runs of a member take turns, also with
	// the runs of other processes if the store is shared (not a store.Watcher). Accepted events of a member
	// always run in order, one at a time.
	ParallelRuns bool
	// MaxWait is the maximum time that a run waits for another run of the same member. After that time it
	// fails with Unavailable. The default is a minute.
	MaxWait time.Duration
	// AgendaWait is the maximum time that an agenda waits for another run of its member. After that time it
	// is postponed by a second. The default is a second, or zero if another run of the member is already
	// waiting, so that a single member does not occupy all workers.
	AgendaWait time.Duration
	// Scheduler configures the runs of agendas.
	Scheduler SchedulerOptions
	// Inbox configures the runs of accepted events.
	Inbox InboxOptions
	// Retention sets how long handled events, dead letters, agendas, live chats and similar records are kept.
	Retention Retention
	// LaneLease is the length of the lease that a run holds on its member's lane. The lease is renewed after
	// each quarter of its length. If a process dies during a run, other processes cannot run the member's
	// logic until the lease expires. The default is 30 seconds, and the maximum is 24 hours.
	LaneLease time.Duration
	// Zone returns the time zone of a member as a name of the IANA database, such as "Europe/London". The database is
	// the machine's, or the program's if it imports time/tzdata. If Zone is nil or returns "", the zone is UTC.
	//
	// The zone applies to Context.Location and to CRON patterns that name no zone (agenda.InZone). Zone is called
	// when a pattern is set, with the member as changed by the run, and again before each run by the pattern. If the
	// member has moved to another zone, the run waits until the same time of day there.
	//
	// If Zone fails, the operation that set the pattern fails, or the run by the pattern fails and is tried
	// again. After the last attempt the pattern continues in its previous zone.
	Zone func(ctx context.Context, m *member.Member) (string, error)
	// OnChoice is called with the choice of the node that answers an event, just before that node runs. It
	// is also called if nothing answers. The default does nothing.
	OnChoice func(ctx context.Context, choice Choice)
	// OnWarning is called with likely mistakes: with the warnings of Graph before the first run after Handle,
	// and with a warning if an agenda is created for an unknown node. The default does nothing.
	OnWarning func(ctx context.Context, warning Warning)
	// OnUnfilled is called with the path of each {{path}} in a template for which the context's member has no
	// value, at most 100 of a template. The path may be misspelt. The default does nothing.
	OnUnfilled func(ctx context.Context, scope Scope, path string)
	// OnWait is called before a run waits for another run of the same member. It gets the id of the member or
	// of the member's lane, and a channel that is closed when the run may continue. Tests use it to control
	// the order of runs, as package explore does. The default does nothing.
	OnWait func(ctx context.Context, member string, turn <-chan struct{})
	// Logger receives records about events that callers do not see, or not in full. The default discards
	// them. The records contain ids, names of functions, codes and the text of panics:
	//
	//   - error or warn: panics with their stacks, and redirects that exceed MaxRedirects
	//   - warn: members that a run could not write back, and the warnings of OnWarning
	//   - debug: each Choice, and the paths of OnUnfilled
	//
	// The records of the scheduler and the inbox are described at Scheduler.Log and Inbox.Log, whose default
	// is Logger.
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
	if err := cmp.Or(c.check(), c.setNumbers()); err != nil {
		return c, err
	}
	c.Retention.Assignments = cmp.Or(c.Retention.Assignments, defaultAssignments)
	c.Retention.PostComments = cmp.Or(c.Retention.PostComments, defaultPostComments)
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

func (c Config) env() record.Env {
	env := record.Env{Store: c.Store, Now: c.Now, NewID: c.NewID, NewEtag: c.NewEtag}
	return env.WithDefaults()
}

// maxWorkers is the maximum number of workers and of parallel sends.
const maxWorkers = 10_000

// check returns an error for invalid settings, which would otherwise cause errors in runs.
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
			return boterr.Invalid(number.field, "must be from 1 to %d, or 0 for the default, got %d", maxWorkers, number.value)
		}
	}
	return nil
}

// setNumbers sets numbers that are 0 to their defaults. It returns InvalidArgument if a number is negative.
func (c *Config) setNumbers() error {
	const ownDefault = 0 // The default depends on other settings, or is set by the number's user.
	return cmp.Or(
		bounded.Default("MaxRedirects", &c.MaxRedirects, defaultMaxRedirects),
		bounded.Default("MaxWait", &c.MaxWait, defaultMaxWait),
		bounded.Default("AgendaWait", &c.AgendaWait, ownDefault),
		bounded.Default("Upload.MaxBytes", &c.Upload.MaxBytes, send.MaxFileMegabytes<<20),
		bounded.Default("Upload.Timeout", &c.Upload.Timeout, ownDefault),
		bounded.Default("LiveChat.IdleTimeout", &c.LiveChat.IdleTimeout, ownDefault),
	)
}

// withLimits returns the Config with defaults for its time limits. It returns InvalidArgument if a limit
// is longer than MaxRun.
func (c Config) withLimits() (Config, error) {
	if c.MaxRun == 0 {
		c.MaxRun = defaultMaxRun
	}
	for _, limit := range [...]struct {
		field string
		given time.Duration
	}{{"MaxSend", c.MaxSend}, {"Upload.Timeout", c.Upload.Timeout}, {"HTTP", timeoutOf(c.HTTP)}} {
		if c.MaxRun > 0 && limit.given > c.MaxRun {
			return c, boterr.Invalid(limit.field, "has a limit of %v, which is longer than MaxRun (%v): lower it, or raise MaxRun",
				limit.given, c.MaxRun)
		}
	}
	if c.MaxSend == 0 {
		c.MaxSend = c.withinRun(defaultMaxSend)
	}
	c.Upload.Timeout = cmp.Or(c.Upload.Timeout, c.withinRun(defaultUploadTimeout))
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

// checkConnector returns an error if the connector, or one that it wraps, is nil.
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
