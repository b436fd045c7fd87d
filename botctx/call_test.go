package botctx_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/operations"
	"github.com/botctx/go-sdk/member"
)

// arguments are one argument of each operation that the SDK has, but for those of live chat,
// in JSON. They are for the platform that newCaller makes.
var arguments = map[string]string{
	"getChannel":                      `{"channelId": "channel-1"}`,
	"getMember":                       `{"memberId": "member-1"}`,
	"findAndModifyMember":             `{"filter": {"firstName": "Ada"}, "patch": {"$set": {"meta.seen": true}}, "option": {"new": true}}`,
	"patchMembers":                    `{"channel": {"_id": "channel-1"}, "memberId": "member-1", "patch": {"meta.seen": true}}`,
	"updateMember":                    `{"member": {"_id": "member-1", "gender": "f"}}`,
	"checkAndSaveMemberReferFrom":     `{"memberId": "member-1", "referFrom": "elsewhere"}`,
	"findAndModifyDataFromDataSource": `{"dataSourceId": "places", "filter": {"taken": false}, "patch": {"$set": {"taken": true}}, "sortBy": {"n": 1}}`,
	"upsertDataToDataSource":          `{"dataSourceId": "places", "data": [{"_id": "a", "n": 2}, {"n": 3}]}`,
	"countDataSource":                 `{"dataSourceId": "places", "filter": {"n": {"$gt": 0}}}`,
	"fetchDataFromDataSource":         `{"dataSourceId": "places", "sortBy": {"n": -1}}`,
	"fetchDistinctDataFromDataSource": `{"dataSourceId": "places", "key": "n"}`,
	"fetchGeoNearFromDataSource":      `{"dataSourceId": "places", "data": {"near": [0, 0]}}`,
	"patchDataToDataSource":           `{"dataSourceId": "places", "filter": {}, "patch": {"n": 1}, "options": {"upsert": false}, "multi": true}`,
	"newAgenda":                       `{"memberId": "member-1", "nodeCompositeId": "hello", "pattern": "0 9 * * *", "runUntil": 1800000000000, "tag": "daily"}`,
	"updateAgenda":                    `{"memberId": "member-1", "tag": "daily", "priority": 1}`,
	"deleteMemberAgenda":              `{"memberId": "member-1"}`,
	"redirectMemberToNode":            `{"memberId": "member-1", "nodeCompositeId": "hello"}`,
	"sendResponse":                    `{"channelId": "channel-1", "memberId": ["member-1"], "response": {"type": "TEXT", "text": "Hello"}}`,
}

// newCaller returns the context of a member of a new platform with one data source.
func newCaller(t *testing.T, options ...fakes.Option) (*fakes.Platform, *botctx.Context) {
	t.Helper()
	p := fakes.New(append(options, fakes.For(t))...)
	ada := p.AddMember(member.Member{FirstName: "Ada"})
	p.Handle(&botctx.Node{ID: "hello"})
	p.AddData("places", document.O("_id", "a", "n", 1, "taken", false, "location", document.A(0, 1)))
	return p, ada.Context()
}

// called is an operation with arguments that succeed on a platform.
type called struct {
	args string
	on   func(t *testing.T, options ...fakes.Option) (*fakes.Platform, botctx.Caller)
}

// offered returns the operations that the SDK has.
func offered() map[string]called {
	all := map[string]called{}
	for name, args := range arguments {
		all[name] = called{args, func(t *testing.T, options ...fakes.Option) (*fakes.Platform, botctx.Caller) {
			t.Helper()
			return newCaller(t, options...)
		}}
	}
	for name, args := range liveChatArguments {
		all[name] = called{args, newLiveChatCaller}
	}
	return all
}

func TestCallKnowsEveryOperationOfTheSpecification(t *testing.T) {
	t.Parallel()
	_, bot := newCaller(t)
	names := make([]string, 0, len(operations.All()))
	for _, operation := range operations.All() {
		names = append(names, operation.Name)
		require.True(t, botctx.Op(operation.Name).Exists())
		if _, isOffered := offered()[operation.Name]; isOffered {
			continue
		}
		_, err := bot.Call(t.Context(), operation.Name, nil)
		requireFailure(t, err, operation.Name, boterr.Unsupported, "")
	}
	require.Len(t, names, 69)
	require.Len(t, offered(), 18+34)
	all := []string{}
	for _, op := range botctx.Ops() {
		all = append(all, string(op))
	}
	require.Equal(t, names, all)
}

// requireFailure checks the error of an operation: its code, and the parameter at
// fault or a path in it.
func requireFailure(t *testing.T, err error, op string, code boterr.Code, field string) {
	t.Helper()
	e, ok := boterr.AsError(err)
	require.True(t, ok, "%s gives no *boterr.Error: %v", op, err)
	require.Equal(t, op, e.Op)
	require.Equal(t, code, e.Code, "%v", err)
	rest, found := strings.CutPrefix(e.Field, field)
	require.True(t, found && (rest == "" || rest[0] == '.' || rest[0] == '['), "the field is %q and should be %q: %v", e.Field, field, err)
}

func TestCallGivesWhatTheSpecificationShows(t *testing.T) {
	t.Parallel()
	for name, op := range offered() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, bot := op.on(t)
			text, err := bot.Call(t.Context(), name, json.RawMessage(op.args))
			require.NoError(t, err)
			var result any
			require.NoError(t, json.Unmarshal(text, &result))
			operation, _ := operations.ByName(name)
			require.True(t, slices.ContainsFunc(operation.Responses, func(r operations.Response) bool {
				return r.Type.Accepts(result) && hasFields(r.Fields, result)
			}), "the table shows no response such as %s", text)
		})
	}
}

// hasFields reports whether a value, or what is in it, has the fields that are there
// always, and no others.
func hasFields(fields []operations.Field, value any) bool {
	object, ok := value.(map[string]any)
	if !ok || len(fields) == 0 {
		return true
	}
	for _, field := range fields {
		inner, given := object[field.Name]
		if !given && field.Need == operations.Always || given && (!field.Type.Accepts(inner) || !hasFields(field.Fields, inner)) {
			return false
		}
	}
	return len(object) <= len(fields)
}

func TestCallRefusesOperationsThatDoNotExist(t *testing.T) {
	t.Parallel()
	_, bot := newCaller(t)
	for _, name := range []string{"", "GetMember", "getmember", "getMembers", "getMember ", "fetch"} {
		result, err := bot.Call(t.Context(), name, json.RawMessage(`{}`))
		require.Nil(t, result)
		requireFailure(t, err, name, boterr.InvalidArgument, "")
	}
}

func TestCallRefusesWhatIsNoObject(t *testing.T) {
	t.Parallel()
	for name, op := range offered() {
		p, bot := op.on(t)
		before := stored(t, p)
		for _, args := range []string{`[]`, `"x"`, `1`, `{`, `{"memberId": }`, `{} {}`, "\xff"} {
			result, err := bot.Call(t.Context(), name, json.RawMessage(args))
			require.Nil(t, result)
			requireFailure(t, err, name, boterr.InvalidArgument, "")
		}
		require.Equal(t, before, stored(t, p))
	}
}

func TestNoArgumentsCountAsAnEmptyObject(t *testing.T) {
	t.Parallel()
	for name, op := range offered() {
		operation, _ := operations.ByName(name)
		if !slices.ContainsFunc(operation.Parameters, isRequired) {
			continue
		}
		_, bot := op.on(t)
		for _, args := range []string{``, `{}`, `null`} {
			_, err := bot.Call(t.Context(), name, json.RawMessage(args))
			e, ok := boterr.AsError(err)
			require.True(t, ok, "%s without arguments: %v", name, err)
			require.Equal(t, boterr.InvalidArgument, e.Code, "%s(%s): %v", name, args, err)
			require.NotEmpty(t, e.Field, "%s(%s): %v", name, args, err)
		}
	}
}

// isRequired reports whether a parameter, or another one in its place, has to be given.
func isRequired(parameter operations.Field) bool {
	return parameter.Need == operations.Required || parameter.Need == operations.RequiredUnless
}

// stored returns all that a platform has stored and sent, as text.
func stored(t *testing.T, p *fakes.Platform) string {
	t.Helper()
	var all strings.Builder
	for _, collection := range []string{"members", "agendas", "assignments", "groups", "admins"} {
		found, err := p.Runtime().Env().Store.Collection(collection).Find(t.Context(), nil, document.FindOptions{})
		require.NoError(t, err)
		fmt.Fprintln(&all, collection, found)
	}
	fmt.Fprintln(&all, p.Data("places"), p.Groups("phone"), p.CreatedChannels("hotel"), p.Sent())
	return all.String()
}

func TestWrongTypesNameTheirParameter(t *testing.T) {
	t.Parallel()
	values := map[string]any{
		"true": true, "12": 12.0, `"x"`: "x", `{"x": 1}`: map[string]any{"x": 1.0}, `[true]`: []any{true}, `[[]]`: []any{[]any{}},
	}
	for name, op := range offered() {
		operation, _ := operations.ByName(name)
		for _, parameter := range operation.Parameters {
			t.Run(name+" "+parameter.Name, func(t *testing.T) {
				t.Parallel()
				p, bot := op.on(t)
				before := stored(t, p)
				for text, value := range values {
					if parameter.Type.Accepts(value) {
						continue
					}
					_, err := bot.Call(t.Context(), name, withParameter(t, op.args, parameter.Name, text))
					requireFailure(t, err, name, boterr.InvalidArgument, parameter.Name)
				}
				require.Equal(t, before, stored(t, p))
			})
		}
	}
}

// withParameter returns arguments with one of them changed.
func withParameter(t *testing.T, args, name, value string) json.RawMessage {
	t.Helper()
	var fields map[string]json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(args), &fields))
	fields[name] = json.RawMessage(value)
	text, err := json.Marshal(fields)
	require.NoError(t, err)
	return text
}

func TestUnknownParametersAreIgnoredOrRefused(t *testing.T) {
	t.Parallel()
	for name, op := range offered() {
		_, lenient := op.on(t)
		_, err := lenient.Call(t.Context(), name, withParameter(t, op.args, "appId", `"app-2"`))
		require.NoError(t, err, name)
		p, strict := op.on(t, fakes.Strict())
		before := stored(t, p)
		_, err = strict.Call(t.Context(), name, withParameter(t, op.args, "appId", `"app-2"`))
		requireFailure(t, err, name, boterr.InvalidArgument, "appId")
		require.Equal(t, before, stored(t, p))
		_, err = strict.Call(t.Context(), name, json.RawMessage(op.args))
		require.NoError(t, err, name)
	}
}

func TestParametersThatAreNullAreAbsent(t *testing.T) {
	t.Parallel()
	for name, op := range offered() {
		operation, _ := operations.ByName(name)
		for _, parameter := range operation.Parameters {
			if parameter.Need != operations.Optional {
				continue
			}
			_, bot := op.on(t)
			_, err := bot.Call(t.Context(), name, withParameter(t, op.args, parameter.Name, "null"))
			require.NoError(t, err, "%s with %s null", name, parameter.Name)
		}
	}
}
