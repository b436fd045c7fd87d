package fakes

import (
	"context"
	"time"

	"github.com/botctx/go-sdk/boterr"
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

// request returns the request.
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

// contextIn returns the context of what is run in a process.
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
	p.begins(ctx, asked)
	due := p.faults.take(target{isRequest: true, service: asked.service})
	if due.late.late > 0 {
		p.clock.advance(due.late.late)
		p.notef("%s takes %v", asked.request(), due.late.late)
	}
	failed := due.failure
	if !failed.isFailure() {
		return carryOut()
	}
	if failed.committed {
		result, err = carryOut()
	}
	if failed.crashes {
		p.Crash()
		var none T
		return none, errCrashed()
	}
	if err != nil {
		return result, err
	}
	p.notef("%s ! %s", asked.request(), failed)
	var none T
	return none, boterr.New(failed.code, "", "the test makes the request fail: %s", asked.request())
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

// planRequest plans a fault for the nth request to a service.
func (p *Platform) planRequest(to Service, n int, planned fault) *Fault {
	p.test.Helper()
	p.mustExist(to)
	planned.at = target{isRequest: true, service: to}
	return p.planNth(planned, n)
}
