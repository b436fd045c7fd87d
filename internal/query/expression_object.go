package query

import (
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// objectFunctions are the operators that make and take apart objects.
var objectFunctions = map[string]function{
	"$mergeObjects":  {compute: merged},
	"$objectToArray": {least: 1, most: 1, compute: pairsOf},
	"$arrayToObject": {least: 1, most: 1, compute: objectOfPairs},
}

// merged is $mergeObjects. Null and missing values do not count.
func merged(run *expressionRun, arguments []any) (any, error) {
	b := document.NewBuilder(0)
	for _, argument := range arguments {
		if isNullish(argument) {
			continue
		}
		o, ok := argument.(document.Object)
		if !ok {
			return nil, boterr.Invalid("", "needs objects, got %s", document.TypeName(argument))
		}
		if err := run.limits.spend(o.Len() * keyWork); err != nil {
			return nil, err
		}
		for name, value := range o.All() {
			b.Set(name, value)
		}
	}
	return run.limits.object(b.Object())
}

// pairsOf is $objectToArray.
func pairsOf(run *expressionRun, arguments []any) (any, error) {
	if isNullish(arguments[0]) {
		return nil, nil
	}
	o, ok := arguments[0].(document.Object)
	if !ok {
		return nil, boterr.Invalid("", "needs an object, got %s", document.TypeName(arguments[0]))
	}
	if err := run.limits.spend(o.Len() * objectWork); err != nil {
		return nil, err
	}
	pairs := make([]any, 0, o.Len())
	for name, value := range o.All() {
		b := document.NewBuilder(2)
		b.Set("k", name)
		b.Set("v", value)
		pairs = append(pairs, b.Object())
	}
	return run.limits.array(pairs)
}

// objectOfPairs is $arrayToObject. The first pair decides whether all are arrays of two
// or objects of k and v.
func objectOfPairs(run *expressionRun, arguments []any) (any, error) {
	if isNullish(arguments[0]) {
		return nil, nil
	}
	array, ok := arguments[0].(document.Array)
	if !ok {
		return nil, needsArray(arguments[0])
	}
	if err := run.limits.spend(array.Len() * keyWork); err != nil {
		return nil, err
	}
	pairIn := objectPair
	if _, ofArrays := array.At(0).(document.Array); ofArrays {
		pairIn = arrayPair
	}
	b := document.NewBuilder(array.Len())
	for i, item := range array.Items() {
		key, value, err := pairIn(item)
		if err != nil {
			return nil, boterr.PrefixField(boterr.Index(i), err)
		}
		b.Set(key, value)
	}
	return run.limits.object(b.Object())
}

// arrayPair reads [key, value].
func arrayPair(item any) (string, any, error) {
	pair, _ := item.(document.Array)
	if pair.Len() != 2 {
		return "", nil, boterr.Invalid("", "must be an array of a key and a value, as the first one is, got %s", document.Excerpt(item))
	}
	key, err := pairKey(pair.At(0))
	return key, pair.At(1), err
}

// objectPair reads {k: key, v: value}.
func objectPair(item any) (string, any, error) {
	pair, _ := item.(document.Object)
	k, ok1 := pair.Field("k")
	value, ok2 := pair.Field("v")
	if !ok1 || !ok2 || pair.Len() != 2 {
		return "", nil, boterr.Invalid("", "must be an object of k and v alone, as the first one is, got %s", document.Excerpt(item))
	}
	key, err := pairKey(k)
	return key, value, err
}

func pairKey(key any) (string, error) {
	name, ok := key.(string)
	switch {
	case !ok:
		return "", boterr.Invalid("", "the key must be a string, got %s", document.TypeName(key))
	case strings.ContainsRune(name, 0):
		return "", boterr.Invalid("", "the key %s holds a NUL byte", document.Excerpt(name))
	default:
		return name, nil
	}
}

// fieldOf is $getField, for names with a dot or a dollar sign, too.
type fieldOf struct{ name, input expression }

// getField compiles $getField in either form.
func (c expressionCompiler) getField(operand any) (expression, error) {
	e := &fieldOf{input: wholeRoot{}}
	var err error
	named, ok := operand.(document.Object)
	if !ok || isOperatorObject(named) {
		if slot, bound := c.scope.find("CURRENT"); bound {
			e.input = variable(slot)
		}
		e.name, err = c.expression(operand)
	} else {
		var arguments []expression
		if arguments, err = c.named(named, []string{"field", "input"}, 2); err == nil {
			e.name, e.input = arguments[0], arguments[1]
		}
	}
	if err != nil {
		return nil, err
	}
	if name, ok := e.name.(constant); ok {
		if _, ok := name.value.(string); !ok {
			return nil, boterr.PrefixField("field", needsString(name.value))
		}
	}
	return folded(e, e.name, e.input)
}

func (e *fieldOf) evaluate(run *expressionRun) (any, error) {
	name, err := e.name.evaluate(run)
	if err != nil {
		return nil, err
	}
	field, ok := name.(string)
	if !ok {
		return nil, boterr.PrefixField("$getField", needsString(name))
	}
	input, err := e.input.evaluate(run)
	if err != nil || input == nil {
		return nil, err
	}
	o, ok := input.(document.Object)
	if !ok {
		return document.Missing, nil
	}
	return o.Value(field), nil
}

// withField is $setField and $unsetField.
type withField struct {
	operator     string
	name         string
	input, value expression
}

// setField compiles $setField.
func (c expressionCompiler) setField(operand any) (expression, error) {
	source, err := argumentsIn(operand, "field", "input", "value")
	if err != nil {
		return nil, err
	}
	return c.withField("$setField", source)
}

// unsetField compiles $unsetField.
func (c expressionCompiler) unsetField(operand any) (expression, error) {
	source, err := argumentsIn(operand, "field", "input")
	if err != nil {
		return nil, err
	}
	source["value"] = "$$REMOVE"
	return c.withField("$unsetField", source)
}

func (c expressionCompiler) withField(operator string, source map[string]any) (expression, error) {
	e := &withField{operator: operator}
	field, err := c.expression(source["field"])
	if err != nil {
		return nil, boterr.PrefixField("field", err)
	}
	name, ok := field.(constant)
	if !ok {
		return nil, boterr.Invalid("field", "must be a constant; for a name that begins with $ use $literal")
	}
	if e.name, ok = name.value.(string); !ok {
		return nil, boterr.PrefixField("field", needsString(name.value))
	}
	if e.input, err = c.expression(source["input"]); err != nil {
		return nil, boterr.PrefixField("input", err)
	}
	if e.value, err = c.expression(source["value"]); err != nil {
		return nil, boterr.PrefixField("value", err)
	}
	return folded(e, e.input, e.value)
}

func (e *withField) evaluate(run *expressionRun) (any, error) {
	input, err := e.input.evaluate(run)
	if err != nil {
		return nil, err
	}
	value, err := e.value.evaluate(run)
	if err != nil || isNullish(input) {
		return nil, err
	}
	o, ok := input.(document.Object)
	if !ok {
		return nil, boterr.Invalid(e.operator, "needs an object, got %s", document.TypeName(input))
	}
	return run.limits.object(o.Put(e.name, value))
}
