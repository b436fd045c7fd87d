package conversation

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/render"
)

// Faults is the act of planning a fault: a call of an operation fails with a code, is late, is done and times out, or
// crashes the process; the next mail or the next stored file fails, the next charge of a payment account is declined,
// the next message of a platform comes twice; or a service, or a channel, goes out of service.
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
	return asMistake(guarded(func() error {
		if injected := on.platform.Inject(a.Fault); a.isOptional() {
			injected.Optional()
		}
		return nil
	}))
}

// isOptional reports whether it is allowed that no call meets the fault, as for most faults of services: the
// conversation shows whether a bot uses a service.
func (a Faults) isOptional() bool { return a.Op == "" && a.Kind != fakes.KindDown }

func (a Lifts) do(on *Session) error {
	return asMistake(guarded(func() error {
		on.platform.Lift(a.Fault)
		return nil
	}))
}

func (Crashes) do(on *Session) error {
	on.platform.Crash()
	return nil
}

func (Starts) do(on *Session) error {
	return asMistake(guarded(func() error {
		on.platform.Restart()
		return nil
	}))
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
		return []string{"The next charge of " + idOf(a.Part) + " is declined: " + render.Escape(a.Reason, "")}
	case fakes.KindRepeats:
		if a.Service == fakes.ServicePayments {
			return []string{"The next payment event comes twice"}
		}
		return []string{"The next message comes twice"}
	case fakes.KindDown:
		return []string{"Out of service: " + partOf(a.Fault)}
	case fakes.KindCrashes:
		return []string{"The process crashes at " + call}
	case fakes.KindCrashesAfter:
		return []string{"The process crashes after " + call}
	case fakes.KindDelays:
		call += " is " + durationText(a.For) + " late"
	case fakes.KindTimesOut:
		call += " times out"
	default:
		call += " fails: " + string(boterr.CodeOf(a.Err))
	}
	return []string{strings.ToUpper(call[:1]) + call[1:]}
}

// called returns the words for the call that goes wrong.
func (a Faults) called() string {
	switch {
	case a.Op == "" && a.Service == fakes.ServiceFiles:
		return "the next file"
	case a.Op == "":
		return "the next mail"
	case a.Nth > 1:
		return "call " + strconv.Itoa(a.Nth) + " of " + string(a.Op)
	default:
		return "the next " + string(a.Op)
	}
}

func (a Lifts) lines() []string { return []string{"Back in service: " + partOf(a.Fault)} }

func (Crashes) lines() []string { return []string{"The process crashes"} }

func (Starts) lines() []string { return []string{"The process starts again"} }

// channelWord precedes the name of a channel that is out of service.
const channelWord = "channel "

// partOf returns the name of a service, or of the channel, that is out of service.
func partOf(f fakes.Fault) string {
	if f.Part != "" {
		return channelWord + idOf(f.Part)
	}
	return f.Service.String()
}

// aCall matches a call of an operation, and theCall the same at the beginning of a line.
const (
	aCall   = `(?:the\s+next|call\s+(\d{1,6})\s+of)\s+(\w+)`
	theCall = `(?:The\s+next|Call\s+(\d{1,6})\s+of)\s+(\w+)`
)

// plan plans the fault of a call, whose number and operation were found.
func (p *reader) plan(found []string, fault func(botctx.Op) (fakes.Fault, error)) error {
	op, err := operation(found[1])
	planned, wrong := fault(op)
	if err := errors.Join(err, wrong); err != nil {
		return err
	}
	if found[0] != "" {
		nth, err := strconv.Atoi(found[0])
		if err != nil || nth < 1 {
			return fmt.Errorf("there is no call %s: the next one is call 1", found[0])
		}
		if nth > 1 {
			planned = planned.At(nth)
		}
	}
	p.begin(Faults{planned})
	return nil
}

func (p *reader) callFails(found []string) error {
	return p.plan(found, func(op botctx.Op) (fakes.Fault, error) {
		code, err := readCode(found[2])
		return fakes.Fails(op, code), err
	})
}

func (p *reader) callTimesOut(found []string) error {
	return p.plan(found, func(op botctx.Op) (fakes.Fault, error) { return fakes.TimesOut(op), nil })
}

func (p *reader) callIsLate(found []string) error {
	return p.plan(found, func(op botctx.Op) (fakes.Fault, error) {
		late, err := Duration(found[2])
		if err == nil && late == 0 {
			err = errors.New("a call that is 0 seconds late is not late: give more")
		}
		return fakes.Delays(op, late), err
	})
}

func (p *reader) crashesAtCall(found []string) error {
	return p.plan(found[1:], func(op botctx.Op) (fakes.Fault, error) {
		if found[0] == "after" {
			return fakes.CrashesAfter(op), nil
		}
		return fakes.Crashes(op), nil
	})
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
	account, err := readID(found[0])
	reason, badReason := unescaped(found[1])
	if err := errors.Join(err, badReason); err != nil {
		return err
	}
	p.begin(Faults{fakes.Declines(account, reason)})
	return nil
}

func (p *reader) serviceFails(found []string) error {
	service := map[string]fakes.Service{"mail": fakes.ServiceMail, "file": fakes.ServiceFiles}[found[0]]
	code, err := readCode(found[1])
	if err == nil {
		p.begin(Faults{fakes.Fails(service, code)})
	}
	return err
}

func (p *reader) comesTwice(found []string) error {
	from := fakes.ServiceMessages
	if found[0] != "message" {
		from = fakes.ServicePayments
	}
	p.begin(Faults{fakes.Repeats(from)})
	return nil
}

func (p *reader) outOfService(found []string) error {
	outage, err := outageOf(found[0])
	if err == nil {
		p.begin(Faults{outage})
	}
	return err
}

func (p *reader) backInService(found []string) error {
	outage, err := outageOf(found[0])
	if err == nil {
		p.begin(Lifts{outage})
	}
	return err
}

// outageOf reads the name of a service, or of a channel.
func outageOf(part string) (fakes.Fault, error) {
	if id, isChannel := strings.CutPrefix(part, channelWord); isChannel {
		id, err := readID(id)
		return fakes.Down(fakes.ServiceMessages).Of(id), err
	}
	var all []string
	for service := fakes.ServiceStore; service <= fakes.ServiceMessages; service++ {
		if service.String() == part {
			return fakes.Down(service), nil
		}
		all = append(all, service.String())
	}
	return fakes.Fault{}, fmt.Errorf("there is no service %q: write one of %q, or a channel as in \"Out of service: channel shop\"", part, all)
}
