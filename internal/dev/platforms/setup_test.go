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
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
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

// openAPI is a platform's API, read from an OpenAPI file.
type openAPI struct {
	paths map[string]*openapi3.PathItem
	// schemas are the named schemas.
	schemas openapi3.Schemas
	// mu guards the schemas, which are compiled at first use.
	mu sync.Mutex
}

func openAPIIn(tb testing.TB, name ...string) *openAPI {
	tb.Helper()
	file, err := openapi3.NewLoader().LoadFromData(data(tb, name...))
	require.NoError(tb, err)
	return &openAPI{paths: file.Paths.Map(), schemas: file.Components.Schemas}
}

// request returns the schema of an operation's request body. answer returns the schema of its answers.
func (a *openAPI) request(method, path string) (*openapi3.Schema, error) {
	operation, err := a.operation(method, path)
	if err != nil || operation.RequestBody == nil {
		return nil, err
	}
	return schemaOf(operation.RequestBody.Value.Content.Get("application/json")), nil
}

func (a *openAPI) answer(method, path string) (*openapi3.Schema, error) {
	operation, err := a.operation(method, path)
	if err != nil {
		return nil, err
	}
	return schemaOf(operation.Responses.Value("200").Value.Content.Get("application/json")), nil
}

func schemaOf(media *openapi3.MediaType) *openapi3.Schema {
	if media == nil {
		return nil
	}
	return media.Schema.Value
}

func (a *openAPI) operation(method, path string) (*openapi3.Operation, error) {
	item := a.paths[path]
	if item == nil || item.GetOperation(method) == nil {
		return nil, fmt.Errorf("the API has no %s %s", method, path)
	}
	return item.GetOperation(method), nil
}

// check returns an error if a JSON text does not match a schema. A nil schema matches any object.
func (a *openAPI) check(schema *openapi3.Schema, text []byte) error {
	var value map[string]any
	decoder := json.NewDecoder(bytes.NewReader(text))
	if err := decoder.Decode(&value); err != nil {
		return err
	}
	if schema == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return schema.VisitJSON(value)
}

// unknown returns the fields of an object that are neither in its schema nor in apart.
func unknown(schema *openapi3.Schema, text []byte, apart ...string) (names []string) {
	var value map[string]any
	if json.Unmarshal(text, &value) != nil || schema == nil {
		return nil
	}
	for name := range value {
		if schema.Properties[name] == nil && !slices.Contains(apart, name) {
			names = append(names, name)
		}
	}
	return names
}
