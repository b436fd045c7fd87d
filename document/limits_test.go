package document_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

func TestObject_SliceHoldsItself(t *testing.T) {
	t.Parallel()
	ring := []any{nil}
	ring[0] = ring
	require.ErrorIs(t, document.O("a", ring).Err(), boterr.InvalidArgument)
}

func TestObject_DepthShrinks(t *testing.T) {
	t.Parallel()
	deep := document.O("x", 1)
	for range 97 {
		deep = document.O("a", deep)
	}
	o := document.O("_id", 1, "deep", deep)
	o.Delete("deep")
	require.NoError(t, document.O("w", document.O("w", o)).Err())
	require.NoError(t, document.O("w", document.O("w", document.O("deep", deep).With("deep", 1))).Err())
}

func TestDecodeValue_Float(t *testing.T) {
	t.Parallel()
	var f float64
	requireInvalid(t, document.DecodeValue(int64(math.MaxInt64), &f), "")
	var small float32
	requireInvalid(t, document.DecodeValue(1e300, &small), "")
}

func TestObject_ShowsNoSecret(t *testing.T) {
	t.Parallel()
	require.NotContains(t, document.O("who", person{Secret: secret{"S3CRET"}}).String(), "S3CRET")
}

func TestObject_NamesWithoutNUL(t *testing.T) {
	t.Parallel()
	for _, o := range []document.Object{
		document.O("a\x00b", 1), document.O("a", document.O("x\x00", 1)), document.O("a", 1).With("b\x00", 1),
		document.O("a", []any{map[string]any{"\x00": 1}}), document.Object{}.With("\x00", 1),
	} {
		require.ErrorIs(t, o.Err(), boterr.InvalidArgument)
	}
	var o document.Object
	require.ErrorIs(t, o.UnmarshalJSON([]byte(`{"a\u0000": 1}`)), boterr.InvalidArgument)
	require.ErrorIs(t, o.UnmarshalJSON([]byte(`{"b": [{"a\u0000": 1}]}`)), boterr.InvalidArgument)
}

func TestValueOf_Dates(t *testing.T) {
	t.Parallel()
	_, err := document.ValueOf(time.Date(400000000, 1, 1, 0, 0, 0, 0, time.UTC))
	require.ErrorIs(t, err, boterr.InvalidArgument)
	_, err = document.ValueOf(time.Date(-400000000, 1, 1, 0, 0, 0, 0, time.UTC))
	require.ErrorIs(t, err, boterr.InvalidArgument)
	_, err = document.ValueOf(time.Date(200000, 1, 1, 0, 0, 0, 0, time.UTC))
	require.NoError(t, err)
}

func TestValueOf_UTF8(t *testing.T) {
	t.Parallel()
	type text string
	require.Equal(t, document.O("a", "b\uFFFD", "c", "d\uFFFD"), document.O("a", "b\xff", "c", text("d\xff")))
}
