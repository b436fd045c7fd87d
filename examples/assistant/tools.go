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

// tool is an operation that the model may call, with arguments that the bot makes. What is not in
// the list of tools, the model cannot do.
type tool struct {
	name, description string
	// parameters are what the model may say, as JSON Schema.
	parameters string
	op         botctx.Op
	// arguments returns those of the operation, made of what the model said. Whom they are about
	// comes from the context, and never from the model.
	arguments func(bot *botctx.Context, said json.RawMessage) (document.Object, error)
	// fields are those of the result's records that the model is shown.
	fields []string
}

// nothing are the parameters of a tool that needs none.
const nothing = `{"type": "object", "properties": {}, "additionalProperties": false}`

// statuses are those of orders.
var statuses = []string{"open", "sent"}

// tools are all that the model can do.
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

// ordersArguments asks for the orders of the member who writes, and of no other.
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

// strict reads an object of the fields that into has, and of no other.
func strict(said json.RawMessage, into any) error {
	if len(bytes.TrimSpace(said)) == 0 {
		return nil // Some models say nothing where there are no parameters.
	}
	decoder := json.NewDecoder(bytes.NewReader(said))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return boterr.Invalid("arguments", "are not those of the tool: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return boterr.Invalid("arguments", "must be one object")
	}
	return nil
}

// use uses a tool, and returns what the model is told of it: the result as JSON, or what is wrong.
func use(ctx context.Context, bot *botctx.Context, wanted function) string {
	result, err := call(ctx, bot, wanted)
	if err != nil {
		return document.O("error", string(boterr.CodeOf(err)), "message", forModel(err)).String()
	}
	return shortened(result, maxResult)
}

// maxResult is how many letters of a result the model is shown.
const maxResult = 4000

// call calls the operation that a tool stands for.
func call(ctx context.Context, bot *botctx.Context, wanted function) (string, error) {
	i := slices.IndexFunc(tools, func(t tool) bool { return t.name == wanted.Name })
	if i < 0 {
		return "", boterr.Invalid("name", "there is no such tool")
	}
	t := tools[i]
	arguments, err := t.arguments(bot, json.RawMessage(wanted.Arguments))
	if err != nil {
		return "", err
	}
	result, err := bot.Call(ctx, string(t.op), json.RawMessage(arguments.String()))
	if err != nil {
		return "", err
	}
	value, err := document.ParseJSON(result)
	if err != nil {
		return "", err
	}
	shown, err := document.AppendJSON(nil, t.shown(value))
	return string(shown), err
}

// shown returns the fields of a record, or of each of several, that the model is shown.
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

// forModel is what the model is told of an error: what is wrong with what it said, and else nothing.
func forModel(err error) string {
	if known, ok := boterr.AsError(err); ok && known.Code == boterr.InvalidArgument {
		return known.Field + " " + known.Message()
	}
	return "this does not work now"
}

// offer is a tool as the model is told of it.
type offer struct {
	Type     string        `json:"type"`
	Function offerFunction `json:"function"`
}

type offerFunction struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

// offers returns the tools as the model is told of them.
func offers() []offer {
	all := make([]offer, len(tools))
	for i, t := range tools {
		all[i] = offer{Type: "function", Function: offerFunction{t.name, t.description, json.RawMessage(t.parameters)}}
	}
	return all
}
