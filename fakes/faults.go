package fakes

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/display"
	"github.com/botctx/go-sdk/internal/operations"
	"github.com/botctx/go-sdk/send"
)

// Fault is something that goes wrong: a failure, delay or repetition at a call of an operation or at a request
// to a service, or a lasting fault of a service, such as an outage. Constructors such as Fails create one, At
// and Of select the call, and Platform.Inject plans it.
type Fault struct {
	// Op is the operation, or "" for requests to Service.
	Op      botctx.Op
	Service Service
	// Part is the id of one of the service's data sources, payment accounts or channels, or "" for the whole
	// service. App is its app; the default is DefaultApp.
	Part string
	App  string
	// To is the recipient that KindRefuses refuses: a mail address, or an id on the platform of the channel
	// Part.
	To string
	// Kind is the kind of fault, such as KindTimesOut.
	Kind Kind
	// Nth is the number of the call or request, counted from 1 when the fault is injected. 0 means the next
	// one that has no such fault yet. Lasting faults begin with that request; with 0, they begin at once.
	Nth int
	// Err is the error of KindFails, KindTimesOut and KindRefuses: a boterr.Code or any other error. The
	// default for KindTimesOut is Unavailable.
	Err error
	// Reason is the provider's reason code for KindDeclines.
	Reason string
	// Most is the number of messages that KindLimits accepts within Per.
	Most int
	Per  time.Duration
	// For is the virtual time that KindDelays adds, or for which a lasting fault lasts from its beginning; for
	// lasting faults, 0 means until Lift.
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
	// KindDown takes a service, or a part of it, out of service. It lasts, like the kinds after it.
	KindDown
	// KindRefuses refuses all messages or mails to one recipient.
	KindRefuses
	// KindLimits limits the messages that a channel accepts.
	KindLimits

	kindCount
)

// String returns the name of the kind, such as "timesOut".
func (k Kind) String() string {
	if !k.exists() {
		return fmt.Sprintf("kind %d", int(k))
	}
	return [kindCount]string{
		"fails", "timesOut", "delays", "crashes", "crashesAfter", "declines", "repeats", "down", "refuses", "limits",
	}[k]
}

func (k Kind) exists() bool { return k >= 0 && k < kindCount }

// lasts reports whether faults of the kind last until Lift, or for a time.
func (k Kind) lasts() bool { return k >= KindDown }

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

// Refuses refuses all messages or mails to one recipient with err, which is usually a boterr.Code, until
// Platform.Lift or for the time given by Fault.Lasting. The recipient is a member, an agent, a mail address or,
// with Fault.Of, an id on the platform of a channel. For a member in a group it is the group.
//
//	p.Inject(fakes.Refuses(ada, boterr.FailedPrecondition))                   // Ada has blocked the bot.
//	p.Inject(fakes.Refuses("gone@example.com", boterr.InvalidArgument))       // The mailbox does not exist.
//	p.Inject(fakes.Refuses("C1", boterr.NotFound).Of("desk"))                 // The group is gone.
//
// Others still get messages and mails. A refused message's FailedPrecondition error wraps a *send.GoneError. Both
// this error and NotFound end a live chat.
func Refuses[T *Actor | *Agent | string](to T, err error) Fault {
	refusal := Fault{Kind: KindRefuses, Err: err}
	switch to := any(to).(type) {
	case *Actor:
		refusal.To = cmp.Or(to.scope.GroupExternalID, to.externalID)
		return refusal.OfApp(to.scope.App, to.scope.Channel)
	case *Agent:
		refusal.To = to.externalID
		return refusal.OfApp(to.scope.App, to.scope.Channel)
	case string:
		refusal.Service, refusal.To = ServiceMail, to
	}
	return refusal
}

// Limits limits the messages that the platform of a channel accepts within a span of virtual time, until
// Platform.Lift or for the time given by Fault.Lasting. It refuses further messages with ResourceExhausted, which
// wraps a *send.RetryAfterError. A new limit replaces an earlier one and counts from the beginning.
func Limits(channelID string, most int, per time.Duration) Fault {
	return Fault{Service: ServiceMessages, Part: channelID, Kind: KindLimits, Most: most, Per: per}
}

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

// Lasting returns the outage, refusal or limit for a span of virtual time.
func (f Fault) Lasting(long time.Duration) Fault {
	f.For = long
	return f
}

// Of returns the fault for one data source, payment account or channel of DefaultApp.
func (f Fault) Of(part string) Fault { return f.OfApp("", part) }

// OfApp is Of for a part that belongs to another app.
func (f Fault) OfApp(app, part string) Fault {
	f.App, f.Part = app, part
	if app == DefaultApp {
		f.App = ""
	}
	if f.Kind == KindRefuses {
		f.Service = ServiceMessages
	}
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
		return f.part().String() + " is out of service" + f.span()
	case KindRefuses:
		return fmt.Sprintf("%s refuses messages to %s%s: %s", f.part(), f.To, f.span(), f.why())
	case KindLimits:
		return fmt.Sprintf("%s takes %d messages in %v at most%s", f.part(), f.Most, f.Per, f.span())
	case KindFails, kindCount:
	}
	if _, isCode := asCode(f.Err); isCode {
		return where + " fails with " + f.why()
	}
	return where + " fails: " + f.why()
}

func (f Fault) where() string {
	if f.Op != "" {
		return string(f.Op)
	}
	return "a request to " + f.part().String()
}

// span returns the time for which a lasting fault lasts, or "" if it lasts until Lift.
func (f Fault) span() string {
	if f.For == 0 {
		return ""
	}
	return fmt.Sprintf(" for %v", f.For)
}

// why returns the name of the fault's code, or the text of another error.
func (f Fault) why() string {
	if code, isCode := asCode(f.Err); isCode {
		return string(code)
	}
	return fmt.Sprint(f.Err)
}

// GoString returns the fault as Go source, such as fakes.TimesOut(botctx.OpSendResponse).At(2).
func (f Fault) GoString() string {
	of, field := f.Service.GoString(), "Service"
	if f.Op != "" {
		of, field = "botctx.Op"+operations.GoName(string(f.Op)), "Op"
	}
	takesPart := false
	var text string
	switch f.Kind {
	case KindFails:
		text = fmt.Sprintf("fakes.Fails(%s, %s)", of, goError(f.Err))
	case KindDelays:
		text = fmt.Sprintf("fakes.Delays(%s, %s)", of, display.GoDuration(f.For))
	case KindDeclines:
		text, takesPart = fmt.Sprintf("fakes.Declines(%q, %q)", f.Part, f.Reason), true
	case KindRefuses:
		text = fmt.Sprintf("fakes.Refuses(%q, %s)", f.To, goError(f.Err))
	case KindLimits:
		text, takesPart = fmt.Sprintf("fakes.Limits(%q, %d, %s)", f.Part, f.Most, display.GoDuration(f.Per)), true
	default:
		name := f.Kind.String()
		text = fmt.Sprintf("fakes.%s(%s)", strings.ToUpper(name[:1])+name[1:], of)
		if f.Err != nil { // TimesOut takes no error.
			text = fmt.Sprintf("fakes.Fault{%s: %s, Kind: fakes.Kind%s, Err: %s}", field, of, strings.ToUpper(name[:1])+name[1:], goError(f.Err))
		}
	}
	return text + f.goChain(takesPart)
}

// goChain returns the calls that set the fault's other fields. takesPart is true if its constructor takes the part.
func (f Fault) goChain(takesPart bool) (text string) {
	switch {
	case f.App != "":
		text = fmt.Sprintf(".OfApp(%q, %q)", f.App, f.Part)
	case f.Part != "" && !takesPart:
		text = fmt.Sprintf(".Of(%q)", f.Part)
	}
	if f.Kind.lasts() && f.For != 0 {
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
	if err == nil {
		return "nil"
	}
	if code, isCode := asCode(err); isCode {
		return "boterr." + string(code)
	}
	return fmt.Sprintf("errors.New(%q)", err.Error())
}

// equals compares two faults by their Go source, because == panics for some types of errors.
func (f Fault) equals(other Fault) bool { return f.GoString() == other.GoString() }

// isAt reports whether both are faults of the same kind at the same place.
func (f Fault) isAt(other Fault) bool {
	return f.Kind == other.Kind && f.Op == other.Op && f.part() == other.part() && f.To == other.To
}

// part returns the service, or the part of one, whose requests fail.
func (f Fault) part() part {
	if f.Part == "" {
		return part{service: f.Service}
	}
	return part{f.Service, cmp.Or(f.App, DefaultApp), f.Part}
}

// isCommitted reports whether the call does its work before it fails.
func (f Fault) isCommitted() bool { return f.Kind == KindTimesOut || f.Kind == KindCrashesAfter }

func (f Fault) isCrash() bool { return f.Kind == KindCrashes || f.Kind == KindCrashesAfter }

// err returns the error of a failing call. If the fault has only a code, reason is the error's message.
func (f Fault) err(reason string) error {
	failed := f.Err
	if failed == nil {
		failed = boterr.Unavailable
	}
	code, isCode := asCode(failed)
	switch {
	case !isCode:
		return failed
	case code == boterr.FailedPrecondition && f.Kind == KindRefuses && f.Service == ServiceMessages:
		return boterr.New(code, "", "%s: %w", reason, &send.GoneError{})
	default:
		return boterr.New(code, "", "%s", reason)
	}
}
