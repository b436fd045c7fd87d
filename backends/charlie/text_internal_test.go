package charlie

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
)

func FuzzATextComesBackAsItWasSent(f *testing.F) {
	for _, text := range []string{"", "a & b", "<!here>", "&lt;", "<@U1|eve>", "&amp;amp;", "*bold*"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		require.NotContains(t, escaper.Replace(text), "<")
		require.Equal(t, text, plainText(escaper.Replace(text)))
		parts := sections(text)
		for _, part := range parts {
			require.LessOrEqual(t, utf8.RuneCountInString(part), maxSectionLength)
		}
		require.Equal(t, escaper.Replace(text), strings.Join(parts, ""))
	})
}

func TestMessageTime_FromID(t *testing.T) {
	t.Parallel()
	for ts, want := range map[string]document.Timestamp{
		"1700000000.001900": 1700000000001, "1700000000": 1700000000000, "1700000000.5": 1700000000500, "": 0, "x.1": 0, "-1.1": 0,
		"99999999999999.1": 0, "1.x": 1000, "1.-50": 1000,
	} {
		require.Equal(t, want, millisecondsOf(ts), ts)
	}
}
