package query

import (
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// zipped is $zip: it makes arrays of the elements that have the same index.
type zipped struct {
	inputs []expression
	// longest tells that the longest input decides how many arrays there are.
	longest bool
	// defaults stand for the elements that a shorter input lacks, nil for null.
	defaults []expression
}

// zip compiles $zip.
func (c expressionCompiler) zip(operand any) (expression, error) {
	source, err := argumentsAmong(operand, []string{"inputs"}, []string{"useLongestLength", "defaults"})
	if err != nil {
		return nil, err
	}
	e := &zipped{}
	if e.inputs, err = c.listOf(source["inputs"]); err != nil {
		return nil, boterr.PrefixField("inputs", err)
	}
	if len(e.inputs) == 0 {
		return nil, boterr.Invalid("inputs", "needs at least one array")
	}
	if longest, ok := source["useLongestLength"]; ok {
		if e.longest, ok = longest.(bool); !ok {
			return nil, boterr.PrefixField("useLongestLength", document.WrongType("bool", longest))
		}
	}
	defaults, ok := source["defaults"]
	if !ok {
		return e, nil
	}
	if e.defaults, err = c.listOf(defaults); err != nil {
		return nil, boterr.PrefixField("defaults", err)
	}
	if !e.longest || len(e.defaults) != len(e.inputs) {
		return nil, boterr.Invalid("defaults", "needs useLongestLength, and one value for each input")
	}
	return e, nil
}

// listOf compiles an array of expressions that must be one.
func (c expressionCompiler) listOf(operand any) ([]expression, error) {
	list, ok := operand.(document.Array)
	if !ok {
		return nil, document.WrongType("array", operand)
	}
	return c.expressions(list)
}

func (e *zipped) evaluate(run *expressionRun) (any, error) {
	inputs := make([][]any, 0, len(e.inputs))
	length := -1
	for _, input := range e.inputs {
		value, err := input.evaluate(run)
		if err != nil || isNullish(value) {
			return nil, err
		}
		array, ok := value.(document.Array)
		if !ok {
			return nil, boterr.PrefixField("$zip", needsArray(value))
		}
		inputs = append(inputs, array.Items())
		if length < 0 || e.longest == (array.Len() > length) {
			length = array.Len()
		}
	}
	defaults := make([]any, len(inputs))
	for i, value := range e.defaults {
		v, err := value.evaluate(run)
		if err != nil {
			return nil, err
		}
		defaults[i] = orNull(v)
	}
	return run.zip(inputs, defaults, length)
}

// zip makes length arrays of the elements of inputs.
func (run *expressionRun) zip(inputs [][]any, defaults []any, length int) (any, error) {
	if err := run.limits.items(length); err != nil {
		return nil, boterr.PrefixField("$zip", err)
	}
	rows := make([]any, 0, length)
	for i := range length {
		row := make([]any, 0, len(inputs))
		for j, items := range inputs {
			if i < len(items) {
				row = append(row, items[i])
			} else {
				row = append(row, defaults[j])
			}
		}
		made, err := run.limits.array(row)
		if err != nil {
			return nil, boterr.PrefixField("$zip", err)
		}
		rows = append(rows, made)
	}
	return run.limits.array(rows)
}

// sortedArray is $sortArray.
type sortedArray struct {
	input expression
	order itemOrder
}

// sortArray compiles $sortArray.
func (c expressionCompiler) sortArray(operand any) (expression, error) {
	source, err := argumentsIn(operand, "input", "sortBy")
	if err != nil {
		return nil, err
	}
	e := &sortedArray{}
	if e.order, err = compileItemOrder(source["sortBy"]); err != nil {
		return nil, boterr.PrefixField("sortBy", err)
	}
	e.input, err = c.expression(source["input"])
	return e, boterr.PrefixField("input", err)
}

func (e *sortedArray) evaluate(run *expressionRun) (any, error) {
	input, err := e.input.evaluate(run)
	if err != nil || isNullish(input) {
		return nil, err
	}
	array, ok := input.(document.Array)
	if !ok {
		return nil, boterr.PrefixField("$sortArray", needsArray(input))
	}
	if err := run.limits.items(array.Len()); err != nil {
		return nil, boterr.PrefixField("$sortArray", err)
	}
	items, err := e.order.sorted(array.Items(), run.limits.ordering)
	if err != nil {
		return nil, boterr.PrefixField("$sortArray", err)
	}
	return run.limits.array(items)
}
