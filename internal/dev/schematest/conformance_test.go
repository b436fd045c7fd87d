package schematest_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/botctx/botctxtest"
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
