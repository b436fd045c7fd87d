package simulator

import (
	"strconv"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/conversation"
)

// faultPlays are the faults of one call.
func faultPlays() map[string]reader {
	return map[string]reader{
		"fail":    of(fail),
		"delay":   of(delay),
		"timeOut": of(timeOut),
		"crashAt": of(crashAt),
	}
}

// faultWith is the fault of a call of an operation: the next one, or the nth from now on.
type faultWith struct {
	Operation botctx.Op   `json:"operation"`
	Nth       int         `json:"nth"`
	Code      boterr.Code `json:"code"`
	// Late is as time.ParseDuration reads it.
	Late string `json:"late"`
	// After tells that a crash comes after the call has done its work.
	After bool `json:"after"`
}

// nth returns which call is meant.
func (f faultWith) nth() int { return max(1, f.Nth) }

// which says which call is meant, for a timeline.
func (f faultWith) which() string {
	if f.nth() == 1 {
		return "the next " + string(f.Operation)
	}
	return "call " + strconv.Itoa(f.nth()) + " of " + string(f.Operation)
}

// late returns how late the call is to be.
func (f faultWith) late() (time.Duration, error) {
	late, err := time.ParseDuration(f.Late)
	if err != nil || late <= 0 {
		return 0, boterr.Invalid("late", "is %q: give a time such as 20s or 5m", f.Late)
	}
	return late, nil
}

// plan plans a fault of the next call, which a conversation can do again, or of another one.
func (f faultWith) plan(b *branch, what string, act conversation.Faults, nth func(op botctx.Op, n int) *fakes.Fault) (moment, error) {
	m := moment{what: "Fault: " + f.which() + " " + what}
	act.Op = f.Operation
	if f.nth() == 1 {
		return b.does(act, m)
	}
	nth(f.Operation, f.nth()).Optional()
	m.isUnsaved = true
	return m, nil
}

func fail(b *branch, with faultWith) (moment, error) {
	return with.plan(b, "fails with "+string(with.Code), conversation.Faults{Code: with.Code}, func(op botctx.Op, n int) *fakes.Fault {
		return b.platform.FailNth(op, n, with.Code)
	})
}

func delay(b *branch, with faultWith) (moment, error) {
	late, err := with.late()
	if err != nil {
		return moment{}, err
	}
	return with.plan(b, "takes "+spanText(late), conversation.Faults{Late: late}, func(op botctx.Op, n int) *fakes.Fault {
		return b.platform.DelayNth(op, n, late)
	})
}

func timeOut(b *branch, with faultWith) (moment, error) {
	return with.plan(b, "times out after its work", conversation.Faults{TimesOut: true}, b.platform.TimeOutNth)
}

func crashAt(b *branch, with faultWith) (moment, error) {
	if with.After {
		b.platform.CrashAfterNth(with.Operation, with.nth()).Optional()
		return moment{what: "Fault: the process crashes after " + with.which(), isUnsaved: true}, nil
	}
	b.platform.CrashNth(with.Operation, with.nth()).Optional()
	return moment{what: "Fault: the process crashes at " + with.which(), isUnsaved: true}, nil
}
