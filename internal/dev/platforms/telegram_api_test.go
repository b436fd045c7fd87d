package platforms_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/telegramfake"
)

// telegramAPI is the description of the Bot API: its methods and types.
type telegramAPI struct {
	Methods map[string]telegramEntry `json:"methods"`
	Types   map[string]telegramEntry `json:"types"`
}

// telegramEntry describes a method or a type.
type telegramEntry struct {
	Fields   []telegramField `json:"fields"`
	Subtypes []string        `json:"subtypes"`
	Returns  []string        `json:"returns"`
}

type telegramField struct {
	Name       string   `json:"name"`
	Types      []string `json:"types"`
	IsRequired bool     `json:"required"`
}

// telegramAPIIn returns the description. It skips the test if the file is missing.
func telegramAPIIn(t *testing.T) *telegramAPI {
	t.Helper()
	text := data(t, "telegram", "api.json")
	read := &telegramAPI{}
	require.NoError(t, json.Unmarshal(text, read))
	require.Greater(t, len(read.Methods), 150)
	return read
}

// watch makes the test fail for each request, answer and update of a fake that does not match the description.
func (a *telegramAPI) watch(t *testing.T, fake *telegramfake.Telegram) {
	t.Helper()
	fake.Check = func(seen telegramfake.Exchange) {
		if err := a.exchange(seen); err != nil {
			t.Errorf("%s with %s, answered by %s: %v", seen.Method, seen.Params, seen.Answer, err)
		}
	}
	fake.CheckUpdate = func(update document.Object) {
		if err := a.value([]string{"Update"}, update); err != nil {
			t.Errorf("checking the update %s: %v", update, err)
		}
	}
}

// exchange checks a request and its answer.
func (a *telegramAPI) exchange(seen telegramfake.Exchange) error {
	method, isKnown := a.Methods[seen.Method]
	if !isKnown {
		return fmt.Errorf("there is no method %s", seen.Method)
	}
	if err := a.fields(method, seen.Params, seen.Files); err != nil {
		return err
	}
	if document.Get(seen.Answer, "ok", false) {
		result, _ := seen.Answer.Field("result")
		return within("result", a.value(method.Returns, result))
	}
	if parameters, has := seen.Answer.Field("parameters"); has {
		return within("parameters", a.value([]string{"ResponseParameters"}, parameters))
	}
	if document.Get(seen.Answer, "description", "") == "" {
		return errors.New("the refusal has no description")
	}
	return nil
}

// fields checks the fields of an object. files are the uploaded parameters.
func (a *telegramAPI) fields(of telegramEntry, object document.Object, files map[string]string) error {
	for _, known := range of.Fields {
		value, has := object.Field(known.Name)
		_, isUploaded := files[known.Name]
		switch {
		case isUploaded && !slices.Contains(known.Types, "InputFile"):
			return fmt.Errorf("%s cannot be uploaded", known.Name)
		case isUploaded:
		case !has && known.IsRequired:
			return fmt.Errorf("%s is missing", known.Name)
		case has:
			if err := a.value(known.Types, value); err != nil {
				return within(known.Name, err)
			}
		}
	}
	names := object.Keys()
	for name := range files {
		names = append(names, name)
	}
	for _, name := range names {
		if !slices.ContainsFunc(of.Fields, func(known telegramField) bool { return known.Name == name }) {
			return fmt.Errorf("there is no field %s", name)
		}
	}
	return nil
}

// value checks that a value matches one of the types.
func (a *telegramAPI) value(types []string, value any) error {
	var last error
	for _, one := range types {
		if last = a.oneType(one, value); last == nil {
			return nil
		}
	}
	return last
}

func (a *telegramAPI) oneType(name string, value any) error {
	if element, isArray := strings.CutPrefix(name, "Array of "); isArray {
		array, ok := value.(document.Array)
		if !ok {
			return fmt.Errorf("%v is not an array", value)
		}
		for i, item := range array.All() {
			if err := a.oneType(element, item); err != nil {
				return within(strconv.Itoa(i), err)
			}
		}
		return nil
	}
	var isOf bool
	switch name {
	case "Integer":
		var number int64
		if number, isOf = value.(int64); isOf && (number > 1<<53 || number < -(1<<53)) {
			return fmt.Errorf("%d is too large", number)
		}
	case "Float":
		number, isNumber := document.FloatNumber(value)
		isOf = isNumber && !math.IsInf(number, 0)
	case "String":
		_, isOf = value.(string)
	case "Boolean":
		_, isOf = value.(bool)
	default:
		return a.named(name, value)
	}
	if !isOf {
		return fmt.Errorf("%v is not of the type %s", value, name)
	}
	return nil
}

func (a *telegramAPI) named(name string, value any) error {
	of, isKnown := a.Types[name]
	object, isObject := value.(document.Object)
	switch {
	case !isKnown:
		return fmt.Errorf("there is no type %s", name)
	case len(of.Subtypes) > 0:
		return a.value(of.Subtypes, value)
	case !isObject || len(of.Fields) == 0:
		return fmt.Errorf("%v is not of the type %s", value, name)
	default:
		return a.fields(of, object, nil)
	}
}

func within(at string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", at, err)
}

// Each mistake must be detected, and the same request without the mistake must pass.
func TestTelegram_APIRefuses(t *testing.T) {
	t.Parallel()
	a := telegramAPIIn(t)
	button := document.O("text", "Yes", "callback_data", "yes")
	with := func(button document.Object) document.Object {
		return document.O("chat_id", 7, "text", "Hi", "reply_markup", document.O("inline_keyboard", document.A(document.A(button))))
	}
	ok := document.O("ok", true, "result", document.O("message_id", 1, "date", 1, "chat", document.O("id", 7, "type", "private")))
	icon := map[string]string{"photo": "image/png"}
	for name, c := range map[string]struct {
		seen telegramfake.Exchange
		says string
	}{
		"right":               {telegramfake.Exchange{Method: "sendMessage", Params: with(button), Answer: ok}, ""},
		"right upload":        {telegramfake.Exchange{Method: "setChatPhoto", Params: document.O("chat_id", "7"), Files: icon, Answer: document.O("ok", true, "result", true)}, ""},
		"right refusal":       {telegramfake.Exchange{Method: "sendMessage", Params: with(button), Answer: document.O("ok", false, "description", "no")}, ""},
		"method":              {telegramfake.Exchange{Method: "sendText", Params: with(button), Answer: ok}, "there is no method sendText"},
		"missing":             {telegramfake.Exchange{Method: "sendMessage", Params: document.O("chat_id", 7), Answer: ok}, "text is missing"},
		"unknown":             {telegramfake.Exchange{Method: "sendMessage", Params: with(button).With("texts", "Hi"), Answer: ok}, "there is no field texts"},
		"type":                {telegramfake.Exchange{Method: "sendMessage", Params: with(button).With("text", 7), Answer: ok}, "7 is not of the type String"},
		"number as text":      {telegramfake.Exchange{Method: "sendMessage", Params: with(button).With("message_thread_id", "7"), Answer: ok}, "message_thread_id: 7 is not of the type Integer"},
		"fraction":            {telegramfake.Exchange{Method: "sendMessage", Params: with(button).With("chat_id", 7.5), Answer: ok}, "chat_id"},
		"large number":        {telegramfake.Exchange{Method: "sendMessage", Params: with(button).With("message_thread_id", int64(1)<<60), Answer: ok}, "too large"},
		"flag":                {telegramfake.Exchange{Method: "sendMessage", Params: with(button).With("protect_content", "true"), Answer: ok}, "Boolean"},
		"nested missing":      {telegramfake.Exchange{Method: "sendMessage", Params: with(button.Without("text")), Answer: ok}, "reply_markup"},
		"nested unknown":      {telegramfake.Exchange{Method: "editMessageText", Params: with(button.With("payload", "x")), Answer: ok}, "reply_markup: inline_keyboard: 0: 0: there is no field payload"},
		"row is not an array": {telegramfake.Exchange{Method: "editMessageText", Params: document.O("text", "x", "reply_markup", document.O("inline_keyboard", document.A(button))), Answer: ok}, "is not an array"},
		"file as text":        {telegramfake.Exchange{Method: "setChatPhoto", Params: document.O("chat_id", 7, "photo", "F1"), Answer: document.O("ok", true, "result", true)}, "InputFile"},
		"text as file":        {telegramfake.Exchange{Method: "sendMessage", Params: document.O("chat_id", 7), Files: map[string]string{"text": "text/plain"}, Answer: ok}, "text cannot be uploaded"},
		"unknown file":        {telegramfake.Exchange{Method: "setChatPhoto", Params: document.O("chat_id", 7), Files: map[string]string{"photo": "", "x": ""}, Answer: document.O("ok", true, "result", true)}, "there is no field x"},
		"answer":              {telegramfake.Exchange{Method: "sendMessage", Params: with(button), Answer: document.O("ok", true, "result", document.O("message_id", 1))}, "result: date is missing"},
		"answer's type":       {telegramfake.Exchange{Method: "deleteMessage", Params: document.O("chat_id", 7, "message_id", 1), Answer: document.O("ok", true, "result", "yes")}, "result"},
		"silent refusal":      {telegramfake.Exchange{Method: "sendMessage", Params: with(button), Answer: document.O("ok", false)}, "no description"},
		"refusal's parameter": {telegramfake.Exchange{Method: "sendMessage", Params: with(button), Answer: document.O("ok", false, "parameters", document.O("wait", 1))}, "there is no field wait"},
	} {
		err := a.exchange(c.seen)
		if c.says == "" {
			require.NoError(t, err, name)
			continue
		}
		require.ErrorContains(t, err, c.says, name)
	}
	require.ErrorContains(t, a.value([]string{"Update"}, document.O("message", document.O())), "update_id is missing")
}
