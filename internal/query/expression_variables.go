package query

import (
	"math"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// binding is $let, which names values within an expression.
type binding struct {
	first  int // slot of the first value
	values []expression
	in     expression
}

func (c expressionCompiler) let(operand any) (expression, error) {
	source, err := namedArguments(operand, []string{"vars", "in"}, 2)
	if err != nil {
		return nil, err
	}
	variables, ok := source["vars"].(document.Object)
	if !ok {
		return nil, boterr.PrefixField("vars", document.WrongType("object", source["vars"]))
	}
	e := &binding{first: c.slots}
	inner := c
	for name := range variables.All() {
		if err := checkNewVariable(name); err != nil {
			return nil, boterr.PrefixField("vars", err)
		}
		inner, _ = inner.with(name)
	}
	outer := c
	outer.slots = inner.slots // Variables inside a value use later slots.
	for name, value := range variables.All() {
		compiled, err := outer.expression(value)
		if err != nil {
			return nil, boterr.PrefixField("vars."+name, err)
		}
		e.values = append(e.values, compiled)
	}
	e.in, err = inner.expression(source["in"])
	return e, boterr.PrefixField("in", err)
}

func (e *binding) evaluate(run *expressionRun) (any, error) {
	for i, value := range e.values {
		v, err := value.evaluate(run)
		if err != nil {
			return nil, err
		}
		run.bind(e.first+i, v)
	}
	return e.in.evaluate(run)
}

// loop is the common part of $map, $filter and $reduce, which evaluate an expression for each element of an array.
type loop struct {
	name  string
	input expression
	slot  int // of the element
	body  expression
	// work is the work of one evaluation of the body.
	work int
}

// items returns the elements of the input. null is true if the input is null or missing.
func (l *loop) items(run *expressionRun) (items []any, null bool, err error) {
	input, err := l.input.evaluate(run)
	switch {
	case err != nil:
		return nil, false, err
	case isNullish(input):
		return nil, true, nil
	}
	array, ok := input.(document.Array)
	if !ok {
		return nil, false, boterr.Invalid(l.name, "needs an array as its input, got %s", document.TypeName(input))
	}
	return array.Items(), false, nil
}

// of evaluates the body for an element.
func (l *loop) of(run *expressionRun, item any) (any, error) {
	if err := run.limits.spend(l.work); err != nil {
		return nil, boterr.PrefixField(l.name, err)
	}
	run.bind(l.slot, item)
	return l.body.evaluate(run)
}

// loop compiles the input and the body of an operator. inner compiles the body, in which "as" gives the name of the
// element.
func (c expressionCompiler) loop(name string, source map[string]any, body string, inner expressionCompiler) (loop, error) {
	l := loop{name: name, work: sourceWork(document.SizeOf(source[body]))}
	var err error
	if l.input, err = c.expression(source["input"]); err != nil {
		return l, boterr.PrefixField("input", err)
	}
	as := "this"
	if given, ok := source["as"]; ok {
		if as, ok = given.(string); !ok {
			return l, boterr.PrefixField("as", document.WrongType("string", given))
		}
	}
	if err := checkNewVariable(as); err != nil {
		return l, boterr.PrefixField("as", err)
	}
	inner, l.slot = inner.with(as)
	if l.body, err = inner.expression(source[body]); err != nil {
		return l, boterr.PrefixField(body, err)
	}
	return l, nil
}

type mapLoop struct{ loop }

func (c expressionCompiler) mapOver(operand any) (expression, error) {
	source, err := namedArguments(operand, []string{"input", "in", "as"}, 2)
	if err != nil {
		return nil, err
	}
	l, err := c.loop("$map", source, "in", c)
	return &mapLoop{l}, err
}

func (e *mapLoop) evaluate(run *expressionRun) (any, error) {
	items, null, err := e.items(run)
	if null || err != nil {
		return nil, err
	}
	if err := run.limits.items(len(items)); err != nil {
		return nil, boterr.PrefixField(e.name, err)
	}
	mapped := make([]any, 0, len(items))
	for _, item := range items {
		value, err := e.of(run, item)
		if err != nil {
			return nil, err
		}
		mapped = append(mapped, orNull(value))
	}
	return run.limits.array(mapped)
}

type filterLoop struct {
	loop
	limit expression
}

func (c expressionCompiler) filterOver(operand any) (expression, error) {
	source, err := namedArguments(operand, []string{"input", "cond", "as", "limit"}, 2)
	if err != nil {
		return nil, err
	}
	e := &filterLoop{}
	if e.loop, err = c.loop("$filter", source, "cond", c); err != nil {
		return nil, err
	}
	e.limit, err = c.expression(source["limit"])
	return e, boterr.PrefixField("limit", err)
}

func (e *filterLoop) evaluate(run *expressionRun) (any, error) {
	items, null, err := e.items(run)
	if null || err != nil {
		return nil, err
	}
	limit, err := e.most(run)
	if err != nil {
		return nil, err
	}
	if err := run.limits.items(len(items)); err != nil {
		return nil, boterr.PrefixField(e.name, err)
	}
	kept := []any{}
	for _, item := range items {
		condition, err := e.of(run, item)
		if err != nil {
			return nil, err
		}
		if !isTruthy(condition) {
			continue
		}
		if kept = append(kept, item); int64(len(kept)) == limit {
			break
		}
	}
	return run.limits.array(kept)
}

// most returns the maximum number of elements to keep.
func (e *filterLoop) most(run *expressionRun) (int64, error) {
	value, err := e.limit.evaluate(run)
	if err != nil || isNullish(value) {
		return math.MaxInt64, err
	}
	limit, ok := int32Number(value)
	if !ok || limit < 1 {
		return 0, boterr.Invalid("$filter", "the limit must be a whole number of at least 1, got %s", document.Excerpt(orNull(value)))
	}
	return limit, nil
}

// int32Number returns a number as an integer if it fits into 32 bits.
func int32Number(value any) (int64, bool) {
	n, ok := document.WholeNumber(value)
	return n, ok && n == int64(int32(n))
}

type reduceLoop struct {
	loop
	initial expression
	value   int // slot of the result so far
}

func (c expressionCompiler) reduceOver(operand any) (expression, error) {
	source, err := namedArguments(operand, []string{"input", "initialValue", "in"}, 3)
	if err != nil {
		return nil, err
	}
	e := &reduceLoop{value: c.slots}
	inner, _ := c.with("value")
	outer := c
	outer.slots = inner.slots
	if e.initial, err = outer.expression(source["initialValue"]); err != nil {
		return nil, boterr.PrefixField("initialValue", err)
	}
	e.loop, err = outer.loop("$reduce", source, "in", inner)
	return e, err
}

func (e *reduceLoop) evaluate(run *expressionRun) (any, error) {
	items, null, err := e.items(run)
	if null || err != nil {
		return nil, err
	}
	result, err := e.initial.evaluate(run)
	for _, item := range items {
		if err != nil {
			return nil, err
		}
		run.bind(e.value, result)
		result, err = e.of(run, item)
	}
	return result, err
}

// conditional is $cond, which evaluates only one of its branches.
type conditional struct{ condition, then, otherwise expression }

func (c expressionCompiler) conditional(operand any) (expression, error) {
	parts, err := c.argumentsOf(function{least: 3, most: 3, names: []string{"if", "then", "else"}}, operand)
	if err != nil {
		return nil, err
	}
	e := &conditional{condition: parts[0], then: parts[1], otherwise: parts[2]}
	return c.folded(e, parts...)
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

// firstPresent is $ifNull. It returns the first value that is neither null nor missing, or else the last value.
type firstPresent []expression

func (c expressionCompiler) ifNull(operand any) (expression, error) {
	arguments, err := c.positional(operand, 2, 0)
	if err != nil {
		return nil, err
	}
	return c.folded(firstPresent(arguments), arguments...)
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

type branches struct {
	cases []conditional
	// otherwise is nil if there is no default.
	otherwise expression
}

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
		parts, err := c.named(item, []string{"case", "then"}, 2)
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
		return nil, boterr.Invalid("$switch", "no branch is true, and there is no default; add one")
	}
	return e.otherwise.evaluate(run)
}

// logical is $and or $or. It stops at the first value that decides: one that is false for $and, or true for $or.
type logical struct {
	arguments []expression
	decisive  bool
}

func (c expressionCompiler) and(operand any) (expression, error) { return c.logical(operand, false) }

func (c expressionCompiler) or(operand any) (expression, error) { return c.logical(operand, true) }

func (c expressionCompiler) logical(operand any, decisive bool) (expression, error) {
	arguments, err := c.positional(operand, 0, 0)
	if err != nil {
		return nil, err
	}
	return c.folded(&logical{arguments: arguments, decisive: decisive}, arguments...)
}

func (e *logical) evaluate(run *expressionRun) (any, error) {
	for _, argument := range e.arguments {
		value, err := argument.evaluate(run)
		if err != nil {
			return nil, err
		}
		if isTruthy(value) == e.decisive {
			return e.decisive, nil
		}
	}
	return !e.decisive, nil
}

// booleanFunctions are the boolean operators that evaluate all their arguments.
var booleanFunctions = map[string]function{
	"$not": {least: 1, most: 1, compute: notTrue},
}

// notTrue is $not.
func notTrue(_ *expressionRun, arguments []any) (any, error) { return !isTruthy(arguments[0]), nil }
