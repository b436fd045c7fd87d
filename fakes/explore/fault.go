package explore

import (
	"fmt"
	"strings"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/operations"
)

// way is how a call goes wrong.
type way int

// The ways in which a call of an operation, or a request to a service, goes wrong.
const (
	fails way = iota
	isRefused
	timesOut
	isLate
	crashes
	crashesAfter

	wayCount
)

// lateness is how late a call is: later than any lease.
const lateness = 2 * time.Minute

// fault is one fault of a plan. It is planned before the property begins, so that calls are counted
// from its beginning.
type fault struct {
	way way
	// op is the operation, "" for a request to service.
	op      botctx.Op
	service fakes.Service
	// n is which call, counted from 1.
	n int
}

// code returns the code with which the call fails.
func (f fault) code() boterr.Code {
	if f.way == isRefused {
		return boterr.FailedPrecondition
	}
	return boterr.Unavailable
}

// plan plans the fault on a platform.
func (f fault) plan(p *fakes.Platform) *fakes.Fault {
	if f.op == "" {
		return f.planRequest(p)
	}
	switch f.way {
	case timesOut:
		return p.TimeOutNth(f.op, f.n)
	case isLate:
		return p.DelayNth(f.op, f.n, lateness)
	case crashes:
		return p.CrashNth(f.op, f.n)
	case crashesAfter:
		return p.CrashAfterNth(f.op, f.n)
	default:
		return p.FailNth(f.op, f.n, f.code())
	}
}

func (f fault) planRequest(p *fakes.Platform) *fakes.Fault {
	switch f.way {
	case timesOut:
		return p.TimeOutNthRequest(f.service, f.n)
	case isLate:
		return p.DelayNthRequest(f.service, f.n, lateness)
	case crashes:
		return p.CrashNthRequest(f.service, f.n)
	case crashesAfter:
		return p.CrashAfterNthRequest(f.service, f.n)
	default:
		return p.FailNthRequest(f.service, f.n, f.code())
	}
}

// method returns the name of the method that plans the fault, for operations.
func (w way) method() string {
	return [wayCount]string{"FailNth", "FailNth", "TimeOutNth", "DelayNth", "CrashNth", "CrashAfterNth"}[w]
}

// String returns the line of Go that plans the fault.
func (f fault) String() string {
	method, target := f.way.method(), "botctx.Op"+operations.GoName(string(f.op))
	if f.op == "" {
		method, target = method+"Request", "fakes.Service"+serviceNames()[f.service]
	}
	switch f.way {
	case fails, isRefused:
		return fmt.Sprintf("p.%s(%s, %d, boterr.%s)", method, target, f.n, string(f.code()))
	case isLate:
		return fmt.Sprintf("p.%s(%s, %d, 2*time.Minute)", method, target, f.n)
	default:
		return fmt.Sprintf("p.%s(%s, %d)", method, target, f.n)
	}
}

// linesOf returns a plan as lines of Go.
func linesOf(plan []fault) string {
	lines := make([]string, len(plan))
	for i, f := range plan {
		lines[i] = f.String()
	}
	return strings.Join(lines, "\n")
}
