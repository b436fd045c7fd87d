package livechats_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// operation is an operation of the service.
type operation[P, R any] = func(context.Context, P) (R, error)

// call calls an operation as JSON does, and returns the JSON of its result.
func call[P, R any](t *testing.T, run operation[P, R], params string) (string, error) {
	t.Helper()
	var p P
	if err := document.DecodeJSON([]byte(params), &p); err != nil {
		return "", err
	}
	result, err := run(t.Context(), p)
	if err != nil {
		require.Zero(t, result, "beside an error the result is the zero value")
		return "", err
	}
	text, err := document.EncodeJSON(result)
	require.NoError(t, err)
	return string(text), nil
}

// must calls an operation as JSON does, and returns the JSON of its result.
func must[P, R any](t *testing.T, run operation[P, R], params string) string {
	t.Helper()
	result, err := call(t, run, params)
	require.NoError(t, err, params)
	return result
}

// refused is a call that is refused: its parameters, and the code and the field of the error.
type refused struct {
	params string
	code   boterr.Code
	field  string
}

// requireRefused calls an operation with parameters that are wrong, and compares the error,
// all that is stored, and what was sent.
func requireRefused[P, R any](t *testing.T, s *fixture, run operation[P, R], calls ...refused) {
	t.Helper()
	before, done := s.stored(t), s.platform.did()
	for _, c := range calls {
		_, err := call(t, run, c.params)
		require.ErrorIs(t, err, c.code, c.params)
		require.Equal(t, c.field, fieldOf(t, err), "%s: %v", c.params, err)
		require.Equal(t, before, s.stored(t), "%s changes nothing", c.params)
		require.Equal(t, done, s.platform.did(), "%s sends nothing", c.params)
	}
}

// fieldOf returns the field of an error.
func fieldOf(t *testing.T, err error) string {
	t.Helper()
	e, ok := boterr.AsError(err)
	require.True(t, ok, "%v has no field", err)
	return e.Field
}

// object reads an object from JSON.
func object(t *testing.T, text string) document.Object {
	t.Helper()
	var o document.Object
	require.NoError(t, json.Unmarshal([]byte(text), &o), text)
	return o
}
