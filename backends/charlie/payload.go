package charlie

import (
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// valueOf returns the value of a button, from which payloadOf gives the payload back: a string as
// it is, an object {payload, value} as JSON. A string that looks like such JSON is quoted.
func valueOf(payload any) (string, error) {
	text, isText := payload.(string)
	if isText && payloadOf(text) == payload {
		return text, nil
	}
	encoded, err := document.AppendJSON(nil, payload)
	if err != nil {
		return "", err
	}
	if value := string(encoded); isText || isPayload(payload) {
		return value, nil
	}
	return "", boterr.Invalid("", "must be a string, or an object with a payload, got %s", document.TypeName(payload))
}

// payloadOf returns the payload that a button carries.
func payloadOf(value string) any {
	parsed, err := document.ParseJSON([]byte(value))
	if err != nil {
		return value
	}
	if _, isText := parsed.(string); isText || isPayload(parsed) {
		return parsed
	}
	return value
}

// isPayload reports whether a value is an object with a payload.
func isPayload(value any) bool {
	object, ok := value.(document.Object)
	if !ok {
		return false
	}
	_, ok = document.Get(object, fieldPayload, any(nil)).(string)
	return ok
}
