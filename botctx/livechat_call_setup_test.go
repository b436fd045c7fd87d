package botctx_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/operations"
	"github.com/botctx/go-sdk/record"
)

// chatCase shows one operation of live chat by scenes in which it is called with JSON.
type chatCase struct {
	// scenes show what it does, each by a sentence.
	scenes map[string]scene
	// defaults show what a parameter means that is left out, by the parameter.
	defaults map[string]scene
	// refusals show the errors that the table has for the operation.
	refusals []refusal
}

// scene is a small story on a platform of its own.
type scene func(t *testing.T)

// refusal shows one error of the table.
type refusal struct {
	// code and when find the error: when is a part of its sentence.
	code boterr.Code
	when string
	scene
}

// chatCases returns the case of each operation of live chat.
func chatCases() map[string]chatCase {
	all := map[string]chatCase{}
	for _, part := range []map[string]chatCase{
		requestCases(), reassignCases(), lookUpCases(), updateCases(), endCases(),
		groupCases(), groupUpdateCases(), bravoCases(), adminCases(), sendCases(),
	} {
		maps.Copy(all, part)
	}
	return all
}

func TestEachOperationOfLiveChatIsShownByCalls(t *testing.T) {
	t.Parallel()
	cases := chatCases()
	for _, operation := range operations.All() {
		if operation.Package != "livechat" {
			continue
		}
		shown, ok := cases[operation.Name]
		require.True(t, ok, "%s has no case", operation.Name)
		delete(cases, operation.Name)
		t.Run(operation.Name, func(t *testing.T) {
			t.Parallel()
			shown.run(t, operation)
		})
	}
	require.Empty(t, cases, "these are no operations of live chat")
}

// run checks that a case shows all that the table says of its operation, and plays its
// scenes.
func (c chatCase) run(t *testing.T, operation operations.Operation) {
	t.Helper()
	require.NotEmpty(t, c.scenes)
	require.ElementsMatch(t, defaultsOf("", operation.Parameters), slices.Collect(maps.Keys(c.defaults)), "the parameters with a default")
	shown := make([]operations.Failure, 0, len(c.refusals))
	for _, r := range c.refusals {
		shown = append(shown, r.failureOf(t, operation))
		t.Run(string(r.code)+" "+r.when, func(t *testing.T) {
			t.Parallel()
			r.scene(t)
		})
	}
	for _, failure := range operation.Errors {
		if failure.Code == boterr.Conflict {
			continue // It takes two calls at once, which package livechat tests at each moment.
		}
		require.Contains(t, shown, failure)
	}
	for sentence, play := range c.scenes {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			play(t)
		})
	}
	for parameter, play := range c.defaults {
		t.Run("without "+parameter, func(t *testing.T) {
			t.Parallel()
			play(t)
		})
	}
}

// defaultsOf returns the paths of the fields that have a default.
func defaultsOf(path string, fields []operations.Field) []string {
	paths := []string{}
	for _, field := range fields {
		if field.Default != nil {
			paths = append(paths, path+field.Name)
		}
		paths = append(paths, defaultsOf(path+field.Name+".", field.Fields)...)
	}
	return paths
}

// failureOf returns the one error of the table that a refusal shows.
func (r refusal) failureOf(t *testing.T, operation operations.Operation) operations.Failure {
	t.Helper()
	found := slices.DeleteFunc(slices.Clone(operation.Errors), func(f operations.Failure) bool {
		return f.Code != r.code || !strings.Contains(f.When, r.when)
	})
	require.Len(t, found, 1, "the table should have one error %s: %s", r.code, r.when)
	return found[0]
}

// callf calls an operation by its name with the JSON of its parameters, which must go well.
// The answer has exactly the keys that the table shows, in the types that it shows.
func callf(t *testing.T, bot botctx.Caller, name, args string, values ...any) gjson.Result {
	t.Helper()
	text, err := bot.Call(t.Context(), name, withValues(args, values))
	require.NoError(t, err, name)
	requireShape(t, name, "", text)
	return gjson.ParseBytes(text)
}

// withValues puts values into JSON by the verbs of package fmt. JSON without any stays as it
// is.
func withValues(args string, values []any) json.RawMessage {
	if len(values) == 0 {
		return json.RawMessage(args)
	}
	return fmt.Appendf(nil, args, values...)
}

// refusef calls an operation by its name with the JSON of its parameters, which is refused. It
// returns what the error says.
//
//nolint:revive // What is called and how it fails reads as one line.
func refusef(t *testing.T, bot botctx.Caller, code boterr.Code, field, name, args string, values ...any) string {
	t.Helper()
	text, err := bot.Call(t.Context(), name, withValues(args, values))
	requireFailure(t, err, name, code, field)
	require.Nil(t, text)
	return err.Error()
}

// refusef is the function of that name, and checks that nothing has changed.
//
//nolint:revive // What is called and how it fails reads as one line.
func (d *desk) refusef(t *testing.T, bot botctx.Caller, code boterr.Code, field, name, args string, values ...any) string {
	t.Helper()
	before := d.state(t)
	says := refusef(t, bot, code, field, name, args, values...)
	require.Equal(t, before, d.state(t), "the refused call of %s changed something", name)
	return says
}

// state returns what can be seen of live chats.
func (d *desk) state(t *testing.T) string {
	t.Helper()
	return fmt.Sprintf("%s %v %v", stateOf(t, d.Platform), d.ada.Member().BotMeta, d.ada.Member().Group)
}

// stateOf returns what can be seen of the live chats of a platform, but of its members.
func stateOf(t *testing.T, p *fakes.Platform) string {
	t.Helper()
	found, err := p.Runtime().LiveChats(fakes.DefaultApp).FindAssignments(t.Context(), record.Query{})
	require.NoError(t, err)
	text, err := json.Marshal(found)
	require.NoError(t, err)
	var rest []any
	for _, id := range []string{"desk", "phone", "hotel"} {
		rest = append(rest, p.Groups(id), p.CreatedChannels(id))
	}
	for _, r := range found {
		if r.Group != "" {
			shown, err := p.Operations(record.Scope{}).Call(t.Context(), "getGroup", fmt.Appendf(nil, `{"groupId": %q}`, r.Group))
			require.NoError(t, err)
			rest = append(rest, string(shown))
		}
	}
	return fmt.Sprintf("%s %v %v", text, p.Sent(), rest)
}

// requireShape checks that a result of an operation is one that the table shows for a
// platform, "" for any.
func requireShape(t *testing.T, name string, platform channel.Type, text []byte) {
	t.Helper()
	var value any
	require.NoError(t, json.Unmarshal(text, &value))
	operation, known := operations.ByName(name)
	require.True(t, known)
	require.True(t, slices.ContainsFunc(operation.Responses, func(r operations.Response) bool {
		isMeant := platform == "" || len(r.Platforms) == 0 || slices.Contains(r.Platforms, string(platform))
		return isMeant && r.Type.Accepts(value) && hasKeys(fieldsOf(r.Fields, r.Kind), value)
	}), "the table shows no response such as %s", text)
}

// fieldsOf returns the fields of an object, or of the kind that it has. An entry of a data
// source has fields of the bot's own beside.
func fieldsOf(fields []operations.Field, kind string) []operations.Field {
	if named, ok := operations.KindNamed(kind); ok && len(fields) == 0 && kind != "entry" {
		return named.Fields
	}
	return fields
}

// hasKeys reports whether a value, or each value in it, has exactly these keys, in their
// types. Any will do where none are known.
func hasKeys(fields []operations.Field, value any) bool {
	if list, ok := value.([]any); ok {
		return !slices.ContainsFunc(list, func(item any) bool { return !hasKeys(fields, item) })
	}
	object, ok := value.(map[string]any)
	if !ok || len(fields) == 0 {
		return true
	}
	known := 0
	for _, field := range fields {
		inner, given := object[field.Name]
		if given {
			known++
		}
		switch {
		case !given && field.Need == operations.Always:
			return false
		case given && (!field.Type.Accepts(inner) || !hasKeys(fieldsOf(field.Fields, field.Kind), inner)):
			return false
		}
	}
	return known == len(object)
}

// inOutlet returns a context in the outlet, as one of bot logic that answers agents.
func (d *desk) inOutlet() *botctx.Context {
	return d.Operations(record.Scope{Channel: "desk"})
}

// event returns, in JSON, what Grace writes in her conversation with Ada.
func (d *desk) event(t *testing.T) string {
	t.Helper()
	r := d.assignments(t)[0]
	return fmt.Sprintf(`{"type": "TEXT", "data": {"text": "/done"}, "from": %q, "to": %q, "timestamp": 1, "messageId": "m"}`,
		d.grace.ExternalID(), document.Get(r.GroupInfo, "externalId", ""))
}

// talking returns a desk on whose outlet, of a type, Grace talks with Ada.
func talking(t *testing.T, outlet channel.Type, options ...fakes.Option) *desk {
	t.Helper()
	d := newDesk(t, channel.Channel{Type: outlet}, []*botctx.Node{{ID: "none"}}, options...)
	d.connect(t)
	return d
}

// quiet returns a desk with an outlet of a type, on which nothing has happened.
func quiet(t *testing.T, outlet channel.Type) *desk {
	t.Helper()
	return newDesk(t, channel.Channel{Type: outlet}, []*botctx.Node{{ID: "none"}})
}

// assignment returns the id of the newest assignment of Ada, group that of its group.
func (d *desk) assignment(t *testing.T) string {
	t.Helper()
	all := d.assignments(t)
	return all[len(all)-1].ID
}

func (d *desk) group(t *testing.T) string {
	t.Helper()
	all := d.assignments(t)
	return all[len(all)-1].Group
}

// objectOf returns an object that is given in JSON.
func objectOf(t *testing.T, text string) document.Object {
	t.Helper()
	var o document.Object
	require.NoError(t, o.UnmarshalJSON([]byte(text)))
	return o
}

// field returns a field of an object in JSON.
func field(o document.Object, path string) string {
	return gjson.Parse(o.String()).Get(path).Raw
}

// allTypes returns the types of channels that there are.
func allTypes() []channel.Type {
	return []channel.Type{
		channel.Alpha, channel.Bravo, channel.Charlie, channel.Delta, channel.Echo, channel.Foxtrot, channel.Hotel, channel.Custom, channel.Webchat,
	}
}
