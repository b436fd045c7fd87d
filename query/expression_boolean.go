package query

// conjunction is $and: what follows a value that is not true is not evaluated.
type conjunction []expression

// and compiles $and.
func (c expressionCompiler) and(operand any) (expression, error) {
	arguments, err := c.positional(operand, 0, 0)
	if err != nil {
		return nil, err
	}
	return folded(conjunction(arguments), arguments...)
}

func (e conjunction) evaluate(run *expressionRun) (any, error) {
	for _, argument := range e {
		value, err := argument.evaluate(run)
		if err != nil {
			return nil, err
		}
		if !isTruthy(value) {
			return false, nil
		}
	}
	return true, nil
}

// disjunction is $or: what follows a value that is true is not evaluated.
type disjunction []expression

// or compiles $or.
func (c expressionCompiler) or(operand any) (expression, error) {
	arguments, err := c.positional(operand, 0, 0)
	if err != nil {
		return nil, err
	}
	return folded(disjunction(arguments), arguments...)
}

func (e disjunction) evaluate(run *expressionRun) (any, error) {
	for _, argument := range e {
		value, err := argument.evaluate(run)
		if err != nil {
			return nil, err
		}
		if isTruthy(value) {
			return true, nil
		}
	}
	return false, nil
}

// booleanFunctions are the operators that turn a truth value round.
var booleanFunctions = map[string]function{
	"$not": {least: 1, most: 1, compute: notTrue},
}

// notTrue is $not.
func notTrue(_ *expressionRun, arguments []any) (any, error) { return !isTruthy(arguments[0]), nil }
