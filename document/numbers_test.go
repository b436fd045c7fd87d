package document_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
)

func TestJSON_Integers(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"0", "-1", "2147483648", "9223372036854775807", "-9223372036854775808", "9007199254740993", "1.5", "-0.25", "1e300",
	} {
		value, err := document.ParseJSON([]byte(text))
		require.NoError(t, err)
		written, err := document.AppendJSON(nil, value)
		require.NoError(t, err)
		again, err := document.ParseJSON(written)
		require.NoError(t, err)
		require.Equal(t, value, again, text)
	}
	for text, want := range map[string]any{
		"1": int64(1), "1.0": 1.0, "1e2": 100.0, "-0": math.Copysign(0, -1), "9223372036854775808": float64(1 << 63),
	} {
		value, err := document.ParseJSON([]byte(text))
		require.NoError(t, err)
		require.Equal(t, want, value, text)
	}
}
