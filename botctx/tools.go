package botctx

import (
	"encoding/json"

	"github.com/botctx/go-sdk/document"
)

// Tool is an operation as a tool of a language model. Its JSON is what the Model Context Protocol
// lists; the interfaces of models have the same parts, under names of their own.
type Tool struct {
	// Name is the operation's.
	Name string `json:"name"`
	// Description says what it does.
	Description string `json:"description"`
	// InputSchema is the JSON Schema of the parameters, which are an object. Unlike that of Schema, it
	// has no allOf at the top, which interfaces of models refuse: that one of two parameters has to be
	// given stands in their descriptions.
	InputSchema json.RawMessage `json:"inputSchema"`
	// Annotations say what a call may do.
	Annotations ToolAnnotations `json:"annotations"`
}

// ToolAnnotations say what a call of a tool may do, so that a host decides which ones a model has,
// and which ones a person is asked about first.
type ToolAnnotations struct {
	// ReadOnlyHint: nothing changes.
	ReadOnlyHint bool `json:"readOnlyHint"`
	// DestructiveHint: what is there may be replaced or removed. Without it a call adds at most.
	DestructiveHint bool `json:"destructiveHint"`
	// IdempotentHint: the same call again, after one that succeeded, changes nothing more.
	IdempotentHint bool `json:"idempotentHint"`
	// OpenWorldHint: a call may reach what is not the app's own: a messaging platform, a mailbox,
	// an object store, another server.
	OpenWorldHint bool `json:"openWorldHint"`
}

// Tools returns all operations as tools, in the order of the specification. A model is given some
// of them, never all: it sees the data of every member of the app by them, and may change it.
func Tools() []Tool {
	var tools []Tool
	for _, op := range Ops() {
		tool, _ := ToolOf(op)
		tools = append(tools, tool)
	}
	return tools
}

// ToolOf returns an operation as a tool, and whether there is an operation of that name. What is
// returned is the caller's own.
//
// The call that a model makes goes to Context.Call, with its arguments as they are. For a provider that
// refuses the schema, see Plain.
func ToolOf(op Op) (Tool, bool) {
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
