package query

import (
	"slices"
	"sync"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// unsupportedQueries are the operators of MongoDB's queries that this package has not,
// with what to do instead.
var unsupportedQueries = map[string]string{
	"$where":      "it runs JavaScript; write the condition with $expr",
	"$text":       "it needs a text index; search with $regex",
	"$jsonSchema": "write the conditions with $type, $exists and comparisons",
}

// exprUse says whether a filter holds $expr, and whether one asks for $$NOW.
type exprUse struct{ used, usesNow bool }

// exprCondition compiles $expr.
func (c filterCompiler) exprCondition(operand any) (matcher, error) {
	if c.expr == nil {
		return nil, boterr.Invalid("$expr",
			"can stand in a filter only, at its top or in its $and, $or and $nor, where it sees the whole document")
	}
	usesNow := false
	e, err := expressionCompiler{usesNow: &usesNow, instructions: c.instructions}.expression(operand)
	if err != nil {
		return nil, boterr.PrefixField("$expr", err)
	}
	c.expr.used = true
	c.expr.usesNow = c.expr.usesNow || usesNow
	return &exprMatcher{expression: e, work: sourceWork(document.SizeOf(operand)), usesNow: usesNow}, nil
}

// exprMatcher is $expr: it is met where an expression is true over the document.
type exprMatcher struct {
	expression expression
	// work is that of evaluating each of its parts once.
	work    int
	usesNow bool
	// runs are *expressionRun that no match uses now.
	runs sync.Pool
}

func (m *exprMatcher) match(root any, e *Evaluation) bool {
	value, err := m.evaluate(root, e)
	if err != nil {
		e.fail(boterr.PrefixField("$expr", err))
		return false
	}
	return isTruthy(value)
}

func (m *exprMatcher) evaluate(root any, e *Evaluation) (any, error) {
	run, ok := m.runs.Get().(*expressionRun)
	if !ok {
		run = &expressionRun{}
	}
	run.root, _ = root.(document.Object)
	run.limits.call = e
	if m.usesNow {
		if e == nil || e.now == nil {
			return nil, boterr.Invalid("", "$$NOW is not known here: give the filter a time with At")
		}
		run.now = *e.now
	}
	value, err := any(nil), run.limits.spend(m.work)
	if err == nil {
		value, err = m.expression.evaluate(run)
	}
	run.reset()
	m.runs.Put(run)
	return value, err
}

// exprLast moves expressions behind the other conditions, as MongoDB does: so an expression does
// not fail on a document that another condition rules out.
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
