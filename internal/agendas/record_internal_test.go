package agendas

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
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

func TestRecord_EachFieldIsReadWithoutReflection(t *testing.T) {
	t.Parallel()
	full := agenda.Record{}
	fill(t, reflect.ValueOf(&full).Elem())
	o, err := document.Encode(full)
	require.NoError(t, err)
	var read agenda.Record
	for name, value := range o.All() {
		isDecoded, err := read.DecodeField(name, value)
		require.NoError(t, err)
		require.True(t, isDecoded, "%s is read by reflection", name)
	}
	require.Equal(t, full, read)
}

func TestReadRecord_WrittenElsewhere(t *testing.T) {
	t.Parallel()
	r, err := fromDocument(document.O("_id", "a", "nextRunAt", 5.0, "tag", nil, "unknown", document.A(1)))
	require.NoError(t, err)
	require.Equal(t, &agenda.Record{Agenda: agenda.Agenda{ID: "a", NextRunAt: 5, Meta: document.O()}}, r)
	_, err = fromDocument(document.O("_id", "a", "nextRunAt", "soon"))
	require.ErrorContains(t, err, "the stored agenda a cannot be read")
}
