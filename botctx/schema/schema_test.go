package schema_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/botctx/schema"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/operations"
	"github.com/botctx/go-sdk/send"
)

func TestSchema_OfEachOperation(t *testing.T) {
	t.Parallel()
	for _, operation := range operations.All() {
		described, exists := schema.Of(botctx.Op(operation.Name))
		require.True(t, exists, operation.Name)
		for _, text := range []json.RawMessage{described.Params, described.Result} {
			requireSelfContained(t, operation.Name, text)
		}
		for _, parameter := range operation.Parameters {
			told := gjson.GetBytes(described.Params, "properties."+parameter.Name)
			require.NotEmpty(t, told.Get("description").String(), "%s.%s", operation.Name, parameter.Name)
			required := gjson.GetBytes(described.Params, `required.#(=="`+parameter.Name+`")`).Exists()
			require.Equal(t, parameter.Need == operations.Required, required, "%s.%s", operation.Name, parameter.Name)
		}
	}
}

// requireSelfContained checks that a schema contains all schemas that it refers to.
func requireSelfContained(t *testing.T, name string, schema json.RawMessage) {
	t.Helper()
	require.True(t, gjson.ValidBytes(schema), name)
	require.Equal(t, "https://json-schema.org/draft/2020-12/schema", gjson.GetBytes(schema, `\$schema`).String(), name)
	for rest := string(schema); ; {
		_, after, found := strings.Cut(rest, `"$ref":"#/$defs/`)
		if !found {
			return
		}
		target, after, _ := strings.Cut(after, `"`)
		require.True(t, gjson.GetBytes(schema, `\$defs.`+target).IsObject(), "%s refers to %s", name, target)
		rest = after
	}
}

func TestSchema_LimitsAreThoseOfSend(t *testing.T) {
	t.Parallel()
	described, _ := schema.Of(botctx.OpSendResponse)
	response := gjson.GetBytes(described.Params, `\$defs.responseParam.anyOf`)
	for path, want := range map[string]int64{
		`#(properties.type.enum.0=="TEXT").properties.text.maxLength`:                 send.MaxText,
		`#(properties.type.enum.0=="QUICK_REPLIES").properties.quickReplies.maxItems`: send.MaxQuickReplies,
		`#(properties.type.enum.0=="BUTTON").properties.buttons.maxItems`:             send.MaxButtons,
		`#(properties.type.enum.0=="CAROUSEL").properties.carousel.maxItems`:          send.MaxCards,
		`#(properties.type.enum.0=="NEWS").properties.articles.maxItems`:              send.MaxArticles,
		`#(properties.type.enum.0=="QUICK_REPLIES").properties.quickReplies.minItems`: 1,
		`#(properties.type.enum.0=="CAROUSEL").properties.carousel.minItems`:          1,
		`#(properties.type.enum.0=="TEXT").properties.text.minLength`:                 1,
	} {
		require.Equal(t, want, response.Get(path).Int(), path)
	}
}

// redirectMemberToNode refuses unknown options, even if it is not strict; options of drivers may be others.
func TestSchema_OpenAndClosedOptions(t *testing.T) {
	t.Parallel()
	for op, path := range map[botctx.Op]string{
		botctx.OpRedirectMemberToNode: "redirectOptions", botctx.OpFindAndModifyMember: "option", botctx.OpPatchDataToDataSource: "options",
	} {
		described, _ := schema.Of(op)
		further := gjson.GetBytes(described.Params, "properties."+path+".additionalProperties")
		require.Equal(t, op != botctx.OpRedirectMemberToNode, !further.Exists(), op)
	}
}

func TestSchema_NoSuchOperation(t *testing.T) {
	t.Parallel()
	for _, op := range []botctx.Op{"", "getmember", "member", "getMemberParams"} {
		_, exists := schema.Of(op)
		require.False(t, exists, op)
		_, exists = schema.ToolOf(op)
		require.False(t, exists, op)
	}
}

func TestSchema_IsTheCallersOwn(t *testing.T) {
	t.Parallel()
	first, _ := schema.Of(botctx.OpGetMember)
	want := string(first.Params)
	clear(first.Params)
	again, _ := schema.Of(botctx.OpGetMember)
	require.Equal(t, want, string(again.Params))
	clear(schema.All())
	require.True(t, json.Valid(schema.All()))
}

func TestTools_OneForEachOperation(t *testing.T) {
	t.Parallel()
	tools := schema.Tools()
	require.Len(t, tools, len(botctx.Ops()))
	for i, op := range botctx.Ops() {
		tool := tools[i]
		require.Equal(t, string(op), tool.Name)
		require.NotEmpty(t, tool.Description, op)
		require.Equal(t, "object", gjson.GetBytes(tool.InputSchema, "type").String(), op)
		for _, refused := range []string{"allOf", "anyOf", "oneOf", "if", "not"} {
			require.False(t, gjson.GetBytes(tool.InputSchema, refused).Exists(), "%s has %s at the top", op, refused)
		}
		hints := tool.Annotations
		require.False(t, hints.ReadOnlyHint && (hints.DestructiveHint || hints.OpenWorldHint), op)
		require.False(t, hints.ReadOnlyHint && !hints.IdempotentHint, op)
	}
}

var plainKeywords = []string{"type", "description", "properties", "required", "items", "enum"}

// requirePlain checks that a schema is accepted by all providers.
func requirePlain(t *testing.T, where string, schema gjson.Result) {
	t.Helper()
	for key := range schema.Map() {
		require.Contains(t, plainKeywords, key, where)
	}
	require.Contains(t, []string{"object", "array", "string", "number", "integer", "boolean"}, schema.Get("type").String(), where)
	properties := schema.Get("properties").Map()
	for name, property := range properties {
		requirePlain(t, where+"."+name, property)
	}
	for _, name := range schema.Get("required").Array() {
		require.Contains(t, properties, name.String(), where)
	}
	require.Equal(t, schema.Get("type").String() == "array", schema.Get("items").IsObject(), where)
	if schema.Get("items").Exists() {
		requirePlain(t, where+"[]", schema.Get("items"))
	}
	for _, name := range schema.Get("enum").Array() {
		require.Equal(t, gjson.String, name.Type, where)
	}
}

func TestTool_Plain(t *testing.T) {
	t.Parallel()
	for _, tool := range schema.Tools() {
		plain := tool.Plain()
		requirePlain(t, tool.Name, gjson.ParseBytes(plain.InputSchema))
		require.Equal(t, tool.Description, plain.Description)
		require.Equal(t, tool.Annotations, plain.Annotations)
		require.Less(t, len(plain.InputSchema), 1<<15, tool.Name)
		again := plain.Plain()
		require.JSONEq(t, string(plain.InputSchema), string(again.InputSchema), "%s: what is plain stays as it is", tool.Name)
		for name, property := range gjson.GetBytes(tool.InputSchema, "properties").Map() {
			path := "properties." + name
			require.True(t, gjson.GetBytes(plain.InputSchema, path).Exists(), "%s.%s", tool.Name, name)
			require.Equal(t, property.Get("description").String(), gjson.GetBytes(plain.InputSchema, path+".description").String(), "%s.%s", tool.Name, name)
		}
		require.Equal(t, gjson.GetBytes(tool.InputSchema, "required").String(), gjson.GetBytes(plain.InputSchema, "required").String(), tool.Name)
	}
}

func TestTool_PlainChooses(t *testing.T) {
	t.Parallel()
	for original, want := range map[string]string{
		`{"type": ["integer", "null"], "default": 1, "x-platforms": ["alpha"]}`:                       `{"type": "integer"}`,
		`{"type": ["null", "string"], "enum": ["a", null], "maxLength": 5}`:                           `{"type": "string", "enum": ["a"]}`,
		`{"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}`:             `{"type": "string"}`,
		`{"anyOf": [{"type": "string", "contentMediaType": "application/json"}, {"type": "object"}]}`: `{"type": "object"}`,
		`{"anyOf": [{"type": "null"}, {"$ref": "#/$defs/tree"}], "description": "A tree."}`: `{"type": "object", "description": "A tree.",
			"properties": {"name": {"type": "string"}, "left": {"type": "object"}}, "required": ["name"]}`,
		`{"anyOf": [{"type": "object", "properties": {"kind": {"type": "string", "enum": ["a"]}, "x": {"type": "number"}}, "required": ["kind", "x"]},
			{"type": "object", "properties": {"kind": {"type": "string", "enum": ["b"]}, "y": {"type": "array"}}, "required": ["kind", "y"]}]}`: `{"type": "object",
			"properties": {"kind": {"type": "string", "enum": ["a", "b"]}, "x": {"type": "number"}, "y": {"type": "array", "items": {"type": "string"}}},
			"required": ["kind"]}`,
		`{"description": "Anything."}`: `{"type": "string", "description": "Anything."}`,
		`{"default": false}`:           `{"type": "boolean"}`,
	} {
		tool := schema.Tool{InputSchema: json.RawMessage(`{"type": "object", "properties": {"of": ` + original + `}, "$defs": {"tree": {"type": "object",
			"properties": {"name": {"type": "string"}, "left": {"$ref": "#/$defs/tree"}}, "required": ["name"], "additionalProperties": false}}}`)}
		require.JSONEq(t, want, gjson.GetBytes(tool.Plain().InputSchema, "properties.of").Raw, original)
	}
}

// The plain schema of a response has the fields of all types of responses.
func TestTool_PlainResponse(t *testing.T) {
	t.Parallel()
	tool, _ := schema.ToolOf(botctx.OpSendResponse)
	response := gjson.GetBytes(tool.Plain().InputSchema, "properties.response")
	require.Equal(t, `["type"]`, response.Get("required").Raw)
	for _, name := range []string{"text", "url", "quickReplies", "buttons", "carousel"} {
		require.True(t, response.Get("properties."+name).Exists(), name)
	}
}

func TestToolsOf_ChosenOperations(t *testing.T) {
	t.Parallel()
	tools, err := schema.ToolsOf(botctx.OpSendResponse, botctx.OpGetMember)
	require.NoError(t, err)
	require.Len(t, tools, 2)
	require.Equal(t, []string{"sendResponse", "getMember"}, []string{tools[0].Name, tools[1].Name})
	_, err = schema.ToolsOf(botctx.OpGetMember, "getmember")
	require.ErrorContains(t, err, `there is no operation "getmember"`)
	require.Equal(t, boterr.NotFound, boterr.CodeOf(err))
}

func ExampleTool_Plain() {
	tools, err := schema.ToolsOf(botctx.OpGetMember)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(gjson.GetBytes(tools[0].Plain().InputSchema, "properties.memberId.type"))
	// Output:
	// string
}

func ExampleOf() {
	getMember, _ := schema.Of(botctx.OpGetMember)
	fmt.Println(gjson.GetBytes(getMember.Params, "properties.memberId.type"))
	fmt.Println(gjson.GetBytes(getMember.Params, "required"))
	fmt.Println(gjson.GetBytes(getMember.Result, `\$ref`))
	// Output:
	// string
	// ["memberId"]
	// #/$defs/member
}

func ExampleTools() {
	tools := slices.DeleteFunc(schema.Tools(), func(tool schema.Tool) bool { return !tool.Annotations.ReadOnlyHint })
	fmt.Println(tools[0].Name+":", tools[0].Description)
	// Output:
	// countDataSource: Returns the number of matching entries.
}

func TestDeclarations_HaveEachOperation(t *testing.T) {
	t.Parallel()
	for _, op := range botctx.Ops() {
		require.Contains(t, schema.Declarations(), "\n    "+string(op)+"(params", op)
	}
}
