package schematest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/botctx/botctxtest"
	"github.com/botctx/go-sdk/botctx/schema"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/fakestest"
	"github.com/botctx/go-sdk/internal/rounds"
)

// checked is a Caller that validates each call against the schemas.
type checked struct {
	t    *testing.T
	far  botctx.Caller
	each map[botctx.Op]schemas
	seen *sync.Map // the operations that were called successfully
}

// Call validates the parameters and the result of a successful call.
func (c checked) Call(ctx context.Context, name string, args json.RawMessage) (json.RawMessage, error) {
	result, err := c.far.Call(ctx, name, args)
	if err != nil {
		return result, err
	}
	if len(args) == 0 {
		args = []byte("{}")
	}
	c.seen.Store(name, true)
	own := c.each[botctx.Op(name)]
	if wrong := validate(own.params, args); wrong != nil {
		c.t.Errorf("%s was accepted with %s: %v", name, args, wrong) // Rules make calls from many goroutines.
	}
	if wrong := validate(own.result, result); wrong != nil {
		c.t.Errorf("%s gave %s: %v", name, result, wrong)
	}
	return result, err
}

// Parameters and results of every successful call of the operations' suite must match the schemas of strict mode. The
// usual test checks some of the rules, the thorough test all of them.
func TestSchemas_HoldForEachCallOfTheSuite(t *testing.T) {
	t.Parallel()
	each, err := compile()
	require.NoError(t, err)
	var seen sync.Map
	rules := botctxtest.Rules()
	step := len(rules) / rounds.Of(t, len(rules)/oneOf, len(rules))
	for i, rule := range rules {
		if i%step == 0 {
			t.Run(rule.Name, func(t *testing.T) {
				t.Parallel()
				rule.Check(t, harness(t, func(far botctx.Caller) botctx.Caller { return checked{t, far, each, &seen} }))
			})
		}
	}
	if step > 1 {
		return
	}
	t.Cleanup(func() { // after all rules
		for _, op := range botctx.Ops() {
			if _, isSeen := seen.Load(string(op)); !isSeen && !t.Failed() {
				t.Errorf("no rule called %s with success", op)
			}
		}
	})
}

// oneOf is the interval at which the usual test picks rules.
const oneOf = 7

// harness returns a harness of the fakes in strict mode, with before around their Caller.
func harness(t *testing.T, before func(botctx.Caller) botctx.Caller) *botctxtest.Harness {
	t.Helper()
	h := *fakestest.Harness(fakes.New(fakes.For(t), fakes.Config(func(c *botctx.Config) { c.Strict = true })))
	direct := h.Operations
	h.Operations = func(scope botctx.Scope) botctx.Operations {
		return botctx.FromCaller(before(direct(scope).(botctx.Caller)))
	}
	return &h
}

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

func TestSchemas_AreValidAndStandForThemselves(t *testing.T) {
	t.Parallel()
	each, err := compile()
	require.NoError(t, err)
	require.Len(t, each, len(botctx.Ops()))
}

func TestSchemas_TheFileOfAll(t *testing.T) {
	t.Parallel()
	_, err := compileOne("all", schema.All())
	require.NoError(t, err)
}
