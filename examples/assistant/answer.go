package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/outbound"
)

// toolCall is a tool call of the model. Providers write it in many ways: arguments may be an object, ids and
// types may be missing. It is sent back in the one form that all of them read, with unknown fields unchanged,
// since some providers refuse a call that has lost its signature.
type toolCall struct {
	ID, Name string
	// Arguments are JSON from the model, or "" for none.
	Arguments string
	// fields and function are the whole call and its function.
	fields, function map[string]json.RawMessage
}

// UnmarshalJSON reads a call.
func (c *toolCall) UnmarshalJSON(text []byte) error {
	if err := json.Unmarshal(text, &c.fields); err != nil || c.fields == nil {
		return boterr.Invalid("tool_calls", "is not a list of objects")
	}
	_ = json.Unmarshal(c.fields["function"], &c.function) // A call without a function has no name, and matches no tool.
	c.ID, c.Name = textOf(c.fields["id"]), textOf(c.function["name"])
	c.Arguments = argumentsOf(c.function["arguments"])
	return nil
}

// MarshalJSON writes a call for the model to read again. A name or arguments that providers would refuse are
// replaced: the model gets an error for them.
func (c toolCall) MarshalJSON() ([]byte, error) {
	name, arguments := c.Name, c.Arguments
	if !sendableName.MatchString(name) {
		name = "unknown"
	}
	if !json.Valid([]byte(arguments)) || !gjson.Parse(arguments).IsObject() {
		arguments = "{}"
	}
	function := with(c.function, "name", name, "arguments", arguments)
	written, err := json.Marshal(function)
	if err != nil {
		return nil, err
	}
	fields := with(c.fields, "id", c.ID, "type", "function")
	fields["function"] = written
	return json.Marshal(fields)
}

// sendableName matches names of tools that providers accept.
var sendableName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// with returns a copy of fields with some texts set.
func with(fields map[string]json.RawMessage, pairs ...string) map[string]json.RawMessage {
	all := map[string]json.RawMessage{}
	maps.Copy(all, fields)
	for i := 0; i < len(pairs); i += 2 {
		all[pairs[i]] = json.RawMessage(quoted(pairs[i+1]))
	}
	return all
}

// textOf decodes a JSON string; it returns "" for anything else.
func textOf(value json.RawMessage) string {
	var text string
	_ = json.Unmarshal(value, &text) // Anything else counts as missing.
	return text
}

// argumentsOf returns the JSON of arguments, which may be a string of JSON, such a string encoded once more,
// or an object.
func argumentsOf(value json.RawMessage) string {
	if result := gjson.ParseBytes(value); result.Type != gjson.String && result.Type != gjson.Null {
		return result.Get("@ugly").Raw
	}
	text := textOf(value)
	if inner := textOf(json.RawMessage(text)); inner != "" {
		return inner
	}
	return text
}

// content is the text of an answer, which may consist of parts. Reasoning parts are left out.
type content struct {
	text      string
	isRefused bool
}

// UnmarshalJSON reads a text, null, or a list of parts.
func (c *content) UnmarshalJSON(value []byte) error {
	if err := json.Unmarshal(value, &c.text); err == nil {
		return nil
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if err := json.Unmarshal(value, &parts); err != nil {
		return boterr.Invalid("content", "is neither a text nor a list of parts")
	}
	for _, part := range parts {
		switch part.Type {
		case "text", "output_text", "":
			c.text += part.Text
		case "refusal":
			c.isRefused = true
		}
	}
	return nil
}

// The reasons why an answer ends, in lower case.
var (
	endsCut    = []string{"length", "max_tokens", "model_length"}
	endsFailed = []string{"error", "insufficient_system_resource", "network_error", "malformed_function_call"}
	endsFilter = []string{"content_filter", "safety", "refusal", "sensitive", "prohibited_content", "recitation"}
)

// read returns the model's answer: a text, or tool calls. Errors are the same as from ask.
func (a *Assistant) read(response *outbound.Response) (message, error) {
	var answer struct {
		Choices []struct {
			Message struct {
				Content          content         `json:"content"`
				Refusal          string          `json:"refusal"`
				ToolCalls        []toolCall      `json:"tool_calls"`
				Reasoning        json.RawMessage `json:"reasoning_content"`
				ReasoningDetails json.RawMessage `json:"reasoning_details"`
			} `json:"message"`
			End string `json:"finish_reason"`
		} `json:"choices"`
	}
	if err := json.Unmarshal([]byte(response.Text()), &answer); err != nil || len(answer.Choices) == 0 {
		return message{}, boterr.New(boterr.Unavailable, "", "the model's answer of %d bytes cannot be read", len(response.Body))
	}
	given := answer.Choices[0].Message
	end, _, _ := strings.Cut(strings.ToLower(answer.Choices[0].End), ":") // Some providers append details after a colon.
	text := withoutReasoning(given.Content.text)
	isCut := slices.Contains(endsCut, end)
	switch {
	case slices.Contains(endsFilter, end), given.Content.isRefused, given.Refusal != "":
		return message{}, errFiltered
	case slices.Contains(endsFailed, end):
		return message{}, boterr.New(boterr.Unavailable, "", "the model failed midway")
	case len(given.ToolCalls) > maxCalls:
		return message{}, boterr.New(boterr.Unavailable, "", "the model requested %d tools at once", len(given.ToolCalls))
	case len(given.ToolCalls) > 0 && isCut:
		return message{}, boterr.New(boterr.Unavailable, "", "a tool call was cut at the limit of %d tokens; raise MaxTokens", a.maxTokens())
	case len(given.ToolCalls) > 0:
		said := message{Role: roleAssistant, ToolCalls: given.ToolCalls}
		said.Reasoning, said.ReasoningDetails = unlessNull(given.Reasoning), unlessNull(given.ReasoningDetails)
		if text != "" {
			said.Content = &text
		}
		return said, nil
	case isWrittenCall(text):
		return message{}, boterr.New(boterr.Unavailable, "", "the model wrote the call of a tool as text: make its server parse tool calls")
	case text == "" && isCut:
		return message{}, boterr.New(boterr.FailedPrecondition, "MaxTokens", "is %d, and was used up before any text: raise it", a.maxTokens())
	case text == "":
		return message{}, boterr.New(boterr.Unavailable, "", "the model returned no text")
	case isCut:
		text += "…"
	}
	return message{Role: roleAssistant, Content: &text}, nil
}

// withIDs gives tool calls with a missing or repeated id a new one. Some providers only accept ids of nine
// letters and digits.
func withIDs(calls []toolCall, round int) {
	taken := map[string]bool{"": true}
	for i := range calls {
		if taken[calls[i].ID] {
			calls[i].ID = fmt.Sprintf("call%02d%03d", round, i)
		}
		taken[calls[i].ID] = true
	}
}

// unlessNull returns a JSON value, or nil for null.
func unlessNull(value json.RawMessage) json.RawMessage {
	if string(value) == "null" {
		return nil
	}
	return value
}

// isSet reports whether a field exists and is not null.
func isSet(field gjson.Result) bool { return field.Exists() && field.Type != gjson.Null }

// Marks in a text that are not meant for readers.
var (
	// reasoningMark matches the beginning or end of reasoning.
	reasoningMark = regexp.MustCompile(`(?i)<(/?)(?:seed:)?(?:think|thinking|thought|reasoning)>|\[(/?)think\]|◁(/?)think▷`)
	// finalChannel matches the beginning of the answer after reasoning in a separate channel.
	finalChannel = regexp.MustCompile(`<\|channel\|>final\b[^<]*<\|message\|>`)
	// writtenCall matches a part of a tool call that a server has not parsed.
	writtenCall = regexp.MustCompile(`(?i)</?(?:[a-z]+:)?(?:tool_calls?|function_calls?|invoke)\b|<function=|\[tool_calls?\]|` +
		`<\|(?:python_tag|tool)|<｜tool|` + "```tool_(?:code|call)" + `|(?m:^\s*action input:)`)
	// namedCall and givenCall together match the JSON of a tool call.
	namedCall = regexp.MustCompile(`"(?:name|function|tool|tool_name|action)"\s*:\s*["{]`)
	givenCall = regexp.MustCompile(`"(?:arguments|parameters|args|input|action_input|tool_input)"\s*:`)
)

// withoutReasoning returns the text without reasoning. An unmatched end mark ends reasoning that began in the
// prompt; an unmatched begin mark starts reasoning up to the end of the text.
func withoutReasoning(text string) string {
	if finals := finalChannel.FindAllStringIndex(text, -1); len(finals) > 0 {
		text = text[finals[len(finals)-1][1]:]
	}
	var out strings.Builder
	depth, at := 0, 0
	for _, mark := range reasoningMark.FindAllStringSubmatchIndex(text, -1) {
		if depth == 0 {
			out.WriteString(text[at:mark[0]])
		}
		at = mark[1]
		isClosing := mark[2] < mark[3] || mark[4] < mark[5] || mark[6] < mark[7]
		switch {
		case !isClosing:
			depth++
		case depth == 0:
			out.Reset()
		default:
			depth--
		}
	}
	if depth == 0 {
		out.WriteString(text[at:])
	}
	said := out.String()
	if !isWrittenCall(said) {
		said, _, _ = strings.Cut(said, "<|") // The model's own marks, such as <|im_end|>.
	}
	return strings.TrimSpace(said)
}

// isWrittenCall reports whether a text is, or contains, a tool call. Customers must not see the name of a
// tool in any form of call.
func isWrittenCall(text string) bool {
	return writtenCall.MatchString(text) || namedCall.MatchString(text) && givenCall.MatchString(text) ||
		slices.ContainsFunc(tools, func(t tool) bool { return strings.Contains(text, t.name) })
}
