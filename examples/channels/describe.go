package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/send"
)

// messageOf returns the message of a call as it was sent, or was to be; the zero Response
// where the call sends none.
func messageOf(call fakes.Call) send.Response {
	for _, result := range resultsOf(call) {
		if result.Err == nil {
			return result.MessageEvent.Response()
		}
	}
	params, err := document.Encode(call.Params)
	if err != nil {
		return send.Response{}
	}
	return send.Raw(document.Get(params, "response", document.Object{}))
}

// describe returns a message for a reader.
func describe(message send.Response) string {
	said := string(message.Type())
	if text := message.Text(); text != "" {
		said += " " + strconv.Quote(text)
	}
	for _, card := range message.Cards() {
		said += " | " + card.Title + ", " + card.Subtitle + titles(card.Buttons)
	}
	for _, article := range message.Articles() {
		said += fmt.Sprintf(" %q, %q, %s", article.Title, article.Description, article.URL)
	}
	if len(message.Cards()) == 0 {
		said += titles(buttonsOf(message))
	}
	for _, field := range []string{"url", "attachment_id", "duration", "elementName", "languageCode", "components"} {
		if value, has := message.Object().Field(field); has {
			said += " " + strings.Trim(jsonOf(value), `"`)
		}
	}
	return said
}

// titles returns what can be tapped.
func titles(buttons []send.Button) string {
	var all strings.Builder
	for _, b := range buttons {
		all.WriteString(" [" + b.Title + "]")
	}
	return all.String()
}

// short stands for what is not shown of JSON.
const short = "{…}"

// jsonOf returns a value as JSON, with some of its fields cut short.
func jsonOf(value any, shortened ...string) string {
	encoded, err := document.EncodeJSON(value)
	if err != nil {
		return "! " + err.Error()
	}
	parsed, err := document.ParseJSON(encoded)
	if err != nil {
		return "! " + err.Error()
	}
	object, isObject := parsed.(document.Object)
	if !isObject {
		return string(encoded)
	}
	for _, field := range shortened {
		if object.Has(field) {
			object = object.With(field, short)
		}
	}
	return strings.ReplaceAll(object.String(), strconv.Quote(short), short)
}
