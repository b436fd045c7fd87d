package livechat_test

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

// requireRefused calls an operation in a stand with parameters that are wrong, and compares
// the code and the field of the error, all that is stored, and what was sent.
func requireRefused[P, R any](t *testing.T, s *stand, run operation[P, R], params string, code boterr.Code, field string) {
	t.Helper()
	before, sent := s.stored(t), s.platform.did()
	_, err := call(t, run, params)
	require.ErrorIs(t, err, code, params)
	require.Equal(t, field, fieldOf(t, err), params)
	require.Equal(t, before, s.stored(t), "%s changes nothing", params)
	require.Equal(t, sent, s.platform.did(), "%s sends nothing", params)
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
