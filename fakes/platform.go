package fakes

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes/web"
	"github.com/botctx/go-sdk/internal/absent"
	"github.com/botctx/go-sdk/internal/datasources"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
)

// DefaultApp is the app of channels, members and data that are added without one.
const DefaultApp = "app-1"

// Platform is a whole platform in memory. New returns one. It is safe for concurrent use.
type Platform struct {
	// HTTP replies to the requests of Context.Fetch: register replies on it. Other requests fail with
	// Unavailable.
	HTTP *web.Replies

	test     TB
	settings settings
	// hosted is the botctx.Config after all options. Each process has a Runtime with it.
	hosted botctx.Config
	// own is the in-memory store that Config receives.
	own         *memstore.Store
	store       store.Store
	process     atomic.Pointer[process]
	arrive      arrive
	loadChannel loadChannel
	// isOverridden is true if Config sets an Override.
	isOverridden bool
	action       atomic.Pointer[botctx.Action]
	nodes        handled
	clock        clock
	ids          counter
	faults       faults
	calls        history[Call]
	outbox       outbox
	transcript   history[line]
	choices      history[botctx.Choice]
	channels     appChannels
	dataSources  knownDataSources
	mails        mailboxes
	files        bucket
	payments     payments
}

// New returns an empty platform.
func New(options ...Option) *Platform {
	s := settings{test: noTest{}, start: Start(), pause: hurrying}
	for _, option := range options {
		if option != nil {
			option(&s)
		}
	}
	if err := cmp.Or(absent.CheckList("options", options), s.check()); err != nil {
		s.test.Fatalf("fakes: New: %v", err)
	}
	p := assemble(s)
	p.ensureIndexes()
	p.printWhereFailed()
	p.expectEveryMessage()
	return p
}

// assemble returns an empty platform without indexes.
func assemble(s settings) *Platform {
	p := &Platform{HTTP: &web.Replies{}, test: s.test, settings: s}
	p.clock.set(s.start)
	p.calls.most, p.transcript.most = mostMade, mostMade
	p.own = memstore.New(memstore.WithNow(p.clock.Now))
	p.outbox.platform, p.mails.platform, p.files.platform = p, p, p
	p.configure()
	p.store, p.arrive, p.loadChannel = p.hosted.Store, p.hosted.Arrive, p.hosted.LoadChannel
	p.isOverridden = p.hosted.Override != nil
	started, err := p.newProcess()
	if err != nil {
		p.test.Fatalf("fakes: %v", err)
	}
	p.process.Store(started)
	return p
}

// indexed is an empty store with the indexes. Every platform starts from it.
var indexed = sync.OnceValue(func() memstore.Snapshot {
	empty := memstore.New()
	if err := botctx.EnsureIndexes(context.Background(), empty); err != nil {
		panic(err)
	}
	return empty.Snapshot()
})

// ensureIndexes creates the indexes. A fork gets them from the platform that it was forked from.
func (p *Platform) ensureIndexes() {
	if p.Runtime() == nil {
		return // The test has already failed because of its Config.
	}
	if p.hosted.Store == store.Store(p.own) {
		p.own.MakeEmpty(indexed())
		return
	}
	if err := botctx.EnsureIndexes(testContext(), p.Runtime().Env().Store); err != nil {
		p.test.Fatalf("fakes: %v", err)
	}
}

// printWhereFailed prints the transcript at the end of a failed test.
func (p *Platform) printWhereFailed() {
	p.test.Cleanup(func() {
		if p.test.Failed() {
			p.test.Logf("fakes: transcript of the platform:\n%s", textOf(p.transcript.all()))
		}
	})
}

// Runtime returns the platform's current Runtime. Restart replaces it.
func (p *Platform) Runtime() *botctx.Runtime { return p.process.Load().runtime }

// Handle adds nodes, which answer members' messages and run for agendas and redirects. It ends the test if
// Runtime.Handle refuses them.
func (p *Platform) Handle(nodes ...*botctx.Node) {
	p.test.Helper()
	if err := p.Runtime().Handle(nodes...); err != nil {
		p.test.Fatalf("fakes: Handle: %v", err)
		return
	}
	p.nodes.add(nodes...)
}

// Replace replaces all nodes, as Runtime.Replace does. It ends the test if that refuses them.
func (p *Platform) Replace(nodes ...*botctx.Node) {
	p.test.Helper()
	if err := p.Runtime().Replace(nodes...); err != nil {
		p.test.Fatalf("fakes: Replace: %v", err)
		return
	}
	p.nodes.set(slices.Clone(nodes))
}

// HandleFunc sets the logic for messages that no node answers. A later call replaces it.
func (p *Platform) HandleFunc(action botctx.Action) {
	p.action.Store(&action)
	p.Runtime().HandleFunc(action)
}

// Operations returns the operations for a scope, outside any run. If scope has no app, it uses DefaultApp.
func (p *Platform) Operations(scope botctx.Scope) *botctx.Context {
	if scope.App == "" {
		scope.App = DefaultApp
	}
	return p.Runtime().Operations(scope)
}

// AddData adds entries to a data source of DefaultApp. An entry whose _id exists changes the existing entry;
// others are added. Without entries it makes an empty data source known; the transcript flags a data source
// that was never added as a likely mistake.
func (p *Platform) AddData(dataSourceID string, entries ...document.Object) {
	p.test.Helper()
	p.dataSources.add(dataSource{DefaultApp, dataSourceID})
	if len(entries) == 0 {
		return
	}
	_, err := datasources.New(p.Runtime().Env(), record.Scope{App: DefaultApp}).UpsertDataToDataSource(
		testContext(), datasource.UpsertParams{DataSourceID: dataSourceID, Data: entries})
	if err != nil {
		p.test.Fatalf("fakes: AddData: %v", err)
	}
}

// Data returns the entries of a data source of DefaultApp, in the order in which they were added.
func (p *Platform) Data(dataSourceID string) []document.Object {
	p.test.Helper()
	found, err := datasources.New(p.Runtime().Env(), record.Scope{App: DefaultApp}).FetchDataFromDataSource(
		testContext(), datasource.FetchParams{DataSourceID: dataSourceID})
	if err != nil {
		p.test.Fatalf("fakes: Data: %v", err)
	}
	return found.Entries
}

// Sent returns all messages sent on the platform, in order.
func (p *Platform) Sent() []Sent { return p.outbox.all() }
