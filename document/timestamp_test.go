package document_test

import (
	"fmt"
	"testing"
	"time"

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

func TestTimestamp_Shown(t *testing.T) {
	t.Parallel()
	at := document.Timestamp(1767225600001)
	require.Equal(t, "2026-01-01T00:00:00.001Z", at.String())
	require.Equal(t, "1767225600001 /* 2026-01-01T00:00:00.001Z */", fmt.Sprintf("%#v", at))
	require.Equal(t, "0 0", fmt.Sprintf("%v %#v", document.Timestamp(0), document.Timestamp(0)))
}

// visit has a time of the SDK's own type, and times in the bot's own data.
type visit struct {
	At   document.Timestamp `json:"at"`
	Meta document.Object    `json:"meta"`
}

func TestForReader_TimesAreReadable(t *testing.T) {
	t.Parallel()
	one := visit{At: 1767225600000, Meta: document.O("at", 1767225600000)}
	require.JSONEq(t, `{"at": "2026-01-01T00:00:00.000Z", "meta": {"at": 1767225600000}}`, document.Text(one), "the bot's own data is exact")
	require.JSONEq(t, `{"at": 1767225600000, "meta": {"at": 1767225600000}}`, encoded(t, one), "stored values are exact")
	entry := document.O("_id", "a", "createdAt", 1767225600000, "at", 1767225600000)
	require.JSONEq(t, `[{"_id": "a", "createdAt": "2026-01-01T00:00:00.000Z", "at": 1767225600000}]`, document.Text([]document.Object{entry}))
	require.JSONEq(t, `{"createdAt": 1767225600000}`, document.Text(document.O("createdAt", 1767225600000)), "an object without an _id is not a record")
	require.NotContains(t, document.Text(document.O("password", "hush")), "hush")
}

func encoded(t *testing.T, v any) string {
	t.Helper()
	text, err := document.EncodeJSON(v)
	require.NoError(t, err)
	return string(text)
}

// A Timestamp field can also be decoded from a time.
func TestTimestamp_FromATime(t *testing.T) {
	t.Parallel()
	var read struct {
		At document.Timestamp `json:"at"`
	}
	at := time.Date(2026, 1, 2, 3, 4, 5, 6999999, time.UTC)
	require.NoError(t, document.Decode(document.O("at", at), &read))
	require.Equal(t, document.TimestampOf(at), read.At)
}
