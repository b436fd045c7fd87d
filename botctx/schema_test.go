package botctx_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/internal/operations"
	"github.com/botctx/go-sdk/send"
)

func TestSchema_OfEachOperation(t *testing.T) {
	t.Parallel()
	for _, operation := range operations.All() {
		schema, exists := botctx.Schema(botctx.Op(operation.Name))
		require.True(t, exists, operation.Name)
		for _, text := range []json.RawMessage{schema.Params, schema.Result} {
			requireSelfContained(t, operation.Name, text)
		}
		for _, parameter := range operation.Parameters {
			told := gjson.GetBytes(schema.Params, "properties."+parameter.Name)
			require.NotEmpty(t, told.Get("description").String(), "%s.%s", operation.Name, parameter.Name)
			required := gjson.GetBytes(schema.Params, `required.#(=="`+parameter.Name+`")`).Exists()
			require.Equal(t, parameter.Need == operations.Required, required, "%s.%s", operation.Name, parameter.Name)
		}
	}
}

// requireSelfContained checks that a schema has all that it refers to.
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
	schema, _ := botctx.Schema(botctx.OpSendResponse)
	response := gjson.GetBytes(schema.Params, `\$defs.responseParam.anyOf`)
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

func TestSchema_NoSuchOperation(t *testing.T) {
	t.Parallel()
	for _, op := range []botctx.Op{"", "getmember", "member", "getMemberParams"} {
		_, exists := botctx.Schema(op)
		require.False(t, exists, op)
		_, exists = botctx.ToolOf(op)
		require.False(t, exists, op)
	}
}

func TestSchema_IsTheCallersOwn(t *testing.T) {
	t.Parallel()
	first, _ := botctx.Schema(botctx.OpGetMember)
	want := string(first.Params)
	clear(first.Params)
	again, _ := botctx.Schema(botctx.OpGetMember)
	require.Equal(t, want, string(again.Params))
	clear(botctx.Schemas())
	require.True(t, json.Valid(botctx.Schemas()))
}

func TestTools_OneForEachOperation(t *testing.T) {
	t.Parallel()
	tools := botctx.Tools()
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

func ExampleSchema() {
	schema, _ := botctx.Schema(botctx.OpGetMember)
	fmt.Println(gjson.GetBytes(schema.Params, "properties.memberId.type"))
	fmt.Println(gjson.GetBytes(schema.Params, "required"))
	fmt.Println(gjson.GetBytes(schema.Result, `\$ref`))
	// Output:
	// string
	// ["memberId"]
	// #/$defs/member
}

func ExampleTools() {
	tools := slices.DeleteFunc(botctx.Tools(), func(tool botctx.Tool) bool { return !tool.Annotations.ReadOnlyHint })
	fmt.Println(tools[0].Name+":", tools[0].Description)
	// Output:
	// countDataSource: Returns the number of entries that match.
}

func TestDeclarations_HaveEachOperation(t *testing.T) {
	t.Parallel()
	for _, op := range botctx.Ops() {
		require.Contains(t, botctx.Declarations(), "\n    "+string(op)+"(params", op)
	}
}
