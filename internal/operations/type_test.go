package operations_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/internal/operations"
)

func TestType_AcceptsItsAlternatives(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		declared operations.Type
		accepted []string
		refused  []string
	}{
		{"string", []string{`""`, `"a"`}, []string{`1`, `null`, `["a"]`, `{}`}},
		{"number", []string{`0`, `1.5`}, []string{`"1"`, `true`}},
		{"boolean", []string{`true`, `false`}, []string{`0`, `null`}},
		{"object", []string{`{}`, `{"a": 1}`}, []string{`[]`, `[{}]`, `null`}},
		{"null", []string{`null`}, []string{`{}`, `false`}},
		{"any", []string{`null`, `1`, `"a"`, `[]`, `{}`}, nil},
		{"string[]", []string{`[]`, `["a", "b"]`}, []string{`"a"`, `["a", 1]`}},
		{"any[]", []string{`[]`, `[1, null, "a"]`}, []string{`1`, `{}`}},
		{"object | object[]", []string{`{}`, `[{}, {}]`}, []string{`"a"`, `[{}, 1]`, `null`}},
		{"object | null", []string{`{}`, `null`}, []string{`[]`}},
	} {
		for _, text := range c.accepted {
			require.True(t, c.declared.Accepts(decoded(t, text)), "%s accepts %s", c.declared, text)
		}
		for _, text := range c.refused {
			require.False(t, c.declared.Accepts(decoded(t, text)), "%s refuses %s", c.declared, text)
		}
	}
}

func TestType_NamesElementOfAnArray(t *testing.T) {
	t.Parallel()
	element, isArray := operations.Type("object[]").Element()
	require.True(t, isArray)
	require.Equal(t, operations.Type("object"), element)
	for _, noArray := range []operations.Type{"object", "object | object[]"} {
		_, isArray = noArray.Element()
		require.False(t, isArray, noArray)
	}
}

func decoded(t *testing.T, text string) any {
	t.Helper()
	var value any
	require.NoError(t, json.Unmarshal([]byte(text), &value))
	return value
}
