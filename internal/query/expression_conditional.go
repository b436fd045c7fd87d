package query

import (
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// conditional is $cond: one of its two branches is evaluated.
type conditional struct{ condition, then, otherwise expression }

// conditional compiles $cond in either form.
func (c expressionCompiler) conditional(operand any) (expression, error) {
	parts, err := c.partsOfConditional(operand)
	if err != nil {
		return nil, err
	}
	e := &conditional{condition: parts[0], then: parts[1], otherwise: parts[2]}
	return folded(e, parts...)
}

func (c expressionCompiler) partsOfConditional(operand any) ([]expression, error) {
	if named, ok := operand.(document.Object); ok {
		names := []string{"if", "then", "else"}
		return c.named(named, names, len(names))
	}
	return c.positional(operand, 3, 3)
}

func (e *conditional) evaluate(run *expressionRun) (any, error) {
	condition, err := e.condition.evaluate(run)
	if err != nil {
		return nil, err
	}
	if isTruthy(condition) {
		return e.then.evaluate(run)
	}
	return e.otherwise.evaluate(run)
}

// firstPresent is $ifNull: the first value that is neither null nor missing, else the
// last.
type firstPresent []expression

// ifNull compiles $ifNull.
func (c expressionCompiler) ifNull(operand any) (expression, error) {
	arguments, err := c.positional(operand, 2, 0)
	if err != nil {
		return nil, err
	}
	return folded(firstPresent(arguments), arguments...)
}

func (e firstPresent) evaluate(run *expressionRun) (any, error) {
	var value any
	var err error
	for _, argument := range e {
		if value, err = argument.evaluate(run); err != nil || !isNullish(value) {
			return value, err
		}
	}
	return value, nil
}

// branches is $switch.
type branches struct {
	cases []conditional
	// otherwise is nil where there is no default.
	otherwise expression
}

// switchOver compiles $switch.
func (c expressionCompiler) switchOver(operand any) (expression, error) {
	named, ok := operand.(document.Object)
	if !ok {
		return nil, document.WrongType("object", operand)
	}
	e := &branches{}
	for name, argument := range named.All() {
		var err error
		switch name {
		case "branches":
			e.cases, err = c.cases(argument)
		case "default":
			e.otherwise, err = c.expression(argument)
		default:
			err = boterr.Invalid("", "there is no such argument; the arguments are branches and default")
		}
		if err != nil {
			return nil, boterr.PrefixField(name, err)
		}
	}
	if len(e.cases) == 0 {
		return nil, boterr.Invalid("branches", "needs at least one branch")
	}
	return e, nil
}

// cases compiles the branches of a $switch.
func (c expressionCompiler) cases(operand any) ([]conditional, error) {
	list, ok := operand.(document.Array)
	if !ok {
		return nil, document.WrongType("array", operand)
	}
	cases := make([]conditional, 0, list.Len())
	for i, item := range list.Items() {
		branch, ok := item.(document.Object)
		if !ok {
			return nil, boterr.PrefixField(boterr.Index(i), document.WrongType("object", item))
		}
		parts, err := c.named(branch, []string{"case", "then"}, 2)
		if err != nil {
			return nil, boterr.PrefixField(boterr.Index(i), err)
		}
		cases = append(cases, conditional{condition: parts[0], then: parts[1]})
	}
	return cases, nil
}

func (e *branches) evaluate(run *expressionRun) (any, error) {
	for i := range e.cases {
		condition, err := e.cases[i].condition.evaluate(run)
		if err != nil {
			return nil, err
		}
		if isTruthy(condition) {
			return e.cases[i].then.evaluate(run)
		}
	}
	if e.otherwise == nil {
		return nil, boterr.Invalid("$switch", "no branch is true, and there is no default")
	}
	return e.otherwise.evaluate(run)
}

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
