package bolt

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
)

// nested returns an object of that many levels.
func nested(levels int) document.Object {
	o := document.O()
	for range levels - 1 {
		o = document.O("o", o)
	}
	return o
}

// wide returns an object of that many fields.
func wide(fields int) document.Object {
	pairs := make([]any, 0, 2*fields)
	for i := range fields {
		pairs = append(pairs, fmt.Sprint("field ", i), i)
	}
	return document.O(pairs...)
}

// samples are documents with every kind of value.
func samples() []document.Object {
	return []document.Object{
		document.O(),
		document.O("_id", nil),
		document.O("_id", 1, "b", true, "a", false, "", "empty name", "a.b", "dot", "$c", "dollar"),
		document.O("_id", math.MinInt64, "n", math.MaxInt64, "z", 0, "m", -1),
		document.O("_id", 1.0, "nan", math.NaN(), "zero", math.Copysign(0, -1), "inf", math.Inf(1), "low", math.Inf(-1),
			"small", math.SmallestNonzeroFloat64, "large", math.MaxFloat64),
		document.O("_id", math.Float64frombits(0x7ff8000000000123)),
		document.O("_id", "ünï \x00 \u2028", "long", strings.Repeat("x", 100_000), "none", ""),
		document.O("_id", time.UnixMilli(0), "before", time.Date(-5000, 1, 2, 3, 4, 5, 999000000, time.UTC),
			"after", time.Date(200000, 1, 1, 0, 0, 0, 1000000, time.FixedZone("", 3600)), "zero", time.Time{}),
		document.O("_id", document.O("a", document.A(), "o", document.O()), "l", document.A(1, "2", nil, document.A(document.O("x", 1.5)))),
		nested(document.MaxDepth),
		wide(1_000),
	}
}

func TestCodec_RoundTrip(t *testing.T) {
	t.Parallel()
	d := newDecoder()
	for _, o := range samples() {
		require.NoError(t, o.Err())
		text := appendObject(nil, o)
		again, err := d.document(text)
		require.NoError(t, err)
		requireSame(t, o, again)
		require.Equal(t, text, appendObject(nil, again), "NaNs keep their bits")
		require.Equal(t, o.Keys(), again.Keys())
	}
}

func TestDecode_CutOff(t *testing.T) {
	t.Parallel()
	d := newDecoder()
	for _, o := range samples() {
		text := appendObject(nil, o)
		for length := max(0, len(text)-2_000); length < len(text); length++ {
			_, err := d.document(text[:length])
			require.Error(t, err, "%d of %d bytes", length, len(text))
		}
		_, err := d.document(append(text, 0))
		require.ErrorContains(t, err, "1 bytes follow the document")
	}
}

func TestDecode_SaysWhereItFails(t *testing.T) {
	t.Parallel()
	deep := []byte{1, 0, kindObject}
	for range document.MaxDepth {
		deep = append(deep, 1, 0, kindObject)
	}
	for name, text := range map[string][]byte{
		"at byte 3 of 4: there is no value of the kind 99": {1, 1, 'a', 99},
		"has a field twice":                   {2, 1, 'a', kindNull, 1, 'a', kindTrue},
		"there cannot be 1000 fields":         {0xe8, 0x07, 0, 0},
		"there cannot be 3 elements":          {1, 0, kindArray, 3, 0, 0},
		"a text of 9 bytes cannot stand here": {1, 9, 'a', kindNull},
		"a name with a NUL":                   {1, 1, 0, kindNull},
		"a length is cut off or too large":    {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1},
		"a number is cut off":                 {1, 0, kindFloat, 1, 2, 3},
		"a number is cut off or too large":    {1, 0, kindInt, 0x80},
		"the date is too far away":            append([]byte{1, 0, kindTime}, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1),
		"values are nested deeper than 180":   append(deep, 0),
	} {
		_, err := newDecoder().document(text)
		require.Error(t, err, name)
		if name != "a name with a NUL" {
			require.ErrorContains(t, err, name)
		}
	}
}

// requireSame checks that two documents are the same to the letter: int64 and float64
// differ, and so do 0 and -0.
func requireSame(tb testing.TB, expected, actual document.Object) {
	tb.Helper()
	require.Equal(tb, appendObject(nil, expected), appendObject(nil, actual))
	require.Zero(tb, document.Compare(expected, actual))
	require.Equal(tb, expected.Size(), actual.Size())
}

func FuzzDecode(f *testing.F) {
	for _, o := range samples() {
		if text := appendObject(nil, o); len(text) < 10_000 {
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		o, err := newDecoder().document(text)
		if err != nil {
			require.True(t, o.IsZero())
			return
		}
		require.NoError(t, o.Err())
		again, err := newDecoder().document(appendObject(nil, o))
		require.NoError(t, err)
		requireSame(t, o, again)
	})
}

func FuzzRoundTrip(f *testing.F) {
	for _, o := range samples() {
		if text, err := o.MarshalJSON(); err == nil && len(text) < 10_000 {
			f.Add(text, 1.5, int64(3))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, number float64, milliseconds int64) {
		value, err := document.ParseJSON(text)
		if err != nil {
			return
		}
		o := document.O("_id", value, "n", number, "i", milliseconds, "t", time.UnixMilli(milliseconds))
		if document.CheckInsert(o) != nil {
			return // Such as one that is too deep, as no store keeps it.
		}
		again, err := newDecoder().document(appendObject(nil, o))
		require.NoError(t, err)
		requireSame(t, o, again)
	})
}
