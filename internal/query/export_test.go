package query

import (
	"context"
	"time"

	"github.com/botctx/go-sdk/document"
)

// EvaluateExpression returns the value of an expression over a document, and whether there is one. In the
// public API only filters evaluate expressions that use $$NOW, and they do not return the value.
func EvaluateExpression(source any, o document.Object, now time.Time) (value any, isThere bool, err error) {
	compiled, err := compileExpression(source)
	if err != nil {
		return nil, false, err
	}
	value, err = compiled.evaluate(&expressionRun{root: o, now: now})
	return value, err == nil && value != document.Missing, err
}

// NewPartialEvaluation returns an evaluation with a part of the base budget. The budget still grows with the
// documents, so a test with a few of them shows the same as a full budget with many.
func NewPartialEvaluation(ctx context.Context, part, of int) *Evaluation {
	e := NewEvaluation(ctx)
	e.budget.left = e.budget.left / of * part
	e.budget.room = e.budget.room / of * part
	return e
}
