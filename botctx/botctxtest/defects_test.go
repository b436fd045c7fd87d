package botctxtest_test

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/botctx/botctxtest"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/operations"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/member"
)

// defects are ways to break an operation, by name. Each returns an interceptor that breaks it.
var defects = map[string]func(op operations.Operation) botctx.Interceptor{
	"does nothing":                   doesNothing,
	"fails":                          fails,
	"gives its first answer again":   answersOnce,
	"answers nothing":                answersNothing,
	"refuses nothing":                refusesNothing,
	"names no field":                 namesNoField,
	"names no code":                  namesNoCode,
	"refuses to be repeated":         refusesRepeats,
	"takes nothing from the context": takesNothingFromTheContext,
	"believes records":               believesRecords,
}

// unnoticed are defects that the rules about an operation cannot notice, because its results are always the same or
// because the harness has no function that shows the effect.
var unnoticed = map[string][]string{
	"alphaPassThreadControl":      {"ignores metadata", "ignores targetAppId"},
	"alphaRemoveCustomLabel":      {"gives its first answer again"},
	"charlieArchiveConversation":  {"gives its first answer again"},
	"checkAndSaveMemberReferFrom": {"gives its first answer again", "refuses to be repeated"},
	"fetchGeoNearFromDataSource":  {"ignores data.includeLocs"},
	"golf":                        {"gives its first answer again"},
	"inactivateGroup":             {"gives its first answer again"},
	"sendEmail":                   {"ignores message.Subject.Charset"},
	"sendResponse":                {"ignores messagingTag", "ignores messagingType"},
}

// TestSuite_NoticesDefects breaks operations with each of their defects. At least one rule about the operation must notice
// each defect, and each rule must notice at least one defect. It breaks a quarter of the operations, or all of them in
// thorough tests.
func TestSuite_NoticesDefects(t *testing.T) {
	t.Parallel()
	step := 4 / rounds.Of(t, 1, 4)
	for i, op := range operations.All() {
		if i%step != 0 {
			continue
		}
		t.Run(op.Name, func(t *testing.T) {
			t.Parallel()
			checks, missed := newChecks(op.Name), []string{}
			for name, breaking := range defectsOf(op) {
				if !checks.notice(t, func() *botctxtest.Harness { return newHarness(only(op, breaking(op))) }) {
					missed = append(missed, name)
				}
			}
			require.ElementsMatch(t, unnoticed[op.Name], missed, "no rule notices these defects")
			require.Empty(t, checks.unbroken, "these rules notice no defect")
		})
	}
}

// defectsOf returns the defects that an operation can have: the defects of the table, and one or two for each
// parameter.
func defectsOf(op operations.Operation) map[string]func(operations.Operation) botctx.Interceptor {
	takes := func(isMeant func(operations.Field) bool) bool { return slices.ContainsFunc(op.Parameters, isMeant) }
	possible := map[string]bool{
		"answers nothing":                op.Responses[0].Type != "null",
		"refuses to be repeated":         op.Repeatable && op.Effect != operations.Reads,
		"takes nothing from the context": takes(func(p operations.Field) bool { return p.Need == operations.FromContext }),
		"believes records": takes(func(p operations.Field) bool {
			return p.Type == "object" && slices.Contains([]string{"channel", "member", "group"}, p.Kind)
		}),
	}
	all := map[string]func(operations.Operation) botctx.Interceptor{}
	for name, breaking := range defects {
		if isPossible, depends := possible[name]; isPossible || !depends {
			all[name] = breaking
		}
	}
	addParameterDefects(all, "", op.Parameters)
	return all
}

// addParameterDefects adds the defects of parameters: each parameter is ignored, and each default is changed.
func addParameterDefects(all map[string]func(operations.Operation) botctx.Interceptor, parent string, fields []operations.Field) {
	for _, field := range fields {
		path := parent + field.Name
		all["ignores "+path] = func(operations.Operation) botctx.Interceptor {
			return altering(func(params *document.Object) { params.Delete(path) })
		}
		if field.Default != nil {
			all["has another default for "+path] = func(operations.Operation) botctx.Interceptor {
				return altering(func(params *document.Object) {
					if _, isGiven := params.Lookup(path); !isGiven {
						params.Set(path, otherThan(field.Default))
					}
				})
			}
		}
		addParameterDefects(all, path+".", field.Fields)
	}
}

// checks are the rules about one operation, or the rules about several operations.
type checks struct {
	// unbroken are the rules that no defect has broken so far. broken are the other rules.
	unbroken, broken []botctxtest.Rule
}

// newChecks returns the rules about an operation. If op is "", it returns the rules about several operations.
func newChecks(op string) *checks {
	return &checks{unbroken: slices.DeleteFunc(botctxtest.Rules(), func(rule botctxtest.Rule) bool { return opOf(rule) != op })}
}

// notice reports whether a rule fails for a broken implementation. It tries all rules in unbroken, and then the rules in
// broken until one fails.
func (c *checks) notice(t *testing.T, broken func() *botctxtest.Harness) bool {
	t.Helper()
	notices := func(rule botctxtest.Rule) bool {
		reports := violations(t.Context(), rule, broken())
		if len(reports) > 0 {
			require.True(t, strings.HasPrefix(reports[0], "rule broken: "+rule.Text), reports[0])
		}
		return len(reports) > 0
	}
	var unbroken, noticing []botctxtest.Rule
	for _, rule := range c.unbroken {
		if notices(rule) {
			noticing = append(noticing, rule)
		} else {
			unbroken = append(unbroken, rule)
		}
	}
	isNoticed := len(noticing) > 0 || slices.ContainsFunc(c.broken, notices)
	c.unbroken, c.broken = unbroken, append(c.broken, noticing...)
	return isNoticed
}

// opOf returns the name of the operation of a rule, or "" if the rule is about several operations.
func opOf(rule botctxtest.Rule) string {
	longest := ""
	for _, op := range operations.All() {
		if strings.HasPrefix(rule.Name, strings.ToUpper(op.Name[:1])+op.Name[1:]) && len(op.Name) > len(longest) {
			longest = op.Name
		}
	}
	return longest
}

// only returns an interceptor that applies breaking only to calls of one operation.
func only(op operations.Operation, breaking botctx.Interceptor) botctx.Interceptor {
	return func(ctx context.Context, call *botctx.Call, next botctx.Next) (any, error) {
		if string(call.Op) != op.Name {
			return next(ctx)
		}
		return breaking(ctx, call, next)
	}
}

// zeroOf returns the zero value of an operation's result.
func zeroOf(op operations.Operation) any {
	method, _ := reflect.TypeFor[botctx.Operations]().MethodByName(op.Method)
	return reflect.Zero(method.Type.Out(0)).Interface()
}

func doesNothing(op operations.Operation) botctx.Interceptor {
	return func(context.Context, *botctx.Call, botctx.Next) (any, error) { return zeroOf(op), nil }
}

func fails(operations.Operation) botctx.Interceptor {
	return func(context.Context, *botctx.Call, botctx.Next) (any, error) {
		return nil, boterr.New(boterr.Internal, "", "fails always")
	}
}

func answersOnce(operations.Operation) botctx.Interceptor {
	var mu sync.Mutex
	var first any
	return func(ctx context.Context, _ *botctx.Call, next botctx.Next) (any, error) {
		mu.Lock()
		defer mu.Unlock()
		if first != nil {
			return first, nil
		}
		answer, err := next(ctx)
		if err == nil {
			first = answer
		}
		return answer, err
	}
}

func answersNothing(op operations.Operation) botctx.Interceptor {
	return func(ctx context.Context, _ *botctx.Call, next botctx.Next) (any, error) {
		_, err := next(ctx)
		return zeroOf(op), err
	}
}

func refusesNothing(op operations.Operation) botctx.Interceptor {
	return func(ctx context.Context, _ *botctx.Call, next botctx.Next) (any, error) {
		answer, err := next(ctx)
		if err != nil {
			return zeroOf(op), nil //nolint:nilerr // The defect ignores the error.
		}
		return answer, nil
	}
}

func namesNoField(operations.Operation) botctx.Interceptor {
	return func(ctx context.Context, _ *botctx.Call, next botctx.Next) (any, error) {
		answer, err := next(ctx)
		if err != nil {
			err = boterr.New(boterr.CodeOf(err), "", "no")
		}
		return answer, err
	}
}

func namesNoCode(operations.Operation) botctx.Interceptor {
	return func(ctx context.Context, _ *botctx.Call, next botctx.Next) (any, error) {
		answer, err := next(ctx)
		if err != nil {
			err = boterr.New(boterr.Internal, "", "%v", err)
		}
		return answer, err
	}
}

func refusesRepeats(operations.Operation) botctx.Interceptor {
	var mu sync.Mutex
	seen := map[string]bool{}
	return func(ctx context.Context, call *botctx.Call, next botctx.Next) (any, error) {
		params, err := document.Encode(call.Params)
		if err != nil {
			return next(ctx)
		}
		mu.Lock()
		isRepeat := seen[params.String()]
		seen[params.String()] = true
		mu.Unlock()
		if isRepeat {
			return nil, boterr.New(boterr.AlreadyExists, "", "is done already")
		}
		return next(ctx)
	}
}

// takesNothingFromTheContext returns an interceptor that refuses calls without a channel or a member.
func takesNothingFromTheContext(op operations.Operation) botctx.Interceptor {
	return func(ctx context.Context, call *botctx.Call, next botctx.Next) (any, error) {
		params, err := document.Encode(call.Params)
		for _, field := range op.Parameters {
			if err == nil && field.Need == operations.FromContext && !params.Has(field.Name) && !params.Has(field.Other) {
				return nil, boterr.Invalid(field.Name, "is missing")
			}
		}
		return next(ctx)
	}
}

// believesRecords returns an interceptor that trusts all fields of records in parameters.
func believesRecords(operations.Operation) botctx.Interceptor {
	return func(ctx context.Context, call *botctx.Call, next botctx.Next) (any, error) {
		if params, err := document.Encode(call.Params); err == nil && strings.Contains(params.String(), `"forged"`) {
			return nil, boterr.New(boterr.Unsupported, "channel", "there is no such platform")
		}
		return next(ctx)
	}
}

// altering returns an interceptor that changes params, except params that cannot be encoded.
func altering(alter func(*document.Object)) botctx.Interceptor {
	return func(ctx context.Context, call *botctx.Call, next botctx.Next) (any, error) {
		params, err := document.Encode(call.Params)
		altered := reflect.New(reflect.TypeOf(call.Params))
		if err == nil {
			alter(&params)
			err = document.Decode(params, altered.Interface())
		}
		if err == nil {
			call.Params = altered.Elem().Interface()
		}
		return next(ctx)
	}
}

// otherThan returns a different value of the same type.
func otherThan(text json.RawMessage) any {
	var value any
	_ = json.Unmarshal(text, &value)
	switch value := value.(type) {
	case bool:
		return !value
	case float64:
		return value + 1
	default:
		return "another"
	}
}

// defectsOfAll are ways to break all operations at once, by name.
var defectsOfAll = map[string]func() *botctxtest.Harness{
	"nothing is done": func() *botctxtest.Harness {
		return newHarness(func(ctx context.Context, call *botctx.Call, next botctx.Next) (any, error) {
			op, _ := operations.ByName(string(call.Op))
			return doesNothing(op)(ctx, call, next)
		})
	},
	"contexts never end": func() *botctxtest.Harness {
		return newHarness(func(ctx context.Context, _ *botctx.Call, next botctx.Next) (any, error) {
			return next(context.WithoutCancel(ctx))
		})
	},
	"the clock stands still": func() *botctxtest.Harness {
		h := newHarness()
		h.Advance = func(time.Duration) {}
		return h
	},
	"all apps are one": oneApp,
	"failures have no code": func() *botctxtest.Harness {
		return newHarness(namesNoCode(operations.Operation{}))
	},
}

// TestSuite_NoticesDefectsOfAll is TestSuite_NoticesDefects for the rules about several operations.
func TestSuite_NoticesDefectsOfAll(t *testing.T) {
	t.Parallel()
	checks := newChecks("")
	for name, broken := range defectsOfAll {
		require.True(t, checks.notice(t, broken), "no rule notices if %s", name)
	}
	require.Empty(t, checks.unbroken, "these rules notice no defect")
}

// TestSuite_KeepsAppsApart checks that the suite notices operations that use another app.
func TestSuite_KeepsAppsApart(t *testing.T) {
	t.Parallel()
	for _, rule := range botctxtest.Rules() {
		for _, ending := range []string{"FindsNoOthers", "StaysInTheApp", "IsEmptyForOthers", "NotRead", "NotWritten"} {
			if strings.HasSuffix(rule.Name, ending) {
				require.NotEmpty(t, violations(t.Context(), rule, oneApp()), "%s does not notice that all apps are one", rule.Name)
			}
		}
	}
}

func oneApp() *botctxtest.Harness {
	h := newHarness()
	addChannel, addMember, whole := h.AddChannel, h.AddMember, h.Operations
	h.AddChannel = func(c channel.Channel) *channel.Channel {
		app := c.App
		c.App = ""
		stored := addChannel(c)
		stored.App = app
		return stored
	}
	h.AddMember = func(m member.Member) *member.Member {
		app := m.App
		m.App = ""
		stored := addMember(m)
		stored.App = app
		return stored
	}
	pair, agent := h.Pair, h.Agent
	h.Pair = func(inlet *channel.Channel, outlets ...*channel.Channel) {
		ids := make([]*channel.Channel, len(outlets))
		for i, outlet := range outlets {
			ids[i] = &channel.Channel{ID: outlet.ID}
		}
		pair(&channel.Channel{ID: inlet.ID}, ids...)
	}
	h.Agent = func(outlet *channel.Channel) *botctxtest.Agent { return agent(&channel.Channel{ID: outlet.ID}) }
	addAccount := h.AddAccount
	h.AddAccount = func(_, name string) { addAccount("", name) }
	h.Operations = func(scope botctx.Scope) botctx.Operations {
		scope.App = ""
		return whole(scope)
	}
	return h
}
