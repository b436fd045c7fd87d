package conversation

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/render"
)

// Faults is the act of planning a fault of any kind, in DefaultApp. A call of an operation, or a request to a service or
// to one channel, data source or account, may fail with a code, be late, time out after it took effect, or crash the
// process. A charge may be declined, a message or a payment event may arrive twice, a service or a part of it may go
// out of service, a recipient may be refused, and a channel may have a rate limit. If a refusal of messages has no Part,
// To is the name of a person in the conversation.
type Faults struct{ fakes.Fault }

// Lifts is the act of ending an outage, a refusal or a limit. It has the same recipients as Faults.
type Lifts struct{ fakes.Fault }

// Crashes is the act of ending the process in which the bot runs.
type Crashes struct{}

// Starts is the act of starting the bot in a new process.
type Starts struct{}

func (Faults) by() string  { return "" }
func (Lifts) by() string   { return "" }
func (Crashes) by() string { return "" }
func (Starts) by() string  { return "" }

func (a Faults) do(on *Session) error {
	return performed(func() {
		if injected := on.platform.Inject(on.addressed(a.Fault)); a.isOptional() {
			injected.Optional()
		}
	})
}

// isOptional reports whether the fault needs Optional to stay unmet. Faults of services may stay unmet: if the bot does
// not use the service, its answers in the conversation show that. Lasting faults, from KindDown on, always may if they
// begin at once.
func (a Faults) isOptional() bool { return a.Op == "" && (a.Kind < fakes.KindDown || a.Nth > 0) }

func (a Lifts) do(on *Session) error {
	return performed(func() { on.platform.Lift(on.addressed(a.Fault)) })
}

// refusedPerson returns the name of the person whose messages an act refuses or accepts again, or "".
func refusedPerson(act Act) string {
	var fault fakes.Fault
	switch act := act.(type) {
	case Faults:
		fault = act.Fault
	case Lifts:
		fault = act.Fault
	}
	if fault.Kind == fakes.KindRefuses && fault.Service == fakes.ServiceMessages && fault.Part == "" {
		return fault.To
	}
	return ""
}

// addressed returns a fault with the address of its recipient, if that is a person.
func (s *Session) addressed(fault fakes.Fault) fakes.Fault {
	p := s.person(refusedPerson(Faults{fault}))
	if p == nil {
		return fault
	}
	if p.agent != nil {
		return fakes.Refuses(p.agent, fault.Err).Lasting(fault.For).At(fault.Nth)
	}
	return fakes.Refuses(p.actor, fault.Err).Lasting(fault.For).At(fault.Nth)
}

// source returns a fault as Go. A person who is its recipient is a variable.
func source(fault fakes.Fault, of *names) string {
	if name := refusedPerson(Faults{fault}); name != "" {
		return strings.Replace(fault.GoString(), strconv.Quote(name), of.of[name], 1)
	}
	return fault.GoString()
}

func (Crashes) do(on *Session) error {
	on.platform.Crash()
	return nil
}

func (Starts) do(on *Session) error {
	return performed(func() { on.platform.Restart() })
}

func (a Faults) code(of *names, _ done) call {
	injected := call{receiver: "p", name: "Inject", args: []string{source(a.Fault, of)}}
	if a.isOptional() {
		injected.then = ".Optional()"
	}
	return injected
}

func (a Lifts) code(of *names, _ done) call {
	return call{receiver: "p", name: "Lift", args: []string{source(a.Fault, of)}}
}

func (Crashes) code(*names, done) call { return call{receiver: "p", name: "Crash"} }

func (Starts) code(*names, done) call { return call{receiver: "p", name: "Restart"} }

func (a Faults) lines() []string {
	call := a.called()
	switch a.Kind {
	case fakes.KindDeclines:
		call += " is declined: " + render.Escape(a.Reason, "")
	case fakes.KindRepeats:
		call += " comes twice"
	case fakes.KindDown, fakes.KindRefuses:
		call = outageOf(a.Fault)
	case fakes.KindLimits:
		call = "At most " + counted(a.Most, "message") + " in " + durationText(a.Per) + spanOf(a.Fault) + ": " + partOf(a.Fault)
	case fakes.KindCrashes:
		call = "The process crashes at " + call
	case fakes.KindCrashesAfter:
		call = "The process crashes after " + call
	case fakes.KindDelays:
		call += " is " + durationText(a.For) + " late"
	case fakes.KindTimesOut:
		call += " times out"
	default:
		call += " fails: " + string(boterr.CodeOf(a.Err))
	}
	return []string{strings.ToUpper(call[:1]) + call[1:]}
}

// spanOf returns the words for the time and the beginning of a lasting fault, or "" if it begins at once and has no end.
func spanOf(f fakes.Fault) (text string) {
	if f.For > 0 {
		text = " for " + durationText(f.For)
	}
	if f.Nth > 0 {
		text += " from request " + strconv.Itoa(f.Nth) + " on"
	}
	return text
}

// outageOf returns the line of an outage or a refusal. A bounce is the usual refusal of mails.
func outageOf(f fakes.Fault) string {
	text := "Out of service" + spanOf(f)
	switch code := boterr.CodeOf(f.Err); {
	case f.Err != nil && code != codeOfRefusal(f.Service):
		text += " with " + string(code)
	case f.To != "" && f.Service == fakes.ServiceMail && spanOf(f) == "":
		return "Mail to " + render.Escape(f.To, "") + " bounces"
	}
	return text + ": " + partOf(f)
}

// codeOfRefusal is the code of a refusal whose line has none: the mailbox does not exist, or the person has blocked the
// bot.
func codeOfRefusal(by fakes.Service) boterr.Code {
	if by == fakes.ServiceMail {
		return boterr.InvalidArgument
	}
	return boterr.FailedPrecondition
}

// called returns the words for the call, request, charge or event that goes wrong.
func (a Faults) called() string {
	what, to := "request", " to "+partOf(a.Fault)
	switch {
	case a.Op != "":
		if a.Nth > 1 {
			return "call " + strconv.Itoa(a.Nth) + " of " + string(a.Op)
		}
		return "the next " + string(a.Op)
	case a.Kind == fakes.KindDeclines:
		what, to = "charge", " of "+idOf(a.Part)
	case a.Kind == fakes.KindRepeats:
		what, to = eventOf[a.Service], ""
		if a.Part != "" {
			to = " of " + partOf(a.Fault)
		}
	case a.Nth <= 1 && a.Part == "" && shortOf[a.Service] != "":
		what, to = shortOf[a.Service], ""
	}
	if a.Nth > 1 {
		return what + " " + strconv.Itoa(a.Nth) + to
	}
	return "the next " + what + to
}

// eventOf names the events that can come twice, by their service. shortOf holds the short words for requests to some
// services.
var (
	eventOf = map[fakes.Service]string{fakes.ServiceMessages: "message", fakes.ServicePayments: "payment event"}
	shortOf = map[fakes.Service]string{fakes.ServiceMail: "mail", fakes.ServiceFiles: "file"}
)

func (a Lifts) lines() []string {
	if a.Kind == fakes.KindLimits {
		return []string{"No limit of messages: " + partOf(a.Fault)}
	}
	return []string{"Back in service: " + partOf(a.Fault)}
}

func (Crashes) lines() []string { return []string{"The process crashes"} }

func (Starts) lines() []string { return []string{"The process starts again"} }

// wordsOf maps services to the words before the ids of their parts.
var wordsOf = map[fakes.Service]string{
	fakes.ServiceMessages: "channel ", fakes.ServiceDataSources: "data source ", fakes.ServicePayments: "account ",
}

// partOf returns the name of a service, of a part of one, or of what a refusal refuses.
func partOf(f fakes.Fault) string {
	switch {
	case f.To != "" && f.Service == fakes.ServiceMail:
		return "mail to " + render.Escape(f.To, "")
	case f.To != "" && f.Part == "":
		return "messages to " + nameOf(f.To)
	case f.To != "":
		return "messages to " + idOf(f.To) + " at " + idOf(f.Part)
	case f.Part != "":
		return wordsOf[f.Service] + idOf(f.Part)
	default:
		return f.Service.String()
	}
}

// readPart parses the name of a service, or of a part of one.
func readPart(text string) (f fakes.Fault, err error) {
	var all []string
	for f.Service = fakes.ServiceStore; f.Service <= fakes.ServiceMessages; f.Service++ {
		if f.Service.String() == text {
			return f, nil
		}
		all = append(all, f.Service.String())
		if id, isPart := strings.CutPrefix(text, wordsOf[f.Service]); isPart && len(id) < len(text) {
			f.Part, err = readID(id)
			return f, err
		}
	}
	return f, fmt.Errorf("there is no service %q: write one of %q, or a part of one as in \"channel shop\", "+
		"\"data source orders\" or \"account shop\"", text, all)
}

// Patterns of what goes wrong: a request to a service or a call of an operation, a charge, and an event.
const (
	aCall = `(?:(?:[Tt]he\s+next\s+request|[Rr]equest\s+(\d{1,6}))\s+to\s+(\S.*?)` +
		`|(?:[Tt]he\s+next|[Cc]all\s+(\d{1,6})\s+of)\s+(\w+))`
	aCharge = `(?:The\s+next\s+charge|Charge\s+(\d{1,6}))\s+of\s+` + name
	anEvent = `(?:The\s+next\s+(message|payment event)|(Message|Payment event)\s+(\d{1,6}))(?:\s+of\s+(\S.*?))?`
)

// aSpan matches how long and from which request on a lasting fault lasts.
const aSpan = `(?:\s+for\s+(\S.*?))?(?:\s+from\s+request\s+(\d{1,6})\s+on)?`

// aRecipient matches what a refusal refuses.
var aRecipient = regexp.MustCompile(`^(?:mail\s+to\s+(\S.*)|messages\s+to\s+` + name + `(?:\s+at\s+` + name + `)?)$`)

// called returns a fault for the call or request that aCall has matched, from the given part on.
func called(in *parts, from int, fault fakes.Fault) fakes.Fault {
	nth := in.found[from] + in.found[from+2]
	switch op := in.found[from+3]; op {
	case "":
		at := read(in, from+1, readPart)
		fault.Service, fault.Part = at.Service, at.Part
	case "mail":
		fault.Service = fakes.ServiceMail
	case "file":
		fault.Service = fakes.ServiceFiles
	default:
		fault.Op = read(in, from+3, operation)
	}
	number, err := readNth(nth)
	in.fail(err)
	return fault.At(number)
}

// readNth parses the number of a call, or 0 for the next one.
func readNth(text string) (nth int, err error) {
	if text == "" {
		return 0, nil
	}
	nth, err = strconv.Atoi(text)
	switch {
	case err != nil || nth < 1:
		return 0, fmt.Errorf("there is no call %s: the next one is call 1", text)
	case nth == 1:
		return 0, nil
	}
	return nth, nil
}

// lateness parses the time by which a call is late.
func lateness(text string) (time.Duration, error) {
	by, err := Duration(text)
	if err == nil && by == 0 {
		err = errors.New("a call cannot be 0 seconds late: give a longer time")
	}
	return by, err
}

func comesTwice(in *parts) fakes.Fault {
	event, from := strings.ToLower(in.found[0]+in.found[1]), fakes.Fault{Service: fakes.ServiceMessages}
	switch {
	case in.found[3] != "":
		from = read(in, 3, readPart)
		if in.failed == nil && eventOf[from.Service] != event {
			in.fail(fmt.Errorf("no %s comes from %s", event, in.found[3]))
		}
	case event == eventOf[fakes.ServicePayments]:
		from.Service = fakes.ServicePayments
	}
	return fakes.Repeats(from.Service).Of(from.Part).At(read(in, 2, readNth))
}

// readOutage parses what is out of service: a service, a part of one, or the mails or messages to a recipient.
func readOutage(text string) (outage fakes.Fault, err error) {
	found := aRecipient.FindStringSubmatch(text)
	if found == nil {
		outage, err = readPart(text)
		outage.Kind = fakes.KindDown
		return outage, err
	}
	in := &parts{found: found[1:]}
	switch {
	case in.found[0] != "":
		outage = bounced(in)
	case in.found[2] != "":
		outage = fakes.Refuses(in.id(1), codeOfRefusal(fakes.ServiceMessages)).Of(in.id(2))
	default:
		outage = fakes.Refuses(read(in, 1, readName), codeOfRefusal(fakes.ServiceMessages)).Of("")
	}
	return outage, errors.Join(in.failed...)
}

func bounced(in *parts) fakes.Fault {
	return fakes.Refuses(in.text(0), codeOfRefusal(fakes.ServiceMail))
}

func outOfService(in *parts) fakes.Fault {
	outage := span(in, 0, read(in, 3, readOutage))
	if in.found[2] != "" {
		outage.Err = read(in, 2, readCode)
		if outage.Kind == fakes.KindDown {
			in.fail(fmt.Errorf("an outage has no code: leave out \"with %s\"", in.found[2]))
		}
	}
	return outage
}

// span returns a lasting fault with the time and the beginning that aSpan has matched, from the given part on.
func span(in *parts, from int, fault fakes.Fault) fakes.Fault {
	if in.found[from] != "" {
		fault.For = read(in, from, Duration)
	}
	if in.found[from+1] != "" {
		read(in, from+1, readNth)
		fault.Nth, _ = strconv.Atoi(in.found[from+1])
	}
	return fault
}

func limited(in *parts) fakes.Fault {
	limit := span(in, 2, fakes.Limits(in.id(4), in.number(0), read(in, 1, Duration)))
	if limit.Per == 0 {
		in.fail(errors.New("a limit for 0 seconds limits nothing: give a longer time"))
	}
	return limit
}
