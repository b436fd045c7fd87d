package boterr

import (
	"encoding/json"
	"errors"
)

// jsonError is the JSON form of an Error.
type jsonError struct {
	Op      string `json:"op,omitempty"`
	Code    Code   `json:"code"`
	Field   string `json:"field,omitempty"`
	Message string `json:"message,omitempty"`
}

// MarshalJSON returns {"op", "code", "field", "message"}, without what is empty.
// The message is redacted.
func (e *Error) MarshalJSON() ([]byte, error) {
	return json.Marshal(jsonError{Op: e.Op, Code: e.Code, Field: e.Field, Message: e.Message()})
}

// UnmarshalJSON reads the form that MarshalJSON writes. An unknown code becomes
// Internal, so that errors of a newer peer stay errors.
func (e *Error) UnmarshalJSON(text []byte) error {
	var read jsonError
	if err := json.Unmarshal(text, &read); err != nil {
		return err
	}
	*e = Error{Op: read.Op, Code: Internal, Field: read.Field}
	for _, code := range Codes() {
		if code == read.Code {
			e.Code = code
		}
	}
	if read.Message != "" {
		e.Err = errors.New(read.Message)
	}
	return nil
}
