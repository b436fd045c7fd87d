package query

import "github.com/botctx/go-sdk/document"

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
	if err := run.limits.comparing(a, b); err != nil {
		return 0, err
	}
	return document.Compare(a, b), nil
}

// order is $cmp.
type order struct{ left, right expression }

func (e *order) evaluate(run *expressionRun) (any, error) {
	order, err := run.compare(e.left, e.right)
	return int64(order), err
}
