package document

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

// booleanFunctions are the operators that turn a truth value round.
var booleanFunctions = map[string]function{
	"$not": {least: 1, most: 1, compute: notTrue},
}

// notTrue is $not.
func notTrue(_ *expressionRun, arguments []any) (any, error) { return !isTruthy(arguments[0]), nil }

