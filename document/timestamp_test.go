package document_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

func TestTimestamp_Millisecond(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]document.Timestamp{
		`1767225600000.75`: 1767225600000, `0.9`: 0, `-1.5`: -1, `1.8e12`: 1800000000000,
	} {
		var read struct{ At document.Timestamp }
		require.NoError(t, document.DecodeJSON([]byte(`{"At": `+text+`}`), &read))
		require.Equal(t, want, read.At, text)
	}
	for _, text := range []string{`1e19`, `-1e300`, `"1767225600000"`} {
		var read struct{ At document.Timestamp }
		require.ErrorIs(t, document.DecodeJSON([]byte(`{"At": `+text+`}`), &read), boterr.InvalidArgument, text)
	}
	var count struct{ N int64 }
	require.ErrorIs(t, document.DecodeJSON([]byte(`{"N": 1.5}`), &count), boterr.InvalidArgument)
}
