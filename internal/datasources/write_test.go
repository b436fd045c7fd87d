package datasources_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/datasources"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/query"
)

func TestDataSource_TwoNamesOfOne(t *testing.T) {
	t.Parallel()
	a := newApps(t, `{"_id": 1}`)
	const both = `{"collectionName": "table", "dataSourceId": "table"`
	requireResult(t, a.mine.CountDataSource, both+`}`, `1`)
	requireResult(t, a.mine.PatchDataToDataSource, both+`, "patch": {"n": 2}}`, `{"matched": 1, "modified": 1, "inserted": 0, "deleted": 0}`)
}

func TestUpsertData_IndexRefusesANewEntry(t *testing.T) {
	t.Parallel()
	database := memstore.New()
	unique := store.Index{Keys: []store.IndexKey{{Path: "code", Kind: query.Ascending}}, Unique: true, Sparse: true}
	require.NoError(t, datasources.EnsureIndex(t.Context(), database, "app", table, unique))
	s := datasources.New(record.Env{Store: database}, record.Scope{App: "app"})
	upserted := func(elements ...document.Object) error {
		_, err := s.UpsertDataToDataSource(t.Context(), datasource.UpsertParams{DataSourceID: table, Data: elements})
		return err
	}
	require.NoError(t, upserted(document.O("_id", 1, "code", 7)))
	err := upserted(document.O("_id", 2, "code", 8), document.O("_id", 3, "code", 7), document.O("_id", 4, "code", 9))
	require.ErrorIs(t, err, boterr.AlreadyExists)
	require.ErrorContains(t, err, "data[1]")
	kept, err := s.CountDataSource(t.Context(), datasource.CountParams{DataSourceID: table})
	require.NoError(t, err)
	require.EqualValues(t, 2, kept, "those before it are kept")
}

func TestUpsertData_StampsOfAFetchedEntry(t *testing.T) {
	t.Parallel()
	a := newApps(t, `{"_id": 1, "n": 1}`)
	a.advance()
	done := upsert(t, a.mine, `{"_id": 1, "n": 1, "updatedAt": 5}`, `{"_id": 2, "updatedAt": 5}`)
	require.Zero(t, done.Modified)
	found, err := a.mine.FetchDataFromDataSource(t.Context(), datasource.FetchParams{DataSourceID: table})
	require.NoError(t, err)
	for i, want := range []int64{1000, 2000} {
		require.Equal(t, want, document.Get(found.Entries[i], "updatedAt", int64(0)))
	}
}

// late is a store that calls the function happens between the lookup of an entry and its insertion.
type late struct {
	store.Store

	happens func()
}

func (l late) Collection(name string) store.Collection {
	return lateCollection{l.Store.Collection(name), l.happens}
}

type lateCollection struct {
	store.Collection

	happens func()
}

func (c lateCollection) Insert(ctx context.Context, documents ...document.Object) error {
	c.happens()
	return c.Collection.Insert(ctx, documents...)
}

func TestUpsertData_InsertedMeanwhile(t *testing.T) {
	t.Parallel()
	a := newApps(t)
	s := datasources.New(record.Env{Store: late{a.store, func() { upsert(t, a.mine, `{"_id": "a", "by": "another", "n": 1}`) }}}, record.Scope{App: "mine"})
	done := upsert(t, s, `{"_id": "a", "by": "this"}`)
	require.Equal(t, []any{"a"}, done.DocsIDs.Updated)
	require.EqualValues(t, 1, done.Matched)
	require.Zero(t, done.Inserted)
	requireTable(t, a.mine, `{"_id": "a", "by": "this", "n": 1}`)
}
