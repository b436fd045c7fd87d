package botctxtest

import (
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
)

// seed puts entries into the data source of a place.
func (t *trial) seed(p *place, entries ...document.Object) {
	t.Helper()
	_, err := p.UpsertDataToDataSource(t.ctx(), datasource.UpsertDataToDataSourceParams{DataSourceID: source, Data: entries})
	require.NoError(t, err)
}

// fetch returns the entries that a fetch finds.
func (t *trial) fetch(p *place, params datasource.FetchDataFromDataSourceParams) []document.Object {
	t.Helper()
	found, err := p.FetchDataFromDataSource(t.ctx(), params)
	require.NoError(t, err)
	return found.Entries
}

// all returns the entries of a place.
func (t *trial) all(p *place) []document.Object {
	t.Helper()
	return t.fetch(p, datasource.FetchDataFromDataSourceParams{DataSourceID: source})
}

// requireHolds checks that a place has these entries in this order, apart from their
// times.
func (t *trial) requireHolds(p *place, expected ...document.Object) {
	t.Helper()
	t.requireEntries(expected, t.all(p))
}

// requireEntries checks entries apart from their times.
func (t *trial) requireEntries(expected, actual []document.Object) {
	t.Helper()
	require.Equal(t, texts(expected), texts(actual))
}

// requireEntry checks one entry apart from its times.
func (t *trial) requireEntry(expected document.Object, actual *document.Object) {
	t.Helper()
	require.NotNil(t, actual)
	require.Equal(t, columns(expected).String(), columns(*actual).String())
}

// requireIDs checks which entries came, in order.
func (t *trial) requireIDs(expected []any, entries []document.Object) {
	t.Helper()
	ids := make([]any, 0, len(entries))
	for _, entry := range entries {
		id, _ := entry.Field(record.FieldID)
		ids = append(ids, id)
	}
	require.Equal(t, document.A(expected...).String(), document.A(ids...).String())
}

// texts returns entries as texts, apart from their times.
func texts(entries []document.Object) []string {
	all := make([]string, 0, len(entries))
	for _, entry := range entries {
		all = append(all, columns(entry).String())
	}
	return all
}

// columns returns an entry without its times. Its columns are sorted: in which order an
// update leaves them is the database's affair. Those of objects in it keep their order.
func columns(entry document.Object) document.Object {
	sorted := document.O()
	for _, column := range slices.Sorted(slices.Values(entry.Keys())) {
		if value, _ := entry.Field(column); column != record.FieldCreatedAt && column != record.FieldUpdatedAt {
			sorted = sorted.With(column, value)
		}
	}
	return sorted
}
