package agenda

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
)

// fill gives each field of a struct a value that is not zero.
func fill(t *testing.T, fields reflect.Value) {
	t.Helper()
	for i := range fields.NumField() {
		switch field := fields.Field(i); field.Interface().(type) {
		case string:
			field.SetString("text " + fields.Type().Field(i).Name)
		case int64, document.Timestamp:
			field.SetInt(int64(1000 + i))
		case bool:
			field.SetBool(true)
		case document.Object:
			field.Set(reflect.ValueOf(document.O("a", 1)))
		default:
			fill(t, field)
		}
	}
}

func TestReadRecord_FastAsDecoded(t *testing.T) {
	t.Parallel()
	full := Record{}
	fill(t, reflect.ValueOf(&full).Elem())
	for _, r := range []Record{full, {}, {Agenda: Agenda{ID: "a", Meta: document.O()}}} {
		o, err := document.Encode(r)
		require.NoError(t, err)
		var fast, decoded Record
		require.True(t, fast.fastRead(o), "each field of a Record is read")
		require.NoError(t, document.Decode(o, &decoded))
		require.Equal(t, decoded, fast)
	}
}

func TestReadRecord_WrittenElsewhere(t *testing.T) {
	t.Parallel()
	r, err := fromDocument(document.O("_id", "a", "nextRunAt", 5.0, "tag", nil, "unknown", document.A(1)))
	require.NoError(t, err)
	require.Equal(t, &Record{Agenda: Agenda{ID: "a", NextRunAt: 5, Meta: document.O()}}, r)
	_, err = fromDocument(document.O("_id", "a", "nextRunAt", "soon"))
	require.ErrorContains(t, err, "the stored agenda a cannot be read")
}
