package document

import (
	"github.com/botctx/go-sdk/boterr"
)

// comparison is $eq, $ne, $gt, $gte, $lt and $lte: it compares values of any types in
// the order of Compare, in which missing is below null.
type comparison struct {
	name        string
	left, right expression
	// less, equal and greater say which results are meant.
	less, equal, greater bool
}

// comparison compiles an operator that compares two values.
func (c expressionCompiler) comparison(name string, operand any) (expression, error) {
	sides, err := c.positional(operand, 2, 2)
	if err != nil {
		return nil, err
	}
	if name == "$cmp" {
		return folded(&order{left: sides[0], right: sides[1]}, sides...)
	}
	return folded(&comparison{
		name: name, left: sides[0], right: sides[1],
		less:    name == "$lt" || name == "$lte" || name == "$ne",
		equal:   name == "$lte" || name == "$gte" || name == "$eq",
		greater: name == "$gt" || name == "$gte" || name == "$ne",
	}, sides...)
}

func (e *comparison) evaluate(run *expressionRun) (any, error) {
	order, err := run.compare(e.left, e.right)
	switch {
	case err != nil:
		return nil, err
	case order < 0:
		return e.less, nil
	case order > 0:
		return e.greater, nil
	default:
		return e.equal, nil
	}
}

// compare compares the values of two expressions.
func (run *expressionRun) compare(left, right expression) (int, error) {
	a, err := left.evaluate(run)
	if err != nil {
		return 0, err
	}
	b, err := right.evaluate(run)
	if err != nil {
		return 0, err
	}
	if depthOf(a) > 0 && depthOf(b) > 0 {
		if err := run.limits.comparing(a, b); err != nil {
			return 0, err
		}
	}
	return Compare(a, b), nil
}

// order is $cmp.
type order struct{ left, right expression }

func (e *order) evaluate(run *expressionRun) (any, error) {
	order, err := run.compare(e.left, e.right)
	return int64(order), err
}

// junction is $and or $or: what follows the argument that decides is not evaluated.
type junction struct {
	// decides is the truth of an argument that decides: true for $or.
	decides   bool
	arguments []expression
}

// junction compiles $and and $or.
func (c expressionCompiler) junction(decides bool, operand any) (expression, error) {
	arguments, err := c.positional(operand, 0, 0)
	if err != nil {
		return nil, err
	}
	return folded(&junction{decides: decides, arguments: arguments}, arguments...)
}

func (e *junction) evaluate(run *expressionRun) (any, error) {
	for _, argument := range e.arguments {
		value, err := argument.evaluate(run)
		if err != nil {
			return nil, err
		}
		if isTruthy(value) == e.decides {
			return e.decides, nil
		}
	}
	return !e.decides, nil
}

// notTrue is $not.
func notTrue(_ *expressionRun, arguments []any) (any, error) { return !isTruthy(arguments[0]), nil }

// needsNumber is the error for an argument that is no number.
func needsNumber(value any) error {
	return boterr.Invalid("", "needs a number, got %s", TypeName(value))
}
