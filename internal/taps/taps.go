// Package taps encodes the payload of a button as text and decodes it, for platforms whose payloads are
// texts. A payload of the SDK is a string, or an object with the fields payload, a string, and value, of any type.
package taps

import (
	"unicode/utf8"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// Text encodes a payload as text; Payload is the inverse. A string stays unchanged and an object becomes JSON.
// A string that Payload would read as JSON is quoted. The error is InvalidArgument if payload is neither a
// string nor an object with a string payload.
func Text(payload any) (string, error) {
	text, isText := payload.(string)
	if isText && Payload(text) == payload {
		return text, nil
	}
	encoded, err := document.AppendJSON(nil, payload)
	if err != nil {
		return "", err
	}
	if isText || isPayload(payload) {
		return string(encoded), nil
	}
	return "", boterr.Invalid("", "must be a string, or an object with a payload, got %s", document.JSONType(payload))
}

// Of returns the payload of a button or a quick reply as text, of at most this number of code points. Errors have the field
// payload.
func Of(button document.Object, platform string, most int) (string, error) {
	payload, _ := button.Field("payload")
	text, err := Text(payload)
	if err != nil {
		return "", boterr.PrefixField("payload", err)
	}
	if length := utf8.RuneCountInString(text); length > most {
		return "", boterr.Invalid("payload",
			"is %d characters long as text; the limit on %s is %d: keep the rest elsewhere, under an id", length, platform, most)
	}
	return text, nil
}

// Payload decodes a text that Text returned. Any other text is itself the payload.
func Payload(text string) any {
	parsed, err := document.ParseJSON([]byte(text))
	if err != nil {
		return text
	}
	if _, isText := parsed.(string); isText || isPayload(parsed) {
		return parsed
	}
	return text
}

func isPayload(value any) bool {
	object, ok := value.(document.Object)
	if !ok {
		return false
	}
	_, ok = document.Get(object, "payload", any(nil)).(string)
	return ok
}
