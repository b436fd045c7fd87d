package query

import (
	"time"

	"github.com/botctx/go-sdk/document"
)

// EvaluateExpression returns the value of an expression over a document, and whether there is
// one. Of the operations, a filter alone evaluates expressions that know the time, and it
// does not show their values.
func EvaluateExpression(source any, o document.Object, now time.Time) (value any, isThere bool, err error) {
	compiled, err := compileExpression(source)
	if err != nil {
		return nil, false, err
	}
	value, err = compiled.evaluate(&expressionRun{root: o, now: now})
	return value, err == nil && value != document.Missing, err
}
