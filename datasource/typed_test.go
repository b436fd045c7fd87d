package datasource_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
)

// shop is an entry of shops.
type shop struct {
	ID    int      `json:"_id"`
	Price int      `json:"price"`
	Tags  []string `json:"tags"`
}

func TestFetch_EntriesAsStructs(t *testing.T) {
	t.Parallel()
	a := shops(t)
	params := datasource.FetchDataFromDataSourceParams{DataSourceID: table, Filter: document.O("area", "east")}
	found, err := datasource.Fetch[shop](t.Context(), a.mine, params)
	require.NoError(t, err)
	require.Equal(t, []shop{{ID: 1, Price: 2, Tags: []string{"a", "b"}}, {ID: 3, Price: 1}}, found)

	params.Filter = document.O("area", "north")
	none, err := datasource.Fetch[shop](t.Context(), a.mine, params)
	require.NoError(t, err)
	require.NotNil(t, none)
	require.Empty(t, none)
}

func TestFetch_ErrorNamesTheEntryAndThePath(t *testing.T) {
	t.Parallel()
	a := newApps(t, `{"_id": 1, "tags": []}`, `{"_id": 2, "tags": ["a", 7]}`)
	found, err := datasource.Fetch[shop](t.Context(), a.mine, datasource.FetchDataFromDataSourceParams{DataSourceID: table})
	require.Nil(t, found)
	require.ErrorIs(t, err, boterr.FailedPrecondition)
	require.EqualError(t, err, "fetchDataFromDataSource: failed precondition: [1].tags[1]: "+
		"the entry with _id 2 does not fit a datasource_test.shop: must be of type string, got number")
}

func TestFetch_GivesErrorsOfTheOperationAndRefusesCount(t *testing.T) {
	t.Parallel()
	a := shops(t)
	_, err := datasource.Fetch[shop](t.Context(), a.mine, datasource.FetchDataFromDataSourceParams{})
	require.ErrorIs(t, err, boterr.InvalidArgument)
	_, err = datasource.Fetch[shop](t.Context(), a.mine, datasource.FetchDataFromDataSourceParams{DataSourceID: table, Count: true})
	require.ErrorIs(t, err, boterr.InvalidArgument)
	require.ErrorContains(t, err, "CountDataSource")
}

func TestFindAndModify_EntryAsStruct(t *testing.T) {
	t.Parallel()
	a := shops(t)
	params := datasource.FindAndModifyDataFromDataSourceParams{
		DataSourceID: table, Filter: document.O("area", "west"), Patch: document.Set("area", "sold"),
		Option: datasource.FindAndModifyOption{Projection: document.O("price", 1, "_id", 0)},
	}
	found, err := datasource.FindAndModify[shop](t.Context(), a.mine, params)
	require.NoError(t, err)
	require.Equal(t, &shop{Price: 1}, found)

	again, err := datasource.FindAndModify[shop](t.Context(), a.mine, params)
	require.NoError(t, err)
	require.Nil(t, again)

	params.Patch = document.Object{}
	_, err = datasource.FindAndModify[shop](t.Context(), a.mine, params)
	require.ErrorIs(t, err, boterr.InvalidArgument)
}

func TestFindAndModify_ErrorNamesThePathAndTheChangeStays(t *testing.T) {
	t.Parallel()
	a := newApps(t, `{"_id": "x", "price": "much"}`)
	params := datasource.FindAndModifyDataFromDataSourceParams{
		DataSourceID: table, Filter: document.O("taken", nil), Patch: document.Set("taken", true),
	}
	found, err := datasource.FindAndModify[shop](t.Context(), a.mine, params)
	require.Nil(t, found)
	require.EqualError(t, err, "findAndModifyDataFromDataSource: failed precondition: value._id: "+
		`the entry with _id "x" does not fit a datasource_test.shop: must be of type number, got string`)
	again, err := datasource.FindAndModify[shop](t.Context(), a.mine, params)
	require.NoError(t, err)
	require.Nil(t, again)
}
