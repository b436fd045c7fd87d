// Package taps converts between a button's payload and the text that a platform transmits. A payload is a string, or
// an object with a string payload and a value of any type.
package taps

import (
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// Text returns the text of a payload: a string unchanged, an object as JSON. A string that could be confused with
// such JSON is quoted. Payload converts the text back. It returns InvalidArgument if the value is not a payload.
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
	return "", boterr.Invalid("", "must be a string, or an object with a payload, got %s", document.TypeName(payload))
}

// Payload returns the payload from its text.
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
