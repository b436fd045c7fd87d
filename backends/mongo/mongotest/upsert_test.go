package mongotest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/record"
)

// A thousand entries of a list that are not there take a look and an insert.
func TestUpsert_RoundTrips(t *testing.T) {
	t.Parallel()
	const entries, trips = 1_000, 2
	counted := newCounted(t)
	s := datasource.New(record.Env{Store: counted.Store}, record.Scope{App: "app"})
	data := make([]document.Object, entries)
	for i := range data {
		data[i] = document.O("_id", i, "n", i)
	}
	began := counted.commands.Load()
	done, err := s.UpsertDataToDataSource(t.Context(), datasource.UpsertDataToDataSourceParams{DataSourceID: "things", Data: data})
	require.NoError(t, err)
	require.EqualValues(t, entries, done.Result.Inserted)
	require.EqualValues(t, trips, counted.commands.Load()-began)

	found, err := s.FetchDataFromDataSource(t.Context(), datasource.FetchDataFromDataSourceParams{DataSourceID: "things"})
	require.NoError(t, err)
	require.Len(t, found.Entries, entries)
	for i, o := range found.Entries {
		require.EqualValues(t, i, o.Value("_id"), "in the order of the list")
	}
}
