package botctxtest_test

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/botctx/botctxtest"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/operations"
)

// breakage is an implementation with a defect, and what the suite must say of it.
type breakage struct {
	// breaking makes the interceptor that breaks the fakes.
	breaking func() botctx.Interceptor
	// altering breaks the harness instead.
	altering func(*botctxtest.Harness)
	// breaks are the rules that are broken, and, unless others may be broken by the same
	// defect, which are not checked then, all of them.
	breaks []string
	others bool
	// only tells that no other rules are checked, because the implementation cannot get
	// through them.
	only bool
}

// only returns defects for which the rules that they break alone are checked.
func only(breakages map[string]breakage) map[string]breakage {
	narrowed := make(map[string]breakage, len(breakages))
	for name, test := range breakages {
		test.only = true
		narrowed[name] = test
	}
	return narrowed
}

// table are defects of one kind.
type table struct {
	// domains are those whose rules they may break.
	domains   []botctxtest.Capability
	breakages map[string]breakage
}

// tables are all defects.
var tables = []table{
	{[]botctxtest.Capability{botctxtest.Channels, botctxtest.Members}, brokenMembers},
	{[]botctxtest.Capability{botctxtest.DataSources}, brokenData},
	{[]botctxtest.Capability{botctxtest.Members, botctxtest.DataSources}, brokenOptions()},
	{[]botctxtest.Capability{botctxtest.Agendas}, brokenAgendas},
	{[]botctxtest.Capability{botctxtest.Nodes}, brokenNodes},
	{[]botctxtest.Capability{botctxtest.Sends}, merged(brokenSends, only(brokenAlpha), only(brokenPlatforms))},
	{[]botctxtest.Capability{botctxtest.Utilities}, only(brokenUtilities)},
	{[]botctxtest.Capability{botctxtest.LiveChats}, merged(brokenAssignments...)},
	{[]botctxtest.Capability{botctxtest.LiveChats}, merged(brokenGroupings...)},
	{everywhere, merged(brokenEverywhere, only(brokenAnswers), brokenOperations())},
}

// ruleOf returns the operation that a rule is about, by its name, and what the rest of the name
// says of it. It returns "" for a rule that is about several.
func ruleOf(rule botctxtest.Rule) (op botctx.Op, says string) {
	for _, one := range operations.All() {
		name := strings.ToUpper(one.Name[:1]) + one.Name[1:]
		if rest, isOf := strings.CutPrefix(rule.Name, name); isOf && len(one.Name) > len(op) {
			op, says = botctx.Op(one.Name), rest
		}
	}
	return op, says
}

// concerns reports whether a defect of a table is checked against a rule that it does not break:
// one of its domains, about an operation whose rules it breaks or about several.
func (t table) concerns(test breakage, rule botctxtest.Rule) bool {
	if !slices.ContainsFunc(rule.Needs, func(c botctxtest.Capability) bool { return slices.Contains(t.domains, c) }) {
		return false
	}
	op, _ := ruleOf(rule)
	return op == "" || slices.ContainsFunc(test.breaks, func(broken string) bool {
		of, _ := ruleOf(botctxtest.Rule{Name: broken})
		return of == op
	})
}

// everywhere are all domains.
var everywhere = []botctxtest.Capability{
	botctxtest.Channels, botctxtest.Members, botctxtest.DataSources, botctxtest.Agendas, botctxtest.Nodes, botctxtest.Sends,
	botctxtest.LiveChats, botctxtest.Utilities,
}

// harness returns a harness of the broken implementation.
func (b breakage) harness() *botctxtest.Harness {
	if b.altering == nil {
		return newHarness(b.breaking())
	}
	h := newHarness()
	b.altering(h)
	return h
}

// given alters the params of an operation.
func given[P any](alter func(*P)) func() botctx.Interceptor {
	return func() botctx.Interceptor {
		return func(ctx context.Context, call *botctx.Call, next botctx.Next) (any, error) {
			if params, ok := call.Params.(P); ok {
				alter(&params)
				call.Params = params
			}
			return next(ctx)
		}
	}
}

// gives alters the result of an operation that succeeds.
func gives[P, R any](alter func(P, *R)) func() botctx.Interceptor {
	return func() botctx.Interceptor {
		return func(ctx context.Context, call *botctx.Call, next botctx.Next) (any, error) {
			answer, err := next(ctx)
			params, isOp := call.Params.(P)
			result, isResult := answer.(R)
			if isOp && isResult && err == nil {
				alter(params, &result)
				return result, nil
			}
			return answer, err
		}
	}
}

// answers replies to an operation without doing it.
func answers[P, R any](answer func(*botctx.Call, P) R) func() botctx.Interceptor {
	return func() botctx.Interceptor {
		return func(ctx context.Context, call *botctx.Call, next botctx.Next) (any, error) {
			if params, ok := call.Params.(P); ok {
				return answer(call, params), nil
			}
			return next(ctx)
		}
	}
}

// instead does something else than the operation. What it calls on the context goes
// through no interceptor's hands again.
func instead[P any](do func(context.Context, *botctx.Context, P, botctx.Next) (any, error)) func() botctx.Interceptor {
	return func() botctx.Interceptor {
		return func(ctx context.Context, call *botctx.Call, next botctx.Next) (any, error) {
			params, ok := call.Params.(P)
			if !ok || ctx.Value(inside{}) != nil {
				return next(ctx)
			}
			return do(context.WithValue(ctx, inside{}, true), call.Context, params, next)
		}
	}
}

// excusing answers bad input of an operation as if all were well.
func excusing[P, R any](excuse R) func() botctx.Interceptor {
	return excusingAt[P](boterr.InvalidArgument, excuse)
}

// excusingAt answers calls of an operation that fail with a code as if all were well.
func excusingAt[P, R any](code boterr.Code, excuse R) func() botctx.Interceptor {
	return func() botctx.Interceptor {
		return func(ctx context.Context, call *botctx.Call, next botctx.Next) (any, error) {
			answer, err := next(ctx)
			if _, ok := call.Params.(P); ok && boterr.CodeOf(err) == code {
				return excuse, nil
			}
			return answer, err
		}
	}
}

// inside marks the context of what an interceptor calls.
type inside struct{}

// meeting holds the first of two callers until the second is there too, and nobody
// after that.
type meeting struct {
	arrived atomic.Int64
	both    chan struct{}
}

func newMeeting() *meeting { return &meeting{both: make(chan struct{})} }

// join returns the place of the caller in the order of arrival.
func (m *meeting) join() int64 {
	place := m.arrived.Add(1)
	if place == 2 {
		close(m.both)
	}
	<-m.both
	return place
}
