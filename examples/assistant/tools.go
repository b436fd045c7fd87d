package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// tool is an operation that the model may call, with arguments that the bot builds. The model can do nothing
// else.
type tool struct {
	name, description string
	// parameters is the JSON Schema of the model's arguments.
	parameters string
	op         botctx.Op
	// arguments builds the operation's arguments from the model's. The member comes from the context, never
	// from the model.
	arguments func(bot *botctx.Context, said json.RawMessage) (document.Object, error)
	// fields are the fields of the result's records that the model gets.
	fields []string
}

// nothing are the parameters of a tool without any.
const nothing = `{"type": "object", "properties": {}, "additionalProperties": false}`

var statuses = []string{"open", "sent"}

// tools are everything that the model can do.
var tools = []tool{
	{
		name: "my_profile", description: "The name and the language of the customer.",
		parameters: nothing,
		op:         botctx.OpGetMember,
		arguments: func(bot *botctx.Context, said json.RawMessage) (document.Object, error) {
			return document.O("memberId", bot.Member.ID), strict(said, &struct{}{})
		},
		fields: []string{"firstName", "locale"},
	},
	{
		name: "my_orders", description: "The orders of the customer, the newest first.",
		parameters: `{"type": "object", "properties": {"status": {"type": "string", "enum": ["open", "sent"]}}, "additionalProperties": false}`,
		op:         botctx.OpFetchDataFromDataSource,
		arguments:  ordersArguments,
		fields:     []string{"tea", "grams", "status", "note"},
	},
}

// ordersArguments requests only the orders of the member who writes.
func ordersArguments(bot *botctx.Context, said json.RawMessage) (document.Object, error) {
	var asked struct {
		Status string `json:"status"`
	}
	if err := strict(said, &asked); err != nil {
		return document.Object{}, err
	}
	filter := document.O("member", bot.Member.ID)
	if asked.Status != "" {
		if !slices.Contains(statuses, asked.Status) {
			return document.Object{}, boterr.Invalid("status", "must be one of %v", statuses)
		}
		filter = filter.With("status", asked.Status)
	}
	return document.O("dataSourceId", "orders", "filter", filter, "sortBy", document.O("number", -1)), nil
}

// strict decodes an object, and refuses fields that into does not have.
func strict(said json.RawMessage, into any) error {
	if len(bytes.TrimSpace(said)) == 0 {
		return nil // Some models send nothing if there are no parameters.
	}
	decoder := json.NewDecoder(bytes.NewReader(said))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return boterr.Invalid("arguments", "do not match the tool's schema: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return boterr.Invalid("arguments", "must be one object")
	}
	return nil
}

// use uses a tool, and returns the answer to the model: the result as JSON, or the error.
func use(ctx context.Context, bot *botctx.Context, wanted toolCall) string {
	result, err := call(ctx, bot, wanted)
	if err != nil {
		result = document.O("error", string(boterr.CodeOf(err)), "message", forModel(err))
	}
	return fitting(result)
}

// The limits of a result shown to the model.
const (
	// maxResult is the maximum number of bytes of its JSON.
	maxResult = 4000
	// maxField is the maximum number of letters of a text in it.
	maxField = 500
)

// fitting returns a result as JSON of at most maxResult bytes: long texts are shortened, and records that do
// not fit are counted in an object at the end of the list.
func fitting(result any) string {
	result = brief(result)
	text := written(result)
	if records, isList := result.(document.Array); isList && len(text) > maxResult {
		text = fewer(records)
	}
	if len(text) > maxResult {
		return `{"error":"ResourceExhausted","message":"the result is too long"}`
	}
	return text
}

// fewer returns the JSON of as many records as fit, and of the number of omitted ones.
func fewer(records document.Array) string {
	const room = len(`[,{"omitted":1000000000}]`)
	kept := document.A()
	for size, i := room, 0; i < records.Len(); i++ {
		if size += len(written(records.At(i))) + 1; size > maxResult {
			break
		}
		kept = kept.Append(records.At(i))
	}
	return written(kept.Append(document.O("omitted", records.Len()-kept.Len())))
}

// brief returns a value whose texts have at most maxField letters.
func brief(value any) any {
	switch v := value.(type) {
	case string:
		return shortened(v, maxField)
	case document.Array:
		items := slices.Clone(v.Items())
		for i, item := range items {
			items[i] = brief(item)
		}
		return document.A(items...)
	case document.Object:
		for name, field := range v.All() {
			v = v.With(name, brief(field))
		}
		return v
	default:
		return value
	}
}

func written(value any) string {
	text, err := document.AppendJSON(nil, value)
	if err != nil {
		return `{"error":"Internal"}` // Decoded JSON can always be encoded.
	}
	return string(text)
}

// call calls the operation of a tool, and returns the part of the result that the model may see.
func call(ctx context.Context, bot *botctx.Context, wanted toolCall) (any, error) {
	i := slices.IndexFunc(tools, func(t tool) bool { return t.name == wanted.Name })
	if i < 0 {
		return nil, boterr.Invalid("name", "there is no such tool")
	}
	t := tools[i]
	arguments, err := t.arguments(bot, json.RawMessage(wanted.Arguments))
	if err != nil {
		return nil, err
	}
	result, err := bot.Call(ctx, string(t.op), json.RawMessage(arguments.String()))
	if err != nil {
		return nil, err
	}
	value, err := document.ParseJSON(result)
	if err != nil {
		return nil, err
	}
	return t.shown(value), nil
}

// shown returns the fields of a record, or of each of several, that the model may see.
func (t tool) shown(value any) any {
	switch v := value.(type) {
	case document.Array:
		items := document.A()
		for _, item := range v.All() {
			items = items.Append(t.shown(item))
		}
		return items
	case document.Object:
		record := document.O()
		for _, field := range t.fields {
			if found, has := v.Field(field); has {
				record = record.With(field, found)
			}
		}
		return record
	default:
		return document.Object{}
	}
}

// forModel is the answer to the model about an error: only its own mistakes are explained.
func forModel(err error) string {
	if known, ok := boterr.AsError(err); ok && known.Code == boterr.InvalidArgument {
		return known.Field + " " + known.Message()
	}
	return "this does not work now"
}

// offer is the description of a tool for the model.
type offer struct {
	Type     string        `json:"type"`
	Function offerFunction `json:"function"`
}

type offerFunction struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

// offers returns the descriptions of the tools for the model.
func offers() []offer {
	all := make([]offer, len(tools))
	for i, t := range tools {
		all[i] = offer{Type: "function", Function: offerFunction{t.name, t.description, json.RawMessage(t.parameters)}}
	}
	return all
}
