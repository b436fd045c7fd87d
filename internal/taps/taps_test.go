package taps_test

import (
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/taps"
)

func FuzzPayload_ComesBack(f *testing.F) {
	for _, text := range []string{"", "book", `"x"`, `{"payload":"x"}`, `{"payload":1}`, "12", "null", " {}"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			return
		}
		for _, payload := range []any{text, document.O("payload", text), document.O("payload", text, "value", taps.Payload(text))} {
			carried, err := taps.Text(payload)
			require.NoError(t, err)
			require.Equal(t, payload, taps.Payload(carried))
		}
	})
}

func TestText_Refuses(t *testing.T) {
	t.Parallel()
	for _, payload := range []any{nil, int64(1), document.O(), document.O("payload", 1), document.A("x")} {
		_, err := taps.Text(payload)
		require.Error(t, err, "%v", payload)
	}
}
