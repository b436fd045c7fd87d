package fakes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/display"
	"github.com/botctx/go-sdk/internal/operations"
)

// Fault is a failure, delay or repetition at a call of an operation or at a request to a service.
// Constructors such as Fails create one, At and Of select the call, and Platform.Inject plans it.
type Fault struct {
	// Op is the operation, or "" for requests to Service.
	Op      botctx.Op
	Service Service
	// Part is the id of one of the service's data sources, payment accounts or channels, or "" for the whole
	// service. App is its app; the default is DefaultApp.
	Part string
	App  string
	// Kind is the kind of fault, such as KindTimesOut.
	Kind Kind
	// Nth is the number of the call or request, counted from 1 when the fault is injected. 0 means the next
	// one that has no such fault yet. KindDown begins with that request; with 0, it begins at once.
	Nth int
	// Err is the error of KindFails and KindTimesOut: a boterr.Code or any other error. The default for
	// KindTimesOut is Unavailable.
	Err error
	// Reason is the provider's reason code for KindDeclines.
	Reason string
	// For is the virtual time that KindDelays adds or for which KindDown lasts from its beginning; for
	// KindDown, 0 means until Lift.
	For time.Duration
}

// Kind is a kind of fault.
type Kind int

// The kinds of faults.
const (
	// KindFails fails a call before it has any effect.
	KindFails Kind = iota
	// KindTimesOut carries a call out and loses its answer.
	KindTimesOut
	// KindDelays lets virtual time pass before a call does its work. The call may also have a failure.
	KindDelays
	// KindCrashes ends the process at a call, before the call has any effect.
	KindCrashes
	// KindCrashesAfter ends the process after a call has done its work, before its result is recorded.
	KindCrashesAfter
	// KindDeclines declines a charge of a payment account.
	KindDeclines
	// KindRepeats delivers an event from a platform twice: a message, or an event of a payment account.
	KindRepeats
	// KindDown takes a service, or a part of it, out of service.
	KindDown

	kindCount
)

// String returns the name of the kind, such as "timesOut".
func (k Kind) String() string {
	if k < 0 || k >= kindCount {
		return fmt.Sprintf("kind %d", int(k))
	}
	return [kindCount]string{"fails", "timesOut", "delays", "crashes", "crashesAfter", "declines", "repeats", "down"}[k]
}

// Fails makes a call of an operation, or a request to a service, fail with err before it has any effect. err
// is usually a boterr.Code.
func Fails[T botctx.Op | Service](of T, err error) Fault {
	return faultOf(of, Fault{Kind: KindFails, Err: err})
}

// TimesOut makes a call do its work and then return Unavailable, as if its answer were lost.
func TimesOut[T botctx.Op | Service](of T) Fault { return faultOf(of, Fault{Kind: KindTimesOut}) }

// Delays makes a call take virtual time before it does its work.
func Delays[T botctx.Op | Service](of T, late time.Duration) Fault {
	return faultOf(of, Fault{Kind: KindDelays, For: late})
}

// Crashes ends the process (see Platform.Crash) at a call, before the call has any effect.
func Crashes[T botctx.Op | Service](of T) Fault { return faultOf(of, Fault{Kind: KindCrashes}) }

// CrashesAfter ends the process (see Platform.Crash) after a call has done its work and before its result is
// stored. For an operation that sends several messages, that is after the first message.
func CrashesAfter[T botctx.Op | Service](of T) Fault {
	return faultOf(of, Fault{Kind: KindCrashesAfter})
}

// Declines makes the provider decline the next charge of a payment account, for a reason such as
// "insufficient_funds". A charge that repeats an earlier one by its IdempotencyKey does not count.
func Declines(account, reason string) Fault {
	return Fault{Service: ServicePayments, Part: account, Kind: KindDeclines, Reason: reason}
}

// Repeats delivers an event twice, like a platform that got no answer. With ServiceMessages it repeats a
// message to the bot under the same id; with ServicePayments, an event of a payment account.
func Repeats(from Service) Fault { return Fault{Service: from, Kind: KindRepeats} }

// Down takes a service out of service: requests to it fail with Unavailable and have no effect, until
// Platform.Lift or for the time given by Fault.Lasting. Methods with which the test itself adds and reads
// records, such as AddData, Data and Actor.Member, still work. Payment events that arose before the outage are
// still delivered.
func Down(out Service) Fault { return Fault{Service: out, Kind: KindDown} }

func faultOf(of any, made Fault) Fault {
	switch of := of.(type) {
	case botctx.Op:
		made.Op = of
	case Service:
		made.Service = of
	}
	return made
}

// At returns the fault for the nth call from now on, counted from 1.
func (f Fault) At(nth int) Fault {
	f.Nth = nth
	return f
}

// Lasting returns the outage limited to a span of virtual time.
func (f Fault) Lasting(long time.Duration) Fault {
	f.For = long
	return f
}

// Of returns the fault for one data source, payment account or channel of DefaultApp.
func (f Fault) Of(part string) Fault {
	f.Part = part
	return f
}

// OfApp is Of for a part that belongs to another app.
func (f Fault) OfApp(app, part string) Fault {
	f.App, f.Part = app, part
	return f
}

// String describes the fault for a reader, such as "sendResponse fails with Unavailable".
func (f Fault) String() string {
	where := f.where()
	switch f.Kind {
	case KindTimesOut:
		return where + " reports a time-out"
	case KindDelays:
		return fmt.Sprintf("%s takes %v", where, f.For)
	case KindCrashes:
		return "the process crashes at " + where
	case KindCrashesAfter:
		return "the process crashes after " + where
	case KindDeclines:
		return fmt.Sprintf("a charge of %s is declined: %s", f.part(), f.Reason)
	case KindRepeats:
		return "everything from " + f.part().String() + " arrives twice"
	case KindDown:
		if f.For > 0 {
			return fmt.Sprintf("%s is out of service for %v", f.part(), f.For)
		}
		return f.part().String() + " is out of service"
	case KindFails, kindCount:
	}
	if code, isCode := asCode(f.Err); isCode {
		return fmt.Sprintf("%s fails with %s", where, string(code))
	}
	return fmt.Sprintf("%s fails: %v", where, f.Err)
}

func (f Fault) where() string {
	if f.Op != "" {
		return string(f.Op)
	}
	return "a request to " + f.part().String()
}

// GoString returns the fault as Go source, such as fakes.TimesOut(botctx.OpSendResponse).At(2).
func (f Fault) GoString() string {
	of := f.Service.GoString()
	if f.Op != "" {
		of = "botctx.Op" + operations.GoName(string(f.Op))
	}
	var text string
	switch f.Kind {
	case KindFails:
		text = fmt.Sprintf("fakes.Fails(%s, %s)", of, goError(f.Err))
	case KindDelays:
		text = fmt.Sprintf("fakes.Delays(%s, %s)", of, display.GoDuration(f.For))
	case KindDeclines:
		text = fmt.Sprintf("fakes.Declines(%q, %q)", f.Part, f.Reason)
	default:
		name := f.Kind.String()
		text = fmt.Sprintf("fakes.%s(%s)", strings.ToUpper(name[:1])+name[1:], of)
	}
	switch {
	case f.App != "":
		text += fmt.Sprintf(".OfApp(%q, %q)", f.App, f.Part)
	case f.Part != "" && f.Kind != KindDeclines:
		text += fmt.Sprintf(".Of(%q)", f.Part)
	}
	if f.Kind == KindDown && f.For != 0 {
		text += fmt.Sprintf(".Lasting(%s)", display.GoDuration(f.For))
	}
	if f.Nth > 0 {
		text += fmt.Sprintf(".At(%d)", f.Nth)
	}
	return text
}

// asCode returns err if it is a bare code.
func asCode(err error) (code boterr.Code, isCode bool) {
	code, isCode = err.(boterr.Code) //nolint:errorlint // An error that wraps a code has more to show.
	return code, isCode
}

func goError(err error) string {
	if code, isCode := asCode(err); isCode {
		return "boterr." + string(code)
	}
	return fmt.Sprintf("errors.New(%q)", fmt.Sprint(err))
}

// equals compares two faults by their Go source, because == panics for some types of errors.
func (f Fault) equals(other Fault) bool { return f.GoString() == other.GoString() }

// part returns the service, or the part of one, whose requests fail.
func (f Fault) part() part {
	if f.Part == "" {
		return part{service: f.Service}
	}
	return part{f.Service, cmp.Or(f.App, DefaultApp), f.Part}
}

func (f Fault) isFailure() bool { return f.Kind != KindDelays }

// isCommitted reports whether the call does its work before it fails.
func (f Fault) isCommitted() bool { return f.Kind == KindTimesOut || f.Kind == KindCrashesAfter }

func (f Fault) isCrash() bool { return f.Kind == KindCrashes || f.Kind == KindCrashesAfter }

// err returns the error of a failing call. If the fault has only a code, reason is the error's message.
func (f Fault) err(reason string) error {
	failed := f.Err
	if failed == nil {
		failed = boterr.Unavailable
	}
	if code, isCode := asCode(failed); isCode {
		return boterr.New(code, "", "%s", reason)
	}
	return failed
}

// site is a place for a fault: an operation, or requests to a part of a service. Charges and events from a
// platform are counted separately, by their kind.
type site struct {
	op   botctx.Op
	at   part
	kind Kind
}

// isOf reports whether the fault is for calls at a site.
func (f Fault) isOf(at site) bool {
	return f.Op == at.op && f.Service == at.at.service && f.counted() == at.kind && (f.Part == "" || f.part() == at.at)
}

// counted returns the kind of a site that counts charges or events separately, or 0 for other sites.
func (f Fault) counted() Kind {
	if f.Kind == KindDeclines || f.Kind == KindRepeats {
		return f.Kind
	}
	return 0
}

// Injected is a planned fault. If no call meets it, the test fails at its end, because it did not test the
// fault; Optional allows that.
type Injected struct {
	isMet, isOptional atomic.Bool
}

// Optional lets the test pass if no call meets the fault.
func (i *Injected) Optional() { i.isOptional.Store(true) }

// Met reports whether a call met the fault.
func (i *Injected) Met() bool { return i.isMet.Load() }

// planned is a fault that is still to come or still lasts.
type planned struct {
	fault    Fault
	injected *Injected
	// after is the number of calls that succeed first.
	after int
	// isOut is true for an outage that has begun. until is its end, zero if it lasts until Lift.
	isOut bool
	until time.Time
}

// begins marks an outage as begun, and returns it.
func (p planned) begins(now time.Time) planned {
	p.isOut = true
	if p.fault.For > 0 {
		p.until = now.Add(p.fault.For)
	}
	return p
}

// lasts reports whether an outage has begun and not ended.
func (p planned) lasts(now time.Time) bool {
	return p.isOut && (p.until.IsZero() || now.Before(p.until))
}

// isSameCall reports whether two faults conflict at the same call. A call can have one failure and one delay.
func (p planned) isSameCall(other planned) bool {
	return p.after == other.after && p.fault.Op == other.fault.Op && p.fault.part() == other.fault.part() &&
		p.fault.counted() == other.fault.counted() && p.fault.isFailure() == other.fault.isFailure() &&
		(p.fault.Kind == KindDown) == (other.fault.Kind == KindDown) && p.isOut == other.isOut
}

// faults holds the faults that are still to come or still last.
type faults struct{ guarded[plannedFaults] }

type plannedFaults []planned

func (f plannedFaults) clone() plannedFaults { return slices.Clone(f) }

// add plans a fault. It reports false if the call already has one of its kind.
func (f *faults) add(added planned) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	has := func() bool { return slices.ContainsFunc(f.kept, added.isSameCall) }
	switch {
	case added.isOut: // It replaces an outage that lasts.
		f.kept = slices.DeleteFunc(f.kept, added.isSameCall)
	case added.fault.Nth > 0 && has():
		return false
	case added.fault.Nth == 0:
		for has() {
			added.after++
		}
	}
	f.kept = append(f.kept, added)
	return true
}

// due is the faults of one call: a delay and a failure, each nil if there is none, and the outages that
// begin with it.
type due struct {
	late, failure *Fault
	outages       []Fault
}

// take returns the faults of a call at a site. It counts the call for the faults that are still to come.
func (f *faults) take(at site, now time.Time) due {
	f.mu.Lock()
	defer f.mu.Unlock()
	var met due
	left := f.kept[:0]
	for _, known := range f.kept {
		switch {
		case !known.fault.isOf(at) || known.isOut:
		case known.after > 0:
			known.after--
		case known.fault.Kind == KindDown:
			known = known.begins(now)
			met.outages = append(met.outages, known.fault)
		case met.add(known):
			continue
		}
		left = append(left, known)
	}
	f.kept = left
	return met
}

// add records that the call meets a fault. It reports false if the call already has such a fault, which
// leaves the new one for the next call.
func (d *due) add(met planned) bool {
	which := &d.failure
	if !met.fault.isFailure() {
		which = &d.late
	}
	if *which != nil {
		return false
	}
	*which = &met.fault
	met.injected.isMet.Store(true)
	return true
}

// Inject plans a fault. Injecting it twice affects two calls. A call must meet the fault before the test
// ends, on this platform or a fork, unless the fault is an outage that begins at once. Requests to a service
// include the SDK's own requests within an operation, which may change from version to version.
//
//	p.Inject(fakes.Fails(botctx.OpSendResponse, boterr.Unavailable))          // The next call.
//	p.Inject(fakes.Fails(botctx.OpSendResponse, boterr.Unavailable).At(3))    // The third from now on.
//	p.Inject(fakes.Down(fakes.ServicePayments).Of("shop"))                    // Until Lift.
//	p.Inject(fakes.Down(fakes.ServiceMail).Lasting(time.Hour).At(2))          // From the second request on.
//
// It ends the test if the fault names an unknown operation, service, channel or account, or sets a field that its kind
// does not use. A data source need not exist yet.
func (p *Platform) Inject(fault Fault) *Injected {
	p.test.Helper()
	p.checkFault(fault)
	added := planned{fault: fault, injected: &Injected{}, after: max(0, fault.Nth-1)}
	if fault.Kind == KindDown && fault.Nth == 0 {
		p.faults.add(added.begins(p.Now()))
		p.notef("disconnected: %s", fault.part())
		return added.injected
	}
	p.mustBeMet(added)
	if !p.faults.add(added) {
		p.test.Fatalf("fakes: call %d of %s has such a fault already: choose another call with At", fault.Nth, fault.where())
	}
	return added.injected
}

// Lift removes an injected fault that no call has met. Lifting Down ends the outage. If there is no such
// fault, Lift does nothing.
func (p *Platform) Lift(fault Fault) {
	p.test.Helper()
	p.checkFault(fault)
	p.faults.mu.Lock()
	for _, known := range p.faults.kept {
		if known.fault.equals(fault) {
			known.injected.Optional()
		}
	}
	p.faults.kept = slices.DeleteFunc(p.faults.kept, func(known planned) bool {
		return known.fault.equals(fault) || fault.Kind == KindDown && known.fault.Kind == KindDown && known.fault.part() == fault.part()
	})
	p.faults.mu.Unlock()
	if fault.Kind == KindDown {
		p.notef("connected again: %s", fault.part())
	}
}

// mustBeMet fails the test at its end if no call has met a fault.
func (p *Platform) mustBeMet(added planned) {
	what, where := added.fault.String(), callerOfFakes()
	if added.fault.Nth > 0 {
		what = fmt.Sprintf("call %d from there on: %s", added.fault.Nth, what)
	}
	p.test.Cleanup(func() {
		if p.test.Failed() || added.injected.isMet.Load() || added.injected.isOptional.Load() {
			return
		}
		p.test.Fatalf("fakes: nothing met the fault of %s, %s: make the call that it is for, Lift it, or call Optional on it", where, what)
	})
}

// callerOfFakes returns the file and line that called into this package.
func callerOfFakes() string {
	const most = 16 // A call chain from a test is shorter than this.
	callers := make([]uintptr, most)
	frames := runtime.CallersFrames(callers[:runtime.Callers(1, callers)])
	for {
		frame, more := frames.Next()
		if !more || !strings.HasPrefix(frame.Function, "github.com/botctx/go-sdk/fakes.") {
			return fmt.Sprintf("%s:%d", filepath.Base(frame.File), frame.Line)
		}
	}
}

// checkFault ends the test if a fault is malformed or names an unknown operation, service or part.
func (p *Platform) checkFault(f Fault) {
	p.test.Helper()
	p.checkWhere(f)
	code, isCode := asCode(f.Err)
	switch {
	case f.Kind < 0 || f.Kind >= kindCount:
		p.test.Fatalf("fakes: there is no %s of fault: use a constructor such as Fails", f.Kind)
	case f.Nth < 0:
		p.test.Fatalf("fakes: calls are counted from 1, got %d", f.Nth)
	case f.unused() != "":
		p.test.Fatalf("fakes: %s is set, but the kind %s does not use it: leave it out", f.unused(), f.Kind)
	case f.Kind == KindDelays && f.For <= 0:
		p.test.Fatalf("fakes: a call cannot be delayed by %v: give a positive duration", f.For)
	case f.For < 0:
		p.test.Fatalf("fakes: an outage cannot last %v: give a positive duration, or 0 for an outage until Lift", f.For)
	case f.Kind == KindFails && f.Err == nil:
		p.test.Fatalf("fakes: %s needs an error to fail with: got nil, give a boterr.Code or another error", f.where())
	case isCode && !slices.Contains(boterr.Codes(), code):
		p.test.Fatalf("fakes: there is no code %q: give a constant of package boterr, such as boterr.Unavailable", string(code))
	case f.Kind == KindRepeats && f.Service != ServiceMessages && f.Service != ServicePayments:
		p.test.Fatalf("fakes: no events come from %s that could be repeated: give ServiceMessages or ServicePayments", f.Service)
	}
}

// unused returns the name of a field that is set although the fault's kind does not use it, or "".
func (f Fault) unused() string {
	switch {
	case f.Err != nil && f.Kind != KindFails && f.Kind != KindTimesOut:
		return "Err"
	case f.Reason != "" && f.Kind != KindDeclines:
		return "Reason"
	case f.For != 0 && f.Kind != KindDelays && f.Kind != KindDown:
		return "For"
	case f.App != "" && f.Part == "":
		return "App"
	default:
		return ""
	}
}

// checkWhere ends the test if a fault names an unknown operation, service or part.
func (p *Platform) checkWhere(f Fault) {
	p.test.Helper()
	switch {
	case f.Op != "" && !f.Op.Exists():
		p.test.Fatalf("fakes: there is no operation %q: give a constant of package botctx, such as botctx.OpGetMember", f.Op)
	case !f.Service.exists():
		p.test.Fatalf("fakes: there is no %s: give a constant such as ServiceMail", f.Service)
	case f.Op != "" && (f.Service != 0 || f.Part != "" || f.App != "" || f.Kind > KindCrashesAfter):
		p.test.Fatalf("fakes: a fault needs either an operation or a service with an optional part, got %#v", f)
	case f.Part != "":
		p.mustHavePart(f.part())
	}
}

// mustHavePart ends the test if a service has no such part.
func (p *Platform) mustHavePart(of part) {
	p.test.Helper()
	switch of.service {
	case ServiceDataSources:
	case ServiceMessages:
		if p.typeOf(of.app, of.id) == "" {
			p.test.Fatalf("fakes: there is no channel %q in %s: add it with AddChannel first", of.id, of.app)
		}
	case ServicePayments:
		if !p.payments.has(accountKey{of.app, of.id}) {
			p.test.Fatalf("fakes: there is no payment account %q in %s: add it with AddAccountOf first", of.id, of.app)
		}
	default:
		p.test.Fatalf("fakes: %s has no parts such as %q: leave out Of", of.service, of.id)
	}
}

// Planned returns the faults of calls that are still to come, in the order in which they were planned, each
// as a sentence such as "sendResponse fails with Unavailable".
func (p *Platform) Planned() []string { return p.sentences(func(planned) bool { return true }) }

// Unmet returns the planned faults that no call has met yet, except optional ones. The test fails at its end if any
// remain.
func (p *Platform) Unmet() []string {
	return p.sentences(func(one planned) bool { return !one.injected.isOptional.Load() })
}

func (p *Platform) sentences(isMeant func(planned) bool) []string {
	var texts []string
	for _, one := range p.faults.state() {
		if one.isOut || !isMeant(one) {
			continue
		}
		text := one.fault.String()
		if one.after > 0 {
			text = fmt.Sprintf("call %d from now on: %s", one.after+1, text)
		}
		texts = append(texts, text)
	}
	return texts
}

// Outages returns what is out of service now, such as "mail" or "the channel shop", in the order in which the
// outages were planned.
func (p *Platform) Outages() []string {
	var out []string
	for _, one := range p.faults.state() {
		if one.lasts(p.Now()) {
			out = append(out, one.fault.part().String())
		}
	}
	return out
}

// downErr returns the error of a part that is out of service, or nil if it is in service.
func (p *Platform) downErr(asked part) error {
	for _, one := range p.faults.state() {
		out := one.fault.part()
		if one.lasts(p.Now()) && out.has(asked) {
			one.injected.isMet.Store(true)
			return boterr.New(boterr.Unavailable, "", "the test has disconnected %s", out)
		}
	}
	return nil
}

// part is a service, or one part of it.
type part struct {
	service Service
	// app and id name a part, such as a data source. They are "" for the whole service.
	app, id string
}

// has reports whether o includes the asked part. The store includes all data sources.
func (o part) has(asked part) bool {
	return o == asked || o.id == "" && (o.service == asked.service || o.service == ServiceStore && asked.service == ServiceDataSources)
}

// String returns the part's name for readers.
func (o part) String() string {
	switch {
	case o.id == "":
		return o.service.String()
	case o.service == ServiceDataSources:
		return "the data source " + o.id
	case o.service == ServiceMessages:
		return "the channel " + o.id
	default:
		return "the account " + o.id
	}
}

// meet begins the planned outages of a call at a site, and lets the time of a delay pass. It returns the planned failure,
// or nil for none. name returns the name of the call.
func (p *Platform) meet(at site, name func() string) *Fault {
	due := p.faults.take(at, p.Now())
	for _, out := range due.outages {
		p.notef("disconnected: %s", out.part())
	}
	if due.late != nil {
		p.clock.advance(due.late.For)
		p.notef("%s takes %v", name(), due.late.For)
	}
	return due.failure
}

// carryOut carries a call out, with its planned faults.
func (p *Platform) carryOut(ctx context.Context, call *botctx.Call, next botctx.Next) (any, error) {
	failed := p.meet(site{op: call.Op}, func() string { return string(call.Op) })
	switch {
	case failed == nil:
		return next(ctx)
	case failed.Kind == KindCrashesAfter:
		_, _ = next(context.WithValue(ctx, endsWithSend{}, true)) // The process has crashed, so the result is lost.
		fallthrough
	case failed.Kind == KindCrashes:
		p.Crash()
		return nil, errCrashed()
	case !failed.isCommitted():
		return nil, failed.err("the test makes this call fail")
	}
	result, err := next(ctx)
	if err == nil {
		return nil, failed.err("the test makes this call report a time-out, although it was carried out")
	}
	return result, err
}

// twice delivers an event, and a second time if the test has planned a repetition.
func (p *Platform) twice(from part, deliver func() error) error {
	for _, call := range p.settings.onArrival {
		call(from.service)
	}
	err := deliver()
	if p.faults.take(site{at: from, kind: KindRepeats}, p.Now()).failure != nil {
		p.notef("%s repeats it", from)
		err = errors.Join(err, deliver())
	}
	return err
}

// endsWithSend marks a call in which the process crashes after its first message.
type endsWithSend struct{}

// hasSent crashes the process after a sent message if the test has planned that.
func (o *outbox) hasSent(ctx context.Context) {
	if ctx.Value(endsWithSend{}) != nil {
		o.platform.Crash()
	}
}
