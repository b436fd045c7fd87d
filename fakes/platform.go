package fakes

import (
	"context"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/outbound/replies"
	"github.com/botctx/go-sdk/record"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
)

// maxWait is how long a run waits for one of the same member, in real time: a run that
// waits for itself, since an action says something for its own member, fails then and
// does not hang.
const maxWait = 30 * time.Second

// DefaultApp is the app of what is added without one.
const DefaultApp = "app-1"

// Platform is a whole platform in memory. New makes one. It is safe for concurrent
// use.
type Platform struct {
	// HTTP answers the requests of Context.Fetch: register replies on it. What is not
	// registered is Unavailable.
	HTTP *replies.Replies

	test       TB
	settings   settings
	store      store.Store
	runtime    *botctx.Runtime
	action     atomic.Pointer[botctx.Action]
	nodes      handled
	clock      *clock
	moving     sync.Mutex // Held while the time moves.
	ids        *counter
	faults     *faults
	calls      *callLog
	outbox     *outbox
	transcript *transcript
	channels   *appChannels
	mails      *mailboxes
	files      *bucket
	payments   *payments
}

// settings are what options set.
type settings struct {
	test         TB
	now          time.Time
	newStore     func(now func() time.Time) store.Store
	strict       bool
	checkEtags   bool
	interceptors []botctx.Interceptor
	override     func(record.Scope) botctx.Parts
	flow         botctx.Flow
	maxRedirects int
	parallelRuns bool
	scheduler    agenda.SchedulerConfig
	liveChat     botctx.LiveChat
	zone         string
	upload       botctx.UploadLimits
}

// Option is a setting of a platform.
type Option func(*settings)

// At makes the platform's clock begin at a time. The default is Start.
func At(now time.Time) Option { return func(s *settings) { s.now = now } }

// Store keeps the records in the store that newStore makes, such as a database, whose
// clock must be the one that it is given. The store holds no records yet. Such a platform
// has no Snapshot and no Fork. The default is one in memory.
func Store(newStore func(now func() time.Time) store.Store) Option {
	return func(s *settings) { s.newStore = newStore }
}

// Strict makes unknown parameters of Call, and parameters that a platform would
// ignore, InvalidArgument.
func Strict() Option { return func(s *settings) { s.strict = true } }

// CheckEtags makes updateMember answer Conflict to a stale etag.
func CheckEtags() Option { return func(s *settings) { s.checkEtags = true } }

// Intercept adds interceptors of the host's own. They stand inside of the platform's,
// which record calls and make them fail.
func Intercept(interceptors ...botctx.Interceptor) Option {
	return func(s *settings) { s.interceptors = append(s.interceptors, interceptors...) }
}

// Override puts a host's own implementations in the place of the platform's, as
// botctx.Config.Override does.
func Override(override func(record.Scope) botctx.Parts) Option {
	return func(s *settings) { s.override = override }
}

// Flow decides which nodes may answer, as botctx.Config.Flow does.
func Flow(flow botctx.Flow) Option { return func(s *settings) { s.flow = flow } }

// MaxRedirects sets how many redirects may lead from one node to the next, as
// botctx.Config.MaxRedirects does.
func MaxRedirects(most int) Option { return func(s *settings) { s.maxRedirects = most } }

// ParallelRuns lets runs of one member run at once, as botctx.Config.ParallelRuns does.
func ParallelRuns() Option { return func(s *settings) { s.parallelRuns = true } }

// Scheduler says how agendas are run, as botctx.Config.Scheduler does: how often a run
// that fails is tried again, and after which pauses.
func Scheduler(config agenda.SchedulerConfig) Option {
	return func(s *settings) { s.scheduler = config }
}

// LiveChat is what the host decides about live chats, as botctx.Config.LiveChat does. The
// address of a conversation's history is made up where it gives none.
func LiveChat(config botctx.LiveChat) Option {
	return func(s *settings) { s.liveChat = config }
}

// Zone sets the IANA name of the time zone in which CRON patterns are read. The default is
// UTC.
func Zone(name string) Option { return func(s *settings) { s.zone = name } }

// New returns an empty platform.
func New(options ...Option) *Platform {
	s := settings{test: noTest{}, now: Start()}
	for _, option := range options {
		option(&s)
	}
	p := assemble(s)
	p.printWhereFailed()
	return p
}

// assemble makes an empty platform.
func assemble(s settings) *Platform {
	p := &Platform{
		HTTP: &replies.Replies{}, test: s.test, settings: s,
		clock: newClock(s.now), ids: newCounter(), faults: &faults{}, calls: &callLog{},
		transcript: &transcript{}, channels: newAppChannels(),
		payments: newPayments(),
	}
	p.outbox = newOutbox(p)
	p.mails = &mailboxes{platform: p, kept: keptMails{}.clone()}
	p.files = &bucket{platform: p, kept: keptFiles{}.clone()}
	if s.newStore == nil {
		p.store = memstore.New(memstore.WithNow(p.clock.Now))
	} else {
		p.store = s.newStore(p.clock.Now)
	}
	runtime, err := botctx.New(botctx.Config{
		Store:        p.store,
		Connectors:   p.outbox.connectors(),
		Interceptors: append([]botctx.Interceptor{p.recordCall, p.injectFault}, s.interceptors...),
		Override:     s.override,
		HTTP:         recordedWeb{p},
		Now:          p.clock.Now,
		Pause:        p.clock.pause,
		NewID:        func() string { return p.ids.next("id") },
		DeriveID:     func(of string) string { return p.ids.derived("id", of) },
		NewEtag:      func() string { return p.ids.next("etag") },
		Flow:         s.flow,
		MaxRedirects: s.maxRedirects,
		ParallelRuns: s.parallelRuns,
		MaxWait:      maxWait,
		AgendaWait:   maxWait,
		Scheduler:    s.scheduler,
		LiveChat:     withHistory(s.liveChat),
		Zone:         func(record.Scope) string { return s.zone },
		Mailer:       p.mails,
		Payments:     p.account,
		ObjectStore:  p.files,
		Upload:       s.upload,
		Strict:       s.strict,
		CheckEtags:   s.checkEtags,
	})
	if err == nil {
		err = botctx.EnsureIndexes(context.Background(), p.store)
	}
	if err != nil {
		p.test.Fatalf("fakes: %v", err)
	}
	p.runtime = runtime
	return p
}

// withHistory returns the settings of live chats with addresses of histories.
func withHistory(config botctx.LiveChat) botctx.LiveChat {
	if config.HistoryURL == nil {
		config.HistoryURL = func(a *livechat.Assignment) (string, error) {
			return "https://history.example/" + url.PathEscape(a.ID), nil
		}
	}
	return config
}

// printWhereFailed prints the transcript at the end of a test that failed.
func (p *Platform) printWhereFailed() {
	p.test.Cleanup(func() {
		if p.test.Failed() {
			p.test.Logf("fakes: transcript of the platform:\n%s", p.Transcript())
		}
	})
}

// Runtime returns the Runtime that the platform is made of.
func (p *Platform) Runtime() *botctx.Runtime { return p.runtime }

// Handle adds nodes to those that answer what members say, and that agendas and redirects
// run. It ends the test where Runtime.Handle refuses them.
func (p *Platform) Handle(nodes ...*botctx.Node) {
	p.test.Helper()
	if err := p.runtime.Handle(nodes...); err != nil {
		p.test.Fatalf("fakes: Handle: %v", err)
		return
	}
	p.nodes.add(nodes)
}

// HandleFunc sets the logic that answers what members say where no node does. The last
// call counts.
func (p *Platform) HandleFunc(action botctx.Action) {
	p.action.Store(&action)
	p.runtime.HandleFunc(action)
}

// Operations returns the operations for a scope, outside of a run. A scope without an
// app means DefaultApp.
func (p *Platform) Operations(scope record.Scope) *botctx.Context {
	if scope.App == "" {
		scope.App = DefaultApp
	}
	return p.runtime.Operations(scope)
}

// AddData adds entries to a data source of DefaultApp: what has an _id that exists is
// changed, the rest is added.
func (p *Platform) AddData(dataSourceID string, entries ...document.Object) {
	p.test.Helper()
	if len(entries) == 0 {
		return
	}
	_, err := datasource.New(p.runtime.Env(), record.Scope{App: DefaultApp}).UpsertDataToDataSource(
		context.Background(), datasource.UpsertDataToDataSourceParams{DataSourceID: dataSourceID, Data: entries})
	if err != nil {
		p.test.Fatalf("fakes: AddData: %v", err)
	}
}

// Data returns the entries of a data source of DefaultApp in the order in which they
// were added.
func (p *Platform) Data(dataSourceID string) []document.Object {
	p.test.Helper()
	found, err := datasource.New(p.runtime.Env(), record.Scope{App: DefaultApp}).FetchDataFromDataSource(
		context.Background(), datasource.FetchDataFromDataSourceParams{DataSourceID: dataSourceID})
	if err != nil {
		p.test.Fatalf("fakes: Data: %v", err)
	}
	return found.Entries
}

// Sent returns every message that was sent on the platform, in order.
func (p *Platform) Sent() []Sent { return p.outbox.all() }
