package schema

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// Tool is an operation as a tool for a language model. Its JSON has the form of the Model Context Protocol;
// model providers' interfaces have the same parts under other names.
type Tool struct {
	// Name is the name of the operation.
	Name string `json:"name"`
	// Description states what the operation does.
	Description string `json:"description"`
	// InputSchema is the JSON Schema of the parameters, which are an object. Unlike the schema of Of, it has
	// no allOf at the top, which model providers refuse: if one of two parameters is required, their
	// descriptions state that.
	InputSchema json.RawMessage `json:"inputSchema"`
	// Annotations describe the possible effects of a call.
	Annotations ToolAnnotations `json:"annotations"`
}

// ToolAnnotations describe the possible effects of a tool's calls, so that a host can decide which tools a
// model gets, and which calls need a person's approval.
type ToolAnnotations struct {
	// ReadOnlyHint: the call changes nothing.
	ReadOnlyHint bool `json:"readOnlyHint"`
	// DestructiveHint: the call may replace or remove existing data. Otherwise it only adds data.
	DestructiveHint bool `json:"destructiveHint"`
	// IdempotentHint: repeating a successful call has no further effect.
	IdempotentHint bool `json:"idempotentHint"`
	// OpenWorldHint: the call may reach systems outside the app: a messaging platform, a mailbox, an object
	// store, another server.
	OpenWorldHint bool `json:"openWorldHint"`
}

// Tools returns all operations as tools, in the order of the specification. Never give a model all of them:
// through them it can see and change the data of every member of the app.
func Tools() []Tool {
	var tools []Tool
	for _, op := range botctx.Ops() {
		tool, _ := ToolOf(op)
		tools = append(tools, tool)
	}
	return tools
}

// ToolOf returns an operation as a tool, and reports whether there is an operation with that name. The caller
// owns the result.
//
// Pass a model's call to Context.Call with its arguments unchanged. For a provider that refuses the schema,
// see Plain.
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

// ToolsOf returns the given operations as tools, in order. NotFound: there is no operation with one of the
// names.
func ToolsOf(ops ...botctx.Op) ([]Tool, error) {
	tools := make([]Tool, 0, len(ops))
	for _, op := range ops {
		tool, exists := ToolOf(op)
		if !exists {
			return nil, boterr.New(boterr.NotFound, "ops", "there is no operation %q: the names are those of botctx.Ops", op)
		}
		tools = append(tools, tool)
	}
	return tools, nil
}

// Plain returns the tool with an InputSchema that all providers accept: it uses only the keywords type,
// description, properties, required, items and enum, with a single type each and no references. It contains
// less than the original. If a parameter has several types, the schema has only one of them, preferring
// objects to texts that contain one; if it has several kinds of objects, the schema has all of their fields.
// Limits and defaults are left out: an operation refuses values outside the limits, with the reason.
func (t Tool) Plain() Tool {
	var input document.Object
	if err := input.UnmarshalJSON(t.InputSchema); err != nil {
		return t // The tool was not made by ToolOf.
	}
	p := plainer{defs: document.Get(input, "$defs", document.O())}
	t.InputSchema = written(p.plain(input))
	return t
}

// plainer makes schemas plain. Its zero value knows no definitions.
type plainer struct {
	defs document.Object
	// within are the names of the schemas currently being written. A schema inside itself becomes a plain
	// object.
	within []string
}

// plain returns a schema of the keywords that Plain names.
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

// choose returns the replacement for a schema's alternatives, or nothing if it has none: the first
// alternative, or all objects merged if the first one is an object. Null and texts that contain JSON count
// only if there is nothing else.
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

// united returns an object schema with the fields of all given ones. It requires the fields that all of them
// require.
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

// both returns the schema of a field that two objects have: the first one, with the values of both if both
// have a list of values, and otherwise with any value.
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

// typeOf returns the type of a schema; of several, the first that is not null. A schema without a type is an
// object if it has fields, a boolean if its default is one, and a text otherwise.
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
