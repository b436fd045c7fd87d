package send_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// requireField requires InvalidArgument with a field.
func requireField(t *testing.T, err error, field string) {
	t.Helper()
	require.ErrorIs(t, err, boterr.InvalidArgument)
	e, _ := boterr.AsError(err)
	require.Equal(t, field, e.Field, "%v", err)
}

// marshal returns a value as JSON by its own MarshalJSON.
func marshal(t *testing.T, v any) string {
	t.Helper()
	text, err := document.EncodeJSON(v)
	require.NoError(t, err)
	return string(text)
}

// decoded reads JSON as a T by the rules of package document.
func decoded[T any](t *testing.T, text string) T {
	t.Helper()
	var value T
	require.NoError(t, document.DecodeJSON([]byte(text), &value))
	return value
}
