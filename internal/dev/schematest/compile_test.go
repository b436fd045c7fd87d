package schematest_test

import (
	"bytes"
	"fmt"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/botctx/schema"
)

// schemas are the compiled schemas of an operation.
type schemas struct{ params, result *jsonschema.Schema }

// compile returns the schemas of all operations. It checks each against the meta-schema.
func compile() (map[botctx.Op]schemas, error) {
	compiled := map[botctx.Op]schemas{}
	for _, op := range botctx.Ops() {
		described, exists := schema.Of(op)
		if !exists {
			return nil, fmt.Errorf("%s has no schema", op)
		}
		params, err := compileOne(string(op)+"/params", described.Params)
		if err != nil {
			return nil, err
		}
		result, err := compileOne(string(op)+"/result", described.Result)
		if err != nil {
			return nil, err
		}
		compiled[op] = schemas{params, result}
	}
	return compiled, nil
}

// compileOne compiles a schema without references, so it loads nothing.
func compileOne(name string, text []byte) (*jsonschema.Schema, error) {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.UseLoader(jsonschema.SchemeURLLoader{})
	address := "schema:///" + name
	if err := compiler.AddResource(address, value); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return compiler.Compile(address)
}

// validate checks JSON against a schema.
func validate(schema *jsonschema.Schema, text []byte) error {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	return schema.Validate(value)
}
