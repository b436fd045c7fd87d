package fakes

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
)

// Request is one request to a service behind the operations: what an operation asks the store, a
// messaging platform or a mail service for, also inside the SDK.
type Request struct {
	// Service is whom it is for: ServiceDataSources for the store where it is about a data source.
	Service Service
	// Name tells a reader what is asked for: "find members", "send to external-ada", "charge shop".
	Name string
}

// String returns the request for a reader.
func (r Request) String() string { return r.Name }

// asking is a request of which the name is made where somebody is told of it: what is asked, such as
// "send to", and of whom.
type asking struct {
	service  Service
	what, of string
}

func (a asking) request() Request { return Request{a.service, a.what + " " + a.of} }

// OnRequest sets a function that is called before each request to a service of the platform, on the
// goroutine that makes it, and before the request's faults: it may wait, so that a test decides what
// happens when. What the test itself adds and looks at is no request. Several are called in their order.
func OnRequest(call func(ctx context.Context, asked Request)) Option {
	return func(s *settings) { s.onRequest = append(s.onRequest, call) }
}

// Within sets a function that returns the context in which the bot runs, made from that of its process: it
// may add values, for interceptors and OnRequest to find. It is called on the goroutine that lets a member
// or an agent say something, or moves the time. The last one counts.
func Within(made func(ctx context.Context) context.Context) Option {
	return func(s *settings) { s.within = made }
}

// PausingAtOnce makes pauses take no real time, in which others could go on: for a test that decides itself
// who goes on when.
func PausingAtOnce() Option { return func(s *settings) { s.pause = skipping } }

func (p *Platform) contextIn(at *process) context.Context {
	if p.settings.within == nil {
		return at.life
	}
	return p.settings.within(at.life)
}

// begins tells who wants to know that a request begins.
func (p *Platform) begins(ctx context.Context, asked asking) {
	for _, call := range p.settings.onRequest {
		call(ctx, asked.request())
	}
}

// requested makes a request to a service, with the faults that the test has planned for it.
func requested[T any](ctx context.Context, p *Platform, asked asking, carryOut func() (T, error)) (result T, err error) {
	end, err := p.request(ctx, asked)
	if err != nil {
		return result, err
	}
	made, err := carryOut()
	if end == nil {
		return made, err
	}
	return result, end(0, err)
}

// request begins a request to a service. Where the test has planned that it fails, it fails now or, where it is to be
// carried out before, by the function that it returns.
func (p *Platform) request(ctx context.Context, asked asking) (end func(documents int, err error) error, err error) {
	p.begins(ctx, asked)
	due := p.faults.take(target{isRequest: true, service: asked.service})
	if due.late.late > 0 {
		p.clock.advance(due.late.late)
		p.notef("%s takes %v", asked.request(), due.late.late)
	}
	failed := due.failure
	if !failed.isFailure() {
		return nil, nil
	}
	fail := func(_ int, err error) error {
		switch {
		case failed.crashes:
			p.Crash()
			return errCrashed()
		case err != nil:
			return err
		default:
			p.notef("%s ! %s", asked.request(), failed)
			return boterr.New(failed.code, "", "the test makes the request fail: %s", asked.request())
		}
	}
	if failed.committed {
		return fail, nil
	}
	return nil, fail(0, nil)
}

// FailNthRequest makes the nth request to a service from now on fail with a code, counted from 1, before
// anything is done. It is the request that fails, within the operation that makes it: of a send to
// several, one recipient is not reached. Requests of the SDK itself count, too, such as those for the
// member of a run. Of the messaging platforms only messages that are sent one by one count.
func (p *Platform) FailNthRequest(to Service, n int, code boterr.Code) *Fault {
	p.test.Helper()
	return p.planRequest(to, n, fault{code: code})
}

// TimeOutNthRequest makes the nth request to a service from now on, counted from 1, be carried out and
// then report Unavailable, as where its answer is lost on its way.
func (p *Platform) TimeOutNthRequest(to Service, n int) *Fault {
	p.test.Helper()
	return p.planRequest(to, n, fault{code: boterr.Unavailable, committed: true})
}

// DelayNthRequest makes the nth request to a service from now on, counted from 1, take virtual time
// before it is carried out.
func (p *Platform) DelayNthRequest(to Service, n int, late time.Duration) *Fault {
	p.test.Helper()
	return p.planRequest(to, n, p.delaying("", late))
}

// CrashNthRequest ends the process, see Crash, at the nth request to a service from now on, counted from
// 1, before it is carried out.
func (p *Platform) CrashNthRequest(to Service, n int) *Fault {
	p.test.Helper()
	return p.planRequest(to, n, fault{crashes: true})
}

// CrashAfterNthRequest ends the process, see Crash, when the nth request to a service from now on, counted
// from 1, was carried out, and nobody has heard that.
func (p *Platform) CrashAfterNthRequest(to Service, n int) *Fault {
	p.test.Helper()
	return p.planRequest(to, n, fault{crashes: true, committed: true})
}

func (p *Platform) planRequest(to Service, n int, planned fault) *Fault {
	p.test.Helper()
	p.mustExist(to)
	planned.at = target{isRequest: true, service: to}
	return p.planNth(planned, n)
}

// Service is what bot logic works with beside the channels, and can be out of service.
type Service int

// The services of a platform. Those of the platform's own are meant: what Config put in the place
// of a mailer, an object store, accounts or HTTP is not asked whether it is out of service. Any
// store is.
const (
	// ServiceStore is the store with all records, those of data sources included.
	ServiceStore Service = iota
	// ServiceDataSources are all data sources. The rest of the store goes on.
	ServiceDataSources
	// ServiceMail sends mails.
	ServiceMail
	// ServiceFiles is the object store for uploaded files.
	ServiceFiles
	// ServicePayments are all payment accounts.
	ServicePayments
	// ServiceHTTP is the web: whatever Platform.HTTP answers.
	ServiceHTTP
	// ServiceMessages are the messaging platforms of all channels.
	ServiceMessages

	serviceCount
)

// String returns what the service is called in errors and transcripts.
func (s Service) String() string {
	if !s.exists() {
		return fmt.Sprintf("service %d", int(s))
	}
	return [serviceCount]string{"the store", "data sources", "mail", "files", "payments", "HTTP", "the messaging platforms"}[s]
}

func (s Service) exists() bool { return s >= 0 && s < serviceCount }

// outage is what is out of service: a service, or one part of it.
type outage struct {
	service Service
	// app and part name a part, such as a data source. They are "" for all of the service.
	app, part string
}

// String returns what is out of service, for readers.
func (o outage) String() string {
	switch {
	case o.part == "":
		return o.service.String()
	case o.service == ServiceDataSources:
		return "the data source " + o.part
	default:
		return "the account " + o.part
	}
}

// outages are what a test has disconnected and not reconnected yet.
type outages struct {
	mu   sync.Mutex
	list map[outage]bool
}

// err returns why a part of a service does not answer, nil where it does.
func (o *outages) err(asked outage) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, out := range []outage{{service: asked.service}, asked} {
		if o.list[out] {
			return boterr.New(boterr.Unavailable, "", "the test has disconnected %s", out)
		}
	}
	return nil
}

func (o *outages) add(out outage) {
	o.mu.Lock()
	defer o.mu.Unlock()
	put(&o.list, out, true)
}

func (o *outages) remove(out outage) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.list, out)
}

func (o *outages) all() map[outage]bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return copyOfMap(o.list)
}

func (o *outages) set(list map[outage]bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.list = list
}

// DisconnectService takes a service out of service: whatever it is asked for is Unavailable, and
// not done, until ReconnectService. What the test itself adds and looks at, such as AddData, Data
// and Actor.Member, is there all the same.
func (p *Platform) DisconnectService(out Service) {
	p.test.Helper()
	p.mustExist(out)
	p.disconnect(outage{service: out})
}

// ReconnectService makes a service answer again.
func (p *Platform) ReconnectService(out Service) {
	p.test.Helper()
	p.mustExist(out)
	p.reconnect(outage{service: out})
}

// DisconnectDataSource is DisconnectService for one data source of DefaultApp.
func (p *Platform) DisconnectDataSource(id string) {
	p.disconnect(outage{ServiceDataSources, DefaultApp, id})
}

// ReconnectDataSource makes a data source of DefaultApp answer again.
func (p *Platform) ReconnectDataSource(id string) {
	p.reconnect(outage{ServiceDataSources, DefaultApp, id})
}

// Disconnect is Platform.DisconnectService for one account: each request is Unavailable, until
// Reconnect. Events of what happened before are delivered.
func (a *Account) Disconnect() { a.platform.disconnect(a.outage()) }

// Reconnect makes the account answer again.
func (a *Account) Reconnect() { a.platform.reconnect(a.outage()) }

func (a *Account) outage() outage { return outage{ServicePayments, a.key.app, a.key.name} }

func (p *Platform) mustExist(s Service) {
	p.test.Helper()
	if !s.exists() {
		p.test.Fatalf("fakes: there is no %s: give a constant such as ServiceMail", s)
	}
}

func (p *Platform) disconnect(out outage) {
	p.outages.add(out)
	p.notef("disconnected: %s", out)
}

func (p *Platform) reconnect(out outage) {
	p.outages.remove(out)
	p.notef("connected again: %s", out)
}

// ofTheTest marks what a test itself asks the store for.
type ofTheTest struct{}

// testContext returns the context of what the test itself adds and looks at, see Observing.
func testContext() context.Context { return Observing(context.Background()) }

// Observing returns a context for looking at what the services of a Runtime hold, as a test or a page does beside
// the bot: no outage and no crash keeps such a call from the store, and faults of requests do not count it.
//
//	p.Runtime().FindAssignments(fakes.Observing(ctx), fakes.DefaultApp, botctx.Query{})
//
// Operations of a Context are still refused once the process has crashed.
func Observing(ctx context.Context) context.Context { return context.WithValue(ctx, ofTheTest{}, true) }

type watchedStore struct {
	store.Store
	store.Watcher
	process *process
}

func (w watchedStore) Watch(
	collection string, changed func(before, after document.Object), reset func(),
) (stop func()) {
	stop = w.Watcher.Watch(collection, changed, reset)
	w.process.watches(stop)
	return stop
}

// storeOf returns what the Runtime of a process has in the place of a store: it can be taken out of
// service, and stores nothing after the process has crashed. What the test asks for itself counts as no request.
func (p *Platform) storeOf(inner store.Store, by *process) store.Store {
	if watcher, ok := inner.(store.Watcher); ok {
		inner = watchedStore{inner, watcher, by}
	}
	return store.Wrap(inner, func(ctx context.Context, call store.Call) (context.Context, func(int, error) error, error) {
		if ctx.Value(ofTheTest{}) != nil {
			return ctx, nil, nil
		}
		if err := by.err(); err != nil {
			return ctx, nil, err
		}
		if err := p.outages.err(outage{service: ServiceStore}); err != nil || call.Collection == "" {
			return ctx, nil, err
		}
		asked := outageOf(call.Collection)
		if err := p.outages.err(asked); err != nil {
			return ctx, nil, err
		}
		end, err := p.request(ctx, asking{asked.service, call.Method, call.Collection})
		return ctx, end, err
	})
}

// outageOf returns what has to be out of service so that a collection is: a data source has one of
// its own, "data/APP/ID".
func outageOf(collection string) outage {
	app, id, isOfAnApp := strings.Cut(strings.TrimPrefix(collection, "data/"), "/")
	if !isOfAnApp || !strings.HasPrefix(collection, "data/") {
		return outage{service: ServiceStore}
	}
	return outage{ServiceDataSources, unescaped(app), unescaped(id)}
}

func unescaped(part string) string {
	if text, err := url.QueryUnescape(part); err == nil {
		return text
	}
	return part
}
