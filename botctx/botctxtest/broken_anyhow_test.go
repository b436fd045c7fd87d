package botctxtest_test

import (
	"context"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/botctx/botctxtest"
	"github.com/botctx/go-sdk/internal/operations"
	"github.com/botctx/go-sdk/internal/rounds"
)

// brokenAnyhow are the defects that every operation may have. For an operation that has no row in
// showing they show that its rules would notice, so that a new one needs no broken implementation
// of its own.
var brokenAnyhow = map[string]func(op operations.Operation) botctx.Interceptor{
	"does nothing":                 doingNothing,
	"gives its first answer again": answeringOnce,
	"refuses nothing":              refusingNothing,
}

// doingNothing answers an operation with the zero value of its result.
func doingNothing(op operations.Operation) botctx.Interceptor {
	return func(ctx context.Context, call *botctx.Call, next botctx.Next) (any, error) {
		if string(call.Op) != op.Name {
			return next(ctx)
		}
		return nothingOf(op), nil
	}
}

// answeringOnce carries an operation out until it goes well, and gives that answer from then on.
func answeringOnce(op operations.Operation) botctx.Interceptor {
	var mu sync.Mutex
	var first any
	return func(ctx context.Context, call *botctx.Call, next botctx.Next) (any, error) {
		if string(call.Op) != op.Name {
			return next(ctx)
		}
		mu.Lock()
		defer mu.Unlock()
		if first != nil {
			return first, nil
		}
		answer, err := next(ctx)
		if err == nil {
			first = answer
		}
		return answer, err
	}
}

// refusingNothing answers an operation that failed with the zero value of its result.
func refusingNothing(op operations.Operation) botctx.Interceptor {
	return func(ctx context.Context, call *botctx.Call, next botctx.Next) (any, error) {
		answer, err := next(ctx)
		if string(call.Op) == op.Name && err != nil {
			return nothingOf(op), nil //nolint:nilerr // That is the defect.
		}
		return answer, err
	}
}

// nothingOf returns the zero value of an operation's result.
func nothingOf(op operations.Operation) any {
	method, _ := reflect.TypeFor[botctx.Operations]().MethodByName(op.Method)
	return reflect.Zero(method.Type.Out(0)).Interface()
}

// shownAnyhow are operations with a row that are tried all the same. Thorough tests try all.
var shownAnyhow = []string{"getMember", "checkAndSaveMemberReferFrom", "deleteMemberAgenda"}

func TestSuite_NoticesWhatIsBrokenAnyhow(t *testing.T) {
	t.Parallel()
	isThorough := rounds.Thorough(t)
	for _, op := range operations.All() {
		_, hasRow := showing[op.Name]
		if hasRow && !isThorough && !slices.Contains(shownAnyhow, op.Name) {
			continue
		}
		t.Run(op.Name, func(t *testing.T) {
			t.Parallel()
			broken := brokenByTables()
			for what, breaking := range brokenAnyhow {
				noticed := rulesBrokenBy(t, op, breaking(op))
				require.NotEmpty(t, noticed, "none of its rules notices where it %s: write one, or its row in the table of operations", what)
				for _, rule := range noticed {
					broken[rule] = true
				}
			}
			for _, rule := range rulesOf(op) {
				require.True(t, broken[rule.Name], "no broken implementation shows that the rule %s works: write one", rule.Name)
			}
		})
	}
}

// rulesOf returns the rules about an operation.
func rulesOf(op operations.Operation) []botctxtest.Rule {
	return slices.DeleteFunc(botctxtest.Rules(), func(rule botctxtest.Rule) bool {
		of, _ := ruleOf(rule)
		return string(of) != op.Name
	})
}

// rulesBrokenBy returns the names of the rules about an operation that an implementation breaks.
func rulesBrokenBy(t *testing.T, op operations.Operation, breaking botctx.Interceptor) []string {
	t.Helper()
	var broken []string
	for _, rule := range rulesOf(op) {
		if len(violations(t.Context(), rule, newHarness(breaking))) > 0 {
			broken = append(broken, rule.Name)
		}
	}
	return broken
}

// brokenByTables returns the names of the rules that are broken by a row of the tables.
func brokenByTables() map[string]bool {
	broken := map[string]bool{}
	for _, table := range tables {
		for _, test := range table.breakages {
			for _, rule := range test.breaks {
				broken[rule] = true
			}
		}
	}
	return broken
}
