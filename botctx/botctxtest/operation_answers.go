package botctxtest

import (
	"encoding/json"
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/internal/operations"
)

func (o operation) answersAsDocumented(t *trial) {
	p := o.in(t, t.home)
	result, err := o.call.with(t.ctx(), p.Operations, o.op, o.input(p))
	require.NoError(t, err)
	text := textOf(t, result)
	var answer any
	require.NoError(t, json.Unmarshal([]byte(text), &answer))
	responses := o.specified().Responses
	require.True(t, slices.ContainsFunc(responses, func(r operations.Response) bool { return answers(r, answer) }),
		"the specification shows no such result: %s", text)
	switch shape := responses[0]; {
	case shape.Type == "null":
	case shape.Kind == "":
		require.False(t, holdsOneOf(answer, nil, "", false), "the result says that nothing was done: %s", text)
		fallthrough
	default:
		require.False(t, isNothing(answer), "the result says that nothing was done: %s", text)
	}
}

// answers reports whether a result has a shape of the specification.
func answers(shape operations.Response, result any) bool {
	fields, isClosed := shape.Fields, len(shape.Fields) > 0
	if kind, ok := operations.KindNamed(shape.Kind); ok {
		fields, isClosed = kind.Fields, false
	}
	return shape.Type.Accepts(result) && hasFields(result, fields, isClosed)
}

// hasFields reports whether an object, or each object of a list, has the fields that must be there,
// with their types, and where the list of fields is closed no others.
func hasFields(value any, fields []operations.Field, isClosed bool) bool {
	switch value := value.(type) {
	case []any:
		return !slices.ContainsFunc(value, func(element any) bool { return !hasFields(element, fields, isClosed) })
	case map[string]any:
		return holds(value, fields, isClosed)
	default:
		return true
	}
}

// holds is hasFields for one object.
func holds(object map[string]any, fields []operations.Field, isClosed bool) bool {
	known := 0
	for _, field := range fields {
		value, has := object[field.Name]
		if !has {
			if field.Need == operations.Always {
				return false
			}
			continue
		}
		known++
		if !field.Type.Accepts(value) || !hasFields(value, field.Fields, len(field.Fields) > 0) {
			return false
		}
	}
	return !isClosed || known == len(object)
}

// holdsOneOf reports whether a field of an object has one of the values.
func holdsOneOf(result any, values ...any) bool {
	object, _ := result.(map[string]any)
	for _, value := range object {
		if slices.Contains(values, value) {
			return true
		}
	}
	return false
}

// isNothing reports whether a result is empty, or an object of numbers that are all 0.
func isNothing(result any) bool {
	switch result := result.(type) {
	case []any:
		return len(result) == 0
	case map[string]any:
		for _, value := range result {
			if value != 0.0 {
				return false
			}
		}
		return true
	default:
		return slices.Contains([]any{nil, false, 0.0, ""}, result)
	}
}
