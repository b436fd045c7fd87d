package main

import (
	"encoding/json"
	"net/http"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
)

// failure is the answer to the caller about an error.
type failure struct {
	Error *boterr.Error `json:"error"`
	// Result is the partial result of a failed call, such as the messages that were sent to some of the
	// members.
	Result json.RawMessage `json:"result,omitempty"`
}

// answer writes the result of a call, or the error with its code, field and operation. The caller is bot
// logic, which gets the error's text; credentials are redacted.
func answer(w http.ResponseWriter, name string, result json.RawMessage, err error) {
	if err == nil {
		write(w, http.StatusOK, result)
		return
	}
	told, _ := boterr.AsError(boterr.Wrap(name, err))
	status := botctx.HTTPStatus(told)
	if status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	write(w, status, failure{Error: told, Result: result})
}

// refuse answers a request that is not a call.
func refuse(w http.ResponseWriter, status int, code boterr.Code, message string) {
	write(w, status, failure{Error: boterr.New(code, "", "%s", message)})
}

func write(w http.ResponseWriter, status int, value any) {
	text, err := json.Marshal(value)
	if err != nil {
		status, text = http.StatusInternalServerError, []byte(`{"error":{"code":"Internal","message":"the answer cannot be written"}}`)
	}
	header := w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(text) // If the client is gone, it needs no answer.
}
