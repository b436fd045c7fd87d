package conversation

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/render"
)

// Faults is the act of planning a fault of any kind, in DefaultApp. A call of an operation, or a request to a service or
// to one channel, data source or account, may fail with a code, be late, time out after it took effect, or crash the
// process. A charge may be declined, a message or a payment event may arrive twice, and a service or a part of it may
// go out of service.
type Faults struct{ fakes.Fault }

// Lifts is the act of ending an outage.
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
		if injected := on.platform.Inject(a.Fault); a.isOptional() {
			injected.Optional()
		}
	})
}

// isOptional reports whether the fault may stay unmet. Faults of services may: if the bot does not use the service,
// its answers in the conversation show that.
func (a Faults) isOptional() bool { return a.Op == "" && (a.Kind != fakes.KindDown || a.Nth > 0) }

func (a Lifts) do(on *Session) error {
	return performed(func() { on.platform.Lift(a.Fault) })
}

func (Crashes) do(on *Session) error {
	on.platform.Crash()
	return nil
}

func (Starts) do(on *Session) error {
	return performed(func() { on.platform.Restart() })
}

func (a Faults) code(*names, done) call {
	injected := call{receiver: "p", name: "Inject", args: []string{a.GoString()}}
	if a.isOptional() {
		injected.then = ".Optional()"
	}
	return injected
}

func (a Lifts) code(*names, done) call {
	return call{receiver: "p", name: "Lift", args: []string{a.GoString()}}
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
	case fakes.KindDown:
		call = "Out of service"
		if a.For > 0 {
			call += " for " + durationText(a.For)
		}
		if a.Nth > 0 {
			call += " from request " + strconv.Itoa(a.Nth) + " on"
		}
		call += ": " + partOf(a.Fault)
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

func (a Lifts) lines() []string { return []string{"Back in service: " + partOf(a.Fault)} }

func (Crashes) lines() []string { return []string{"The process crashes"} }

func (Starts) lines() []string { return []string{"The process starts again"} }

// wordsOf maps services to the words before the ids of their parts.
var wordsOf = map[fakes.Service]string{
	fakes.ServiceMessages: "channel ", fakes.ServiceDataSources: "data source ", fakes.ServicePayments: "account ",
}

// partOf returns the name of a service, or of a part of one.
func partOf(f fakes.Fault) string {
	if f.Part != "" {
		return wordsOf[f.Service] + idOf(f.Part)
	}
	return f.Service.String()
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

// plan adds the act of planning a fault, unless its line has errors.
func (p *reader) plan(planned fakes.Fault, failed ...error) error {
	err := errors.Join(failed...)
	if err == nil {
		p.begin(Faults{planned})
	}
	return err
}

// called returns a fault for the call or request that aCall has matched.
func called(found []string) (f fakes.Fault, err error) {
	nth, badNumber := readNth(found[0] + found[2])
	switch op := found[3]; op {
	case "":
		f, err = readPart(found[1])
	case "mail":
		f.Service = fakes.ServiceMail
	case "file":
		f.Service = fakes.ServiceFiles
	default:
		f.Op, err = operation(op)
	}
	return f.At(nth), errors.Join(err, badNumber)
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

func (p *reader) callFails(found []string) error {
	failing, err := called(found)
	code, badCode := readCode(found[4])
	failing.Err = code
	return p.plan(failing, err, badCode)
}

func (p *reader) callTimesOut(found []string) error {
	failing, err := called(found)
	failing.Kind = fakes.KindTimesOut
	return p.plan(failing, err)
}

func (p *reader) callIsLate(found []string) error {
	late, err := called(found)
	by, badTime := Duration(found[4])
	if badTime == nil && by == 0 {
		badTime = errors.New("a call cannot be 0 seconds late: give a longer time")
	}
	late.Kind, late.For = fakes.KindDelays, by
	return p.plan(late, err, badTime)
}

func (p *reader) crashesAtCall(found []string) error {
	crash, err := called(found[1:])
	crash.Kind = fakes.KindCrashes
	if found[0] == "after" {
		crash.Kind = fakes.KindCrashesAfter
	}
	return p.plan(crash, err)
}

func (p *reader) process(found []string) error {
	if found[0] == "crashes" {
		p.begin(Crashes{})
	} else {
		p.begin(Starts{})
	}
	return nil
}

func (p *reader) chargeDeclined(found []string) error {
	nth, badNumber := readNth(found[0])
	account, badName := readID(found[1])
	reason, badReason := unescaped(found[2])
	return p.plan(fakes.Declines(account, reason).At(nth), badNumber, badName, badReason)
}

func (p *reader) comesTwice(found []string) error {
	var from fakes.Fault
	var badPart error
	if found[3] != "" {
		from, badPart = readPart(found[3])
	} else {
		from.Service = fakes.ServiceMessages
	}
	event := strings.ToLower(found[0] + found[1])
	switch {
	case badPart != nil:
	case found[3] == "" && event == eventOf[fakes.ServicePayments]:
		from.Service = fakes.ServicePayments
	case eventOf[from.Service] != event:
		badPart = fmt.Errorf("no %s comes from %s", event, found[3])
	}
	nth, badNumber := readNth(found[2])
	return p.plan(fakes.Repeats(from.Service).Of(from.Part).At(nth), badPart, badNumber)
}

func (p *reader) outOfService(found []string) error {
	var failed [3]error
	var outage fakes.Fault
	outage, failed[0] = readPart(found[2])
	outage.Kind = fakes.KindDown
	if found[0] != "" {
		outage.For, failed[1] = Duration(found[0])
	}
	if found[1] != "" {
		_, failed[2] = readNth(found[1])
		outage.Nth, _ = strconv.Atoi(found[1])
	}
	return p.plan(outage, failed[:]...)
}

func (p *reader) backInService(found []string) error {
	outage, err := readPart(found[0])
	outage.Kind = fakes.KindDown
	if err == nil {
		p.begin(Lifts{outage})
	}
	return err
}
