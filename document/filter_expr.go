package document

import (
	"slices"
	"sync"
	"time"

	"github.com/botctx/go-sdk/boterr"
)

// unsupportedQueries are the operators of MongoDB's queries that this package has not,
// with what to do instead.
var unsupportedQueries = map[string]string{
	"$where":      "it runs JavaScript; write the condition with $expr",
	"$text":       "it needs a text index; search with $regex",
	"$jsonSchema": "write the conditions with $type, $exists and comparisons",
}

// exprUse says whether a filter may hold $expr, and then whether it does.
type exprUse struct{ allowed, used bool }

// exprCondition compiles $expr.
func (c filterCompiler) exprCondition(operand any) (matcher, error) {
	if c.expr == nil || !c.expr.allowed {
		return nil, boterr.Invalid("$expr",
			"can stand in a filter only, at its top or in its $and, $or and $nor, where it sees the whole document")
	}
	e, err := expressionCompiler{timeless: true}.expression(operand)
	if err != nil {
		return nil, boterr.In("$expr", err)
	}
	c.expr.used = true
	return &exprMatcher{expression: e}, nil
}

// exprMatcher is $expr: it is met where an expression is true over the document.
type exprMatcher struct {
	expression expression
	// runs are *expressionRun that no match uses now.
	runs sync.Pool
}

func (m *exprMatcher) match(root any, position *arrayPosition) bool {
	document, _ := root.(Object)
	run, ok := m.runs.Get().(*expressionRun)
	if !ok {
		run = &expressionRun{}
	}
	run.reset(document, time.Time{})
	value, err := m.expression.evaluate(run)
	m.runs.Put(run)
	if err != nil {
		position.fail(boterr.In("$expr", err))
		return false
	}
	return isTruthy(value)
}

// exprLast moves expressions behind the other conditions, as MongoDB does: what a
// condition rules out no expression has to bear.
func exprLast(all []matcher) {
	slices.SortStableFunc(all, func(a, b matcher) int {
		_, aIsExpr := a.(*exprMatcher)
		_, bIsExpr := b.(*exprMatcher)
		switch {
		case aIsExpr == bIsExpr:
			return 0
		case aIsExpr:
			return 1
		default:
			return -1
		}
	})
}
