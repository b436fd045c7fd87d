package fakestest_test

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/fakestest"
)

// The suite skips rules if a function that they need is missing, so the harness must have all functions.
func TestTheHarnessHasEveryVerb(t *testing.T) {
	t.Parallel()
	h := reflect.ValueOf(fakestest.New(fakes.For(t))).Elem()
	for i := range h.NumField() {
		if h.Field(i).Kind() == reflect.Func {
			require.False(t, h.Field(i).IsNil(), h.Type().Field(i).Name)
		}
	}
	require.Empty(t, h.FieldByName("Lacks").Interface())
}
