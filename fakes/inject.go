package fakes

import (
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
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/send"
)

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
	// hasBegun is true for a lasting fault that has begun. until is its end, zero if it lasts until Lift.
	hasBegun bool
	until    time.Time
	// taken are the times of the latest messages that a limit has let through, the oldest first, at most as many
	// as it allows. Snapshots share them.
	taken []time.Time
}

// begins marks a lasting fault as begun, and returns it.
func (p planned) begins(now time.Time) planned {
	p.hasBegun = true
	if p.fault.For > 0 {
		p.until = now.Add(p.fault.For)
	}
	return p
}

// lasts reports whether a lasting fault has begun and not ended.
func (p planned) lasts(now time.Time) bool {
	return p.hasBegun && (p.until.IsZero() || now.Before(p.until))
}

// isSameCall reports whether two faults conflict at the same call. A call can have one failure, and one fault of each
// other kind.
func (p planned) isSameCall(other planned) bool {
	mine, theirs := p.fault, other.fault
	if mine.isFailure() && theirs.isFailure() {
		mine.Kind = theirs.Kind
	}
	return p.after == other.after && p.hasBegun == other.hasBegun && mine.isAt(theirs)
}

// isFailure reports whether the fault is a failure of the call itself.
func (f Fault) isFailure() bool { return f.Kind <= KindCrashesAfter && f.Kind != KindDelays }

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
	case added.hasBegun:
		f.begin(added)
		return true
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

// begin adds a lasting fault that has begun. It replaces one that lasts. The caller holds the mutex.
func (f *faults) begin(begun planned) {
	f.kept = append(slices.DeleteFunc(f.kept, begun.isSameCall), begun)
}

// due is the faults of one call: a delay and a failure, each nil if there is none, and the lasting faults that
// begin with it.
type due struct {
	late, failure *Fault
	begun         []planned
}

// take returns the faults of a call at a site. It counts the call for the faults that are still to come.
func (f *faults) take(at site, now time.Time) due {
	f.mu.Lock()
	defer f.mu.Unlock()
	var met due
	left := f.kept[:0]
	for _, known := range f.kept {
		switch {
		case !known.fault.isOf(at) || known.hasBegun:
		case known.after > 0:
			known.after--
		case known.fault.Kind.lasts():
			met.begun = append(met.begun, known.begins(now))
			continue
		case met.add(known):
			continue
		}
		left = append(left, known)
	}
	f.kept = left
	for _, begun := range met.begun {
		f.begin(begun)
	}
	return met
}

// add records that the call meets a fault. It reports false if the call already has such a fault, which
// leaves the new one for the next call.
func (d *due) add(met planned) bool {
	which := &d.failure
	if met.fault.Kind == KindDelays {
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
// ends, on this platform or a fork, unless the fault is a lasting one that begins at once. Requests to a service
// include the SDK's own requests within an operation, which may change from version to version. When a lasting
// fault begins, it replaces an earlier one of its kind, at the same place and for the same recipient.
//
//	p.Inject(fakes.Fails(botctx.OpSendResponse, boterr.Unavailable))          // The next call.
//	p.Inject(fakes.Fails(botctx.OpSendResponse, boterr.Unavailable).At(3))    // The third from now on.
//	p.Inject(fakes.Down(fakes.ServicePayments).Of("shop"))                    // Until Lift.
//	p.Inject(fakes.Down(fakes.ServiceMail).Lasting(time.Hour).At(2))          // From the second request on.
//	p.Inject(fakes.Refuses(ada, boterr.FailedPrecondition))                   // Messages to Ada, until Lift.
//
// It ends the test if the fault names an unknown operation, service, channel or account, or sets a field that its kind
// does not use. A data source need not exist yet.
func (p *Platform) Inject(fault Fault) *Injected {
	p.test.Helper()
	fault = p.placed(fault)
	p.checkFields(fault)
	added := planned{fault: fault, injected: &Injected{}, after: max(0, fault.Nth-1)}
	if fault.Kind.lasts() && fault.Nth == 0 {
		p.faults.add(added.begins(p.Now()))
		p.noteBegin(fault)
		return added.injected
	}
	p.mustBeMet(added)
	if !p.faults.add(added) {
		p.test.Fatalf("fakes: call %d of %s has such a fault already: choose another call with At", fault.Nth, fault.where())
	}
	return added.injected
}

// Lift removes an injected fault that no call has met, and ends a lasting fault. For lasting faults, only the kind,
// the place and the recipient count, and not the error or numbers. If there is no such fault, Lift does nothing.
func (p *Platform) Lift(fault Fault) {
	p.test.Helper()
	fault = p.placed(fault)
	p.faults.mu.Lock()
	p.faults.kept = slices.DeleteFunc(p.faults.kept, func(known planned) bool {
		isLifted := known.fault.equals(fault) || fault.Kind.lasts() && known.fault.isAt(fault)
		if isLifted {
			known.injected.Optional()
		}
		return isLifted
	})
	p.faults.mu.Unlock()
	switch fault.Kind {
	case KindDown:
		p.notef("connected again: %s", fault.part())
	case KindRefuses:
		p.notef("%s takes messages to %s", fault.part(), fault.To)
	case KindLimits:
		p.notef("%s takes messages without a limit", fault.part())
	default:
	}
}

// noteBegin records the beginning of a lasting fault in the transcript.
func (p *Platform) noteBegin(fault Fault) {
	if fault.Kind == KindDown {
		p.notef("disconnected: %s", fault.part())
		return
	}
	p.notef("%s", fault)
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

// checkFields ends the test if a field of a fault has a value that its kind does not allow.
func (p *Platform) checkFields(f Fault) {
	p.test.Helper()
	code, isCode := asCode(f.Err)
	needsErr := f.Kind == KindFails || f.Kind == KindRefuses
	switch {
	case f.Nth < 0:
		p.test.Fatalf("fakes: calls are counted from 1, got %d", f.Nth)
	case f.unused() != "":
		p.test.Fatalf("fakes: %s is set, but the kind %s does not use it: leave it out", f.unused(), f.Kind)
	case f.Kind == KindDelays && f.For <= 0:
		p.test.Fatalf("fakes: a call cannot be delayed by %v: give a positive duration", f.For)
	case f.For < 0:
		p.test.Fatalf("fakes: a fault cannot last %v: give a positive duration, or 0 for a fault until Lift", f.For)
	case needsErr && f.Err == nil:
		p.test.Fatalf("fakes: %s needs an error to fail with: got nil, give a boterr.Code or another error", f.where())
	case isCode && !slices.Contains(boterr.Codes(), code):
		p.test.Fatalf("fakes: there is no code %q: give a constant of package boterr, such as boterr.Unavailable", string(code))
	case f.Kind == KindLimits && (f.Most < 1 || f.Per <= 0):
		p.test.Fatalf("fakes: Limits of %d messages in %v: give at least one message and a duration; to refuse all, use Down", f.Most, f.Per)
	}
}

// unused returns the name of a field that is set although the fault's kind does not use it, or "".
func (f Fault) unused() string {
	for _, field := range []struct {
		name   string
		isSet  bool
		usedBy []Kind
	}{
		{"Err", f.Err != nil, []Kind{KindFails, KindTimesOut, KindRefuses}},
		{"Reason", f.Reason != "", []Kind{KindDeclines}},
		{"For", f.For != 0, []Kind{KindDelays, KindDown, KindRefuses, KindLimits}},
		{"To", f.To != "", []Kind{KindRefuses}},
		{"Most", f.Most != 0, []Kind{KindLimits}},
		{"Per", f.Per != 0, []Kind{KindLimits}},
		{"App", f.App != "" && f.Part == "", nil},
	} {
		if field.isSet && !slices.Contains(field.usedBy, f.Kind) {
			return field.name
		}
	}
	return ""
}

// placed returns a fault with its mail address in the form of mailboxKey. It ends the test if the fault names an
// unknown kind, operation, service, part or recipient.
func (p *Platform) placed(f Fault) Fault {
	p.test.Helper()
	switch {
	case f.Op != "" && !f.Op.Exists():
		p.test.Fatalf("fakes: there is no operation %q: give a constant of package botctx, such as botctx.OpGetMember", f.Op)
	case !f.Service.exists():
		p.test.Fatalf("fakes: there is no %s: give a constant such as ServiceMail", f.Service)
	case !f.Kind.exists():
		p.test.Fatalf("fakes: there is no %s of fault: use a constructor such as Fails", f.Kind)
	case f.Op != "" && (f.Service != 0 || f.Part != "" || f.App != "" || f.Kind > KindCrashesAfter):
		p.test.Fatalf("fakes: a fault needs either an operation or a service with an optional part, got %#v", f)
	case f.Kind == KindRepeats && f.Service != ServiceMessages && f.Service != ServicePayments:
		p.test.Fatalf("fakes: no events come from %s that could be repeated: give ServiceMessages or ServicePayments", f.Service)
	case f.Part != "":
		p.mustHavePart(f.part())
	}
	return p.addressed(f)
}

// addressed is placed for the recipient of a fault, and the channel that it needs.
func (p *Platform) addressed(f Fault) Fault {
	p.test.Helper()
	isOfChannel := f.Service == ServiceMessages && f.Part != ""
	switch {
	case f.Kind == KindRefuses && f.Service == ServiceMail && f.To != "":
		f.To = p.mailbox(f.To)
	case f.Kind == KindRefuses && (!isOfChannel || f.To == ""):
		p.test.Fatalf("fakes: Refuses needs a recipient: a member, an agent, a mail address, or an id and with Of its channel; got %#v", f)
	case f.Kind == KindLimits && !isOfChannel:
		p.test.Fatalf("fakes: Limits needs a channel: give its id")
	}
	return f
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
func (p *Platform) Planned() []string {
	return p.sentences(func(one planned) bool { return !one.hasBegun })
}

// Unmet returns the planned faults that no call has met yet, except optional ones. The test fails at its end if any
// remain.
func (p *Platform) Unmet() []string {
	return p.sentences(func(one planned) bool {
		hasBegunUnmet := one.hasBegun && one.fault.Nth > 0 && !one.injected.Met()
		return (!one.hasBegun || hasBegunUnmet) && !one.injected.isOptional.Load()
	})
}

func (p *Platform) sentences(isMeant func(planned) bool) []string {
	var texts []string
	for _, one := range p.faults.state() {
		if !isMeant(one) {
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

// LastingFaults returns the lasting faults that have begun and not ended, in the order in which they began.
func (p *Platform) LastingFaults() []Fault {
	var lasting []Fault
	for _, one := range p.faults.state() {
		if one.lasts(p.Now()) {
			lasting = append(lasting, one.fault)
		}
	}
	return lasting
}

// lasting returns the newest lasting fault of a kind that is for a part of a service and a recipient, or nil. The caller
// holds the mutex.
func (f *faults) lasting(kind Kind, asked part, to string, now time.Time) *planned {
	for i := len(f.kept) - 1; i >= 0; i-- {
		known := &f.kept[i]
		if known.fault.Kind == kind && known.fault.To == to && known.fault.part().has(asked) && known.lasts(now) {
			return known
		}
	}
	return nil
}

// met returns the lasting fault of a kind that a request meets, or nil.
func (p *Platform) met(kind Kind, asked part, to string) *Fault {
	now := p.Now()
	p.faults.mu.Lock()
	defer p.faults.mu.Unlock()
	known := p.faults.lasting(kind, asked, to, now)
	if known == nil {
		return nil
	}
	known.injected.isMet.Store(true)
	fault := known.fault
	return &fault
}

// downErr returns the error of a part that is out of service, or nil if it is in service.
func (p *Platform) downErr(asked part) error {
	if out := p.met(KindDown, asked, ""); out != nil {
		return boterr.New(boterr.Unavailable, "", "the test has disconnected %s", out.part())
	}
	return nil
}

// refusalErr returns the error with which a channel refuses messages to a recipient, or nil.
func (p *Platform) refusalErr(in *channel.Channel, to string) error {
	if refusal := p.met(KindRefuses, partOfChannel(in), to); refusal != nil {
		return refusal.err("the test makes the platform refuse messages to " + to)
	}
	return nil
}

// withinLimit counts a message of a channel, or returns an error if it exceeds the channel's limit.
func (p *Platform) withinLimit(in *channel.Channel) error {
	now := p.Now()
	p.faults.mu.Lock()
	defer p.faults.mu.Unlock()
	limit := p.faults.lasting(KindLimits, partOfChannel(in), "", now)
	if limit == nil {
		return nil
	}
	if most, per := limit.fault.Most, limit.fault.Per; len(limit.taken) == most {
		if wait := limit.taken[0].Add(per).Sub(now); wait > 0 {
			limit.injected.isMet.Store(true)
			return boterr.New(boterr.ResourceExhausted, "", "the channel %s sends at most %d messages in %v: %w",
				in.ID, most, per, &send.RetryAfterError{After: wait})
		}
		limit.taken = limit.taken[1:]
	}
	limit.taken = append(slices.Clip(limit.taken), now)
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

// meet begins the lasting faults that are planned for a call at a site, and lets the time of a delay pass. It returns the
// planned failure, or nil for none. name returns the name of the call.
func (p *Platform) meet(at site, name func() string) *Fault {
	due := p.faults.take(at, p.Now())
	for _, one := range due.begun {
		p.noteBegin(one.fault)
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
