package fakes

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
)

// Request is one request to a service behind the operations, such as the store, a messaging platform or a
// mail service. It includes requests made inside the SDK.
type Request struct {
	// Service is the service asked. It is ServiceDataSources for a request to the store about a data source.
	Service Service
	// Name describes the request to a reader: "find members", "send to external-ada", "charge shop".
	Name string
}

// String returns Name.
func (r Request) String() string { return r.Name }

// asking is a request whose name is built on demand from its kind, such as "send to", and its recipient.
type asking struct {
	at       part
	what, of string
}

func (a asking) request() Request { return Request{a.at.service, a.what + " " + a.of} }

// OnRequest sets a function to be called before each request to a service of the platform, in the requesting
// goroutine and before the request's faults. It may block, so that a test can decide on the order of events.
// Reads and writes by the test itself are not requests. Several functions are called in order.
func OnRequest(call func(ctx context.Context, asked Request)) Option {
	return func(s *settings) { s.onRequest = append(s.onRequest, call) }
}

// OnArrival sets a function to be called with the service before each event from it that is delivered to the
// bot: ServiceMessages for a message, ServicePayments for an event of a payment account. The repetition of an
// event by the fault Repeats does not count. Several functions are called in order.
func OnArrival(call func(from Service)) Option {
	return func(s *settings) { s.onArrival = append(s.onArrival, call) }
}

// Within sets a function that derives the context in which the bot runs from the context of its process. It
// may add values for interceptors and OnRequest. It is called in the goroutine in which a member or agent
// writes or the time moves. The last call of Within counts.
func Within(made func(ctx context.Context) context.Context) Option {
	return func(s *settings) { s.within = made }
}

// PausingAtOnce makes pauses take no real time, so that no other goroutine runs during them. It is for tests
// that schedule goroutines themselves.
func PausingAtOnce() Option { return func(s *settings) { s.pause = skipping } }

func (p *Platform) contextIn(at *process) context.Context {
	if p.settings.within == nil {
		return at.life
	}
	return p.settings.within(at.life)
}

// requested makes a request to a service, with its planned faults.
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

// request begins a request to a service. A planned failure is returned at once or, if the request must be
// carried out first, by end.
func (p *Platform) request(ctx context.Context, asked asking) (end func(documents int, err error) error, err error) {
	for _, call := range p.settings.onRequest {
		call(ctx, asked.request())
	}
	failed := p.meet(site{at: asked.at}, func() string { return asked.request().Name })
	if failed == nil {
		return nil, nil
	}
	fail := func(_ int, err error) error {
		switch {
		case failed.isCrash():
			p.Crash()
			return errCrashed()
		case err != nil:
			return err
		default:
			p.notef("%s ! %s", asked.request(), failed)
			return failed.err("the test makes the request fail: " + asked.request().String())
		}
	}
	if failed.isCommitted() {
		return fail, nil
	}
	return nil, fail(0, nil)
}

// Service is a service behind the operations that can be out of service, such as the mail service.
type Service int

// The services of a platform. Outages affect the platform's own services and any store. They do not affect a mailer,
// an object store, payment accounts or HTTP that Config has replaced.
const (
	// ServiceStore is the store of all records, including data sources.
	ServiceStore Service = iota
	// ServiceDataSources are all data sources. The rest of the store keeps working.
	ServiceDataSources
	// ServiceMail sends mails.
	ServiceMail
	// ServiceFiles is the object store for uploaded files.
	ServiceFiles
	// ServicePayments are all payment accounts.
	ServicePayments
	// ServiceHTTP is the web as answered by Platform.HTTP.
	ServiceHTTP
	// ServiceMessages are the messaging platforms of all channels.
	ServiceMessages

	serviceCount
)

// String returns the service's name in errors and transcripts.
func (s Service) String() string {
	if !s.exists() {
		return fmt.Sprintf("service %d", int(s))
	}
	return [serviceCount]string{"the store", "data sources", "mail", "files", "payments", "HTTP", "the messaging platforms"}[s]
}

// GoString returns the service as Go source, such as fakes.ServiceMail.
func (s Service) GoString() string {
	if !s.exists() {
		return fmt.Sprintf("fakes.Service(%d)", int(s))
	}
	return "fakes.Service" + [serviceCount]string{"Store", "DataSources", "Mail", "Files", "Payments", "HTTP", "Messages"}[s]
}

func (s Service) exists() bool { return s >= 0 && s < serviceCount }

// ofTheTest marks contexts of requests made by the test itself.
type ofTheTest struct{}

// testContext returns the context for the test's own reads and writes; see Observing.
func testContext() context.Context { return Observing(context.Background()) }

// Observing returns a context for reading the records of a Runtime's services, as a test or a page does.
// Outages and crashes do not affect such calls, and faults of requests do not count them.
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

// storeOf wraps the store for the Runtime of a process. It can be taken out of service, and stores nothing
// after the process has crashed. The test's own reads and writes do not count as requests.
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
		if call.Collection == "" {
			return ctx, nil, p.downErr(part{service: ServiceStore})
		}
		asked := partOf(call.Collection)
		end, err := p.request(ctx, asking{asked, call.Method, call.Collection})
		if err == nil {
			err = p.downErr(asked)
		}
		if err != nil && end != nil {
			err = end(0, err)
		}
		if err != nil {
			return ctx, nil, err
		}
		return ctx, end, nil
	})
}

// partOf returns the part of a service for a collection. A data source, "data/APP/ID", is a separate part.
func partOf(collection string) part {
	app, id, isOfAnApp := strings.Cut(strings.TrimPrefix(collection, "data/"), "/")
	if !isOfAnApp || !strings.HasPrefix(collection, "data/") {
		return part{service: ServiceStore}
	}
	return part{ServiceDataSources, unescaped(app), unescaped(id)}
}

func unescaped(segment string) string {
	if text, err := url.QueryUnescape(segment); err == nil {
		return text
	}
	return segment
}
