package schema

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// Tool describes an operation as a tool for a language model. Its JSON is a tool of the Model Context Protocol. The
// interfaces of model providers have the same parts under other names.
type Tool struct {
	// Name is the name of the operation.
	Name string `json:"name"`
	// Description states what the operation does.
	Description string `json:"description"`
	// InputSchema is the JSON Schema of an object with the parameters. Unlike Operation.Params, it has no allOf at
	// the top level, because model providers refuse that. If one of two parameters is required, only their
	// descriptions state it.
	InputSchema json.RawMessage `json:"inputSchema"`
	// Annotations describe the possible effects of a call.
	Annotations ToolAnnotations `json:"annotations"`
}

// ToolAnnotations describe the possible effects of a tool's calls, so that a host can decide which tools a
// model gets, and which calls need a person's approval.
type ToolAnnotations struct {
	// ReadOnlyHint is true if the call changes nothing.
	ReadOnlyHint bool `json:"readOnlyHint"`
	// DestructiveHint is true if the call may replace or remove existing data, and false if it only adds data.
	DestructiveHint bool `json:"destructiveHint"`
	// IdempotentHint is true if repeating a successful call has no further effect.
	IdempotentHint bool `json:"idempotentHint"`
	// OpenWorldHint is true if the call may reach systems outside the app, such as a messaging platform, a
	// mailbox, an object store or another server.
	OpenWorldHint bool `json:"openWorldHint"`
}

// Tools returns all operations as tools, in the order of the specification. Do not give all of them to a model: with
// them it can read and change the data of every member of the app.
func Tools() []Tool {
	var tools []Tool
	for _, op := range botctx.Ops() {
		tool, _ := ToolOf(op)
		tools = append(tools, tool)
	}
	return tools
}

// ToolOf returns an operation as a tool, or false if there is no operation with that name. The caller owns the result.
//
// When a model calls the tool, pass the arguments unchanged to Context.Call. If the model's provider refuses the
// schema, use Plain.
func ToolOf(op botctx.Op) (Tool, bool) {
	params, exists := bundled(string(op) + endParams)
	if !exists {
		return Tool{}, false
	}
	input := params
	for key := range params.All() {
		switch key {
		case "type", "properties", "required", "additionalProperties", "$defs":
		default:
			input = input.Without(key)
		}
	}
	effect := document.Get(params, "x-effect", "")
	return Tool{
		Name:        string(op),
		Description: document.Get(params, "description", ""),
		InputSchema: written(input),
		Annotations: ToolAnnotations{
			ReadOnlyHint:    effect == "reads",
			DestructiveHint: effect == "changes",
			IdempotentHint:  effect == "reads" || document.Get(params, "x-repeatable", false),
			OpenWorldHint:   document.Get(params, "x-outside", false),
		},
	}, true
}

// ToolsOf returns the given operations as tools, in order. It returns NotFound if there is no operation with one of
// the names.
func ToolsOf(ops ...botctx.Op) ([]Tool, error) {
	tools := make([]Tool, 0, len(ops))
	for _, op := range ops {
		tool, exists := ToolOf(op)
		if !exists {
			return nil, boterr.New(boterr.NotFound, "ops", "there is no operation %q: use a name from botctx.Ops", op)
		}
		tools = append(tools, tool)
	}
	return tools, nil
}

// Plain returns the tool with a simpler InputSchema that all providers accept. The schema has no references and uses
// only the keywords type, description, properties, required, items and enum, with a single type each.
//
// If a parameter accepts several types, the schema has only one of them; it prefers objects to strings of JSON. If a
// parameter accepts several kinds of objects, the schema has the fields of all. It leaves out limits and defaults.
// The operation still refuses values outside the limits and returns the reason.
func (t Tool) Plain() Tool {
	var input document.Object
	if err := input.UnmarshalJSON(t.InputSchema); err != nil {
		return t // ToolOf did not make this tool.
	}
	p := plainer{defs: document.Get(input, "$defs", document.O())}
	t.InputSchema = written(p.plain(input))
	return t
}

// plainer converts schemas to the form that Plain describes.
type plainer struct {
	defs document.Object
	// within are the names of the schemas that contain the current one. If a schema refers to one of them, the
	// reference becomes an object without fields.
	within []string
}

// plain returns the schema with only the keywords that Plain lists.
func (p plainer) plain(schema document.Object) document.Object {
	described := document.Get(schema, "description", "")
	if name, refers := strings.CutPrefix(document.Get(schema, "$ref", ""), "#/$defs/"); refers {
		if slices.Contains(p.within, name) {
			return withDescription(document.O("type", "object"), described)
		}
		inner := plainer{defs: p.defs, within: append(slices.Clone(p.within), name)}
		return withDescription(inner.plain(document.Get(p.defs, name, document.O())), described)
	}
	if chosen := p.choose(schema); !chosen.IsZero() {
		return withDescription(chosen, described)
	}
	single := typeOf(schema)
	out := withDescription(document.O("type", single), described)
	switch single {
	case "object":
		if properties := p.properties(schema); properties.Len() > 0 {
			out = out.With("properties", properties)
			if required := document.Get(schema, "required", document.A()); required.Len() > 0 {
				out = out.With("required", required)
			}
		}
	case "array":
		items, isObject := schema.Value("items").(document.Object)
		if !isObject {
			items = document.O("type", "string")
		}
		out = out.With("items", p.plain(items))
	case "string":
		if names := texts(document.Get(schema, "enum", document.A())); names.Len() > 0 {
			out = out.With("enum", names)
		}
	}
	return out
}

// properties returns the plain schemas of an object's fields.
func (p plainer) properties(schema document.Object) document.Object {
	all := document.O()
	for name, value := range document.Get(schema, "properties", document.O()).All() {
		property, _ := value.(document.Object)
		all = all.With(name, p.plain(property))
	}
	return all
}

// choose returns a single plain schema for a schema's alternatives, or the zero Object if it has none. If the first
// alternative is an object, it merges all objects; otherwise it returns the first. It ignores null and strings of JSON.
func (p plainer) choose(schema document.Object) document.Object {
	var objects, others []document.Object
	for _, value := range document.Get(schema, "anyOf", document.A()).All() {
		one, _ := value.(document.Object)
		if typeOf(one) == "null" || one.Has("contentMediaType") {
			continue
		}
		one = p.plain(one)
		if len(others) == 0 && typeOf(one) == "object" {
			objects = append(objects, one)
		} else if len(objects) == 0 {
			others = append(others, one)
		}
	}
	switch {
	case len(objects) > 0:
		return united(objects)
	case len(others) > 0:
		return others[0]
	default:
		return document.Object{}
	}
}

// united merges object schemas. The result has the fields of all, and requires the fields that all require.
func united(objects []document.Object) document.Object {
	out, properties := objects[0], document.Get(objects[0], "properties", document.O())
	required := document.Get(out, "required", document.A()).Items()
	for _, other := range objects[1:] {
		for name, value := range document.Get(other, "properties", document.O()).All() {
			properties = properties.With(name, both(properties.Value(name), value))
		}
		also := document.Get(other, "required", document.A()).Items()
		required = slices.DeleteFunc(slices.Clone(required), func(name any) bool { return !slices.Contains(also, name) })
	}
	if properties.Len() > 0 {
		out = out.With("properties", properties)
	}
	if out = out.Without("required"); len(required) > 0 {
		out = out.With("required", document.A(required...))
	}
	return out
}

// both merges the schemas of two objects for the same field. The result is the first schema, with the values of both
// enums, or without an enum if one of the schemas has none.
func both(first, second any) any {
	one, isFirst := first.(document.Object)
	other, _ := second.(document.Object)
	if !isFirst {
		return second
	}
	names, more := document.Get(one, "enum", document.A()), document.Get(other, "enum", document.A())
	if names.Len() == 0 || more.Len() == 0 {
		return one.Without("enum")
	}
	for _, name := range more.All() {
		if !slices.Contains(names.Items(), name) {
			names = names.Append(name)
		}
	}
	return one.With("enum", names)
}

// typeOf returns the type of a schema. If it has several types, it returns the first that is not null. If it has none,
// it returns object if there are properties, boolean if the default is a boolean, and string otherwise.
func typeOf(schema document.Object) string {
	switch value := schema.Value("type").(type) {
	case string:
		return value
	case document.Array:
		for _, one := range value.All() {
			if name, isText := one.(string); isText && name != "null" {
				return name
			}
		}
	}
	if schema.Has("properties") {
		return "object"
	}
	if _, isBool := schema.Value("default").(bool); isBool {
		return "boolean"
	}
	return "string"
}

func texts(list document.Array) document.Array {
	kept := document.A()
	for _, value := range list.All() {
		if text, isText := value.(string); isText {
			kept = kept.Append(text)
		}
	}
	return kept
}

// withDescription sets the description of a schema, unless it is empty.
func withDescription(schema document.Object, description string) document.Object {
	if description == "" {
		return schema
	}
	return schema.With("description", description)
}
