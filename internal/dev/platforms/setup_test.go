package platforms_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
)

// data returns the content of a file in the platforms' data. It skips the test if the file is missing.
func data(tb testing.TB, name ...string) []byte {
	tb.Helper()
	path := filepath.Join(append([]string{"..", "..", "..", "..", "shared", "data", "platforms"}, name...)...)
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		tb.Skipf("the platforms' data (%s) is not next to this repository, so nothing is held to their schemas", filepath.Join(name...))
	}
	require.NoError(tb, err)
	return text
}

// schemaIn returns the JSON Schema in a file of the platforms' data.
func schemaIn(tb testing.TB, name ...string) *jsonschema.Schema {
	tb.Helper()
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(data(tb, name...)))
	require.NoError(tb, err)
	compiler := jsonschema.NewCompiler()
	require.NoError(tb, compiler.AddResource("schema.json", parsed))
	compiled, err := compiler.Compile("schema.json")
	require.NoError(tb, err)
	return compiled
}

// fits returns an error if a JSON text does not match a schema.
func fits(schema *jsonschema.Schema, text []byte) error {
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	return schema.Validate(parsed)
}

// form returns the names of an object's fields with the types of their values.
func form(text []byte) string {
	var fields map[string]any
	if err := json.Unmarshal(text, &fields); err != nil {
		return err.Error()
	}
	return formOf(fields)
}

func formOf(value any) string {
	switch value := value.(type) {
	case map[string]any:
		var names []string
		for _, name := range slices.Sorted(maps.Keys(value)) {
			names = append(names, name+":"+formOf(value[name]))
		}
		return "{" + strings.Join(names, " ") + "}"
	case []any:
		if len(value) == 0 {
			return "[]"
		}
		return "[" + formOf(value[0]) + "]"
	default:
		return fmt.Sprintf("%T", value)
	}
}
