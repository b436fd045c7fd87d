// Package locale implements JavaScript's language-dependent methods as in Node.js: localeCompare, toLocaleString and
// toLocaleUpperCase with their variants. Unsupported features throw an error that names them. Source replaces the
// methods; Functions returns the parts that run in Go.
package locale

import (
	_ "embed"
	"encoding/json"
	"fmt"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"

	"github.com/botctx/go-sdk/boterr"
)

// Source is a JavaScript expression for a function that replaces the methods. Its argument is an object with
// ask(name, value), which calls one of Functions and returns its result, or throws an Error.
//
//go:embed locale.js
var Source string

// Function is a Go function that Source calls. value is JSON. json.Marshal encodes the result.
type Function = func(value []byte) (result any, err error)

// Functions returns the functions by name. They are pure, safe for concurrent use, and take time proportional
// to the length of their texts.
func Functions() map[string]Function {
	return map[string]Function{"sortKey": taking(new(sorter).key), "upper": taking(upper), "lower": taking(lower)}
}

func taking[T, R any](function func(T) (R, error)) Function {
	return func(value []byte) (any, error) {
		var given T
		if err := json.Unmarshal(value, &given); err != nil {
			return nil, fmt.Errorf("the host cannot read the request: %w", err)
		}
		return function(given)
	}
}

type localText struct {
	Text     string       `json:"text"`
	Language language.Tag `json:"language"`
}

func upper(given localText) (string, error) {
	return cases.Upper(given.Language).String(given.Text), nil
}

func lower(given localText) (string, error) {
	return cases.Lower(given.Language, cases.HandleFinalSigma(true)).String(given.Text), nil
}

// unsupported returns the error for an unsupported feature of localeCompare.
func unsupported(format string, args ...any) error {
	return boterr.New(boterr.Unsupported, "", "localeCompare "+format, args...)
}
