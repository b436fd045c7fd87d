package datasource_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
)

func TestResults_ReadAndWritten(t *testing.T) {
	t.Parallel()
	entry := document.O("n", int64(1))
	for _, c := range []struct {
		text         string
		result, want any
	}{
		{`[{"n":1}]`, new(datasource.FetchResult), &datasource.FetchResult{Entries: []document.Object{entry}, Count: 1}},
		{`3`, new(datasource.FetchResult), &datasource.FetchResult{Count: 3}},
		{`["a",2]`, new(datasource.FetchDistinctResult), &datasource.FetchDistinctResult{Entries: []any{"a", int64(2)}, Count: 2}},
		{`3`, new(datasource.FetchDistinctResult), &datasource.FetchDistinctResult{Count: 3}},
		{`[{"n":1}]`, new(datasource.FetchGeoNearResult), &datasource.FetchGeoNearResult{Entries: []document.Object{entry}, Count: 1}},
	} {
		require.NoError(t, json.Unmarshal([]byte(c.text), c.result))
		require.Equal(t, c.want, c.result)
		written, err := json.Marshal(c.result)
		require.NoError(t, err)
		require.Equal(t, c.text, string(written))
		encoder, _ := c.result.(document.ValueEncoder)
		value, err := encoder.EncodeValue()
		require.NoError(t, err)
		encoded, err := document.EncodeJSON(value)
		require.NoError(t, err)
		require.Equal(t, c.text, string(encoded))
		require.ErrorIs(t, json.Unmarshal([]byte(`"text"`), c.result), boterr.InvalidArgument)
	}
}
