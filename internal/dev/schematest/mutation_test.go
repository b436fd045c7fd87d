package schematest_test

import (
	"context"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/botctx/botctxtest"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/operations"
	"github.com/botctx/go-sdk/internal/rounds"
)

// mutating is a Caller that repeats successful calls with changed parameters. If the schema refuses them, the call
// must return InvalidArgument. If the schema accepts them, they must be decodable as the operation's parameters.
type mutating struct {
	t    *testing.T
	far  botctx.Caller
	each map[botctx.Op]schemas
	// tried has the operations that were already tried, with the shapes of their parameters.
	tried *sync.Map
}

// Call makes the call, and then the same call with changes.
func (m mutating) Call(ctx context.Context, name string, args json.RawMessage) (json.RawMessage, error) {
	result, err := m.far.Call(ctx, name, args)
	if err != nil {
		return result, err
	}
	var params map[string]any
	if err := json.Unmarshal(args, &params); err != nil {
		return result, nil //nolint:nilerr // The call had no parameters to change.
	}
	if _, isTried := m.tried.LoadOrStore(name+shapeOf(params), true); !isTried {
		for _, changed := range changes(params) {
			m.try(ctx, name, changed)
		}
	}
	return result, nil
}

// shapeOf returns the names of the parameters and of the fields within them.
func shapeOf(params map[string]any) string {
	var shape strings.Builder
	for _, name := range slices.Sorted(maps.Keys(params)) {
		shape.WriteString(" " + name)
		if inner, isObject := params[name].(map[string]any); isObject {
			shape.WriteString("(" + shapeOf(inner) + " )")
		}
	}
	return shape.String()
}

// try validates a call with changed parameters against the schema.
func (m mutating) try(ctx context.Context, name string, params map[string]any) {
	text, err := json.Marshal(params)
	if err != nil {
		m.t.Errorf("%s: %v", name, err)
		return
	}
	refused := validate(m.each[botctx.Op(name)].params, text)
	if refused == nil {
		if err := read(name, text); err != nil && !slices.Contains(objectsOfMeaning, fieldOf(name, err)) {
			m.t.Errorf("the schema accepts %s for %s, which cannot be read: %v", text, name, err)
		}
		return
	}
	if _, err := m.far.Call(ctx, name, text); boterr.CodeOf(err) != boterr.InvalidArgument {
		m.t.Errorf("%s with %s: %v, and the schema says: %v", name, text, err, refused)
	}
}

// objectsOfMeaning are parameters that may be an object that contains the value. The schema accepts any object, but
// the call needs certain fields.
var objectsOfMeaning = []string{"alphaGetAttachmentId type.type", "alphaSendBroadcast broadcastId"}

func fieldOf(name string, err error) string {
	e, _ := boterr.AsError(err)
	return name + " " + e.Field
}

// read decodes parameters as in strict mode.
func read(name string, text []byte) error {
	method, _ := reflect.TypeFor[botctx.Operations]().MethodByName(operations.GoName(name))
	var fields document.Object
	if err := fields.UnmarshalJSON(text); err != nil {
		return err
	}
	return document.DecodeStrict(fields, reflect.New(method.Type.In(1)).Interface())
}

// others are replacements for a value, one of each type.
var others = []any{nil, true, 7.0, "text", []any{}, []any{7.0}, map[string]any{}, map[string]any{"odd": []any{nil}}}

// changes returns parameters that each differ from the given ones in one place.
func changes(params map[string]any) []map[string]any {
	all := []map[string]any{with(params, "parameterOfNobody", 1.0)}
	for name, value := range params {
		without := maps.Clone(params)
		delete(without, name)
		all = append(all, without)
		for _, other := range others {
			if !reflect.DeepEqual(value, other) {
				all = append(all, with(params, name, other))
			}
		}
		if inner, isObject := value.(map[string]any); isObject {
			for _, changed := range changes(inner) {
				all = append(all, with(params, name, changed))
			}
		}
	}
	return all
}

// with returns parameters with one value replaced.
func with(params map[string]any, name string, value any) map[string]any {
	changed := maps.Clone(params)
	changed[name] = value
	return changed
}

func TestSchemas_RefuseWhatCallsRefuse(t *testing.T) {
	t.Parallel()
	each, err := compile()
	require.NoError(t, err)
	var tried sync.Map
	rules := slices.DeleteFunc(botctxtest.Rules(), func(rule botctxtest.Rule) bool { return strings.Contains(rule.Name, "Concurrent") })
	step := len(rules) / rounds.Of(t, len(rules)/oneOf, len(rules))
	for i, rule := range rules {
		if i%step == 0 {
			t.Run(rule.Name, func(t *testing.T) {
				t.Parallel()
				rule.Check(t, harness(t, func(far botctx.Caller) botctx.Caller { return mutating{t, far, each, &tried} }))
			})
		}
	}
}
