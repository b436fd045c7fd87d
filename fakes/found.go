package fakes

import (
	"reflect"

	"github.com/botctx/go-sdk/datasource"
)

// numberFound returns how many records a result is about: a list, one record or none, or their
// number.
func numberFound(result any) int64 {
	switch of := result.(type) {
	case nil:
		return 0
	case int64:
		return of
	case datasource.FetchDataFromDataSourceResult:
		return max(of.Count, int64(len(of.Entries)))
	case datasource.FetchDistinctDataFromDataSourceResult:
		return max(of.Count, int64(len(of.Entries)))
	case datasource.FetchGeoNearFromDataSourceResult:
		return max(of.Count, int64(len(of.Entries)))
	case datasource.FindAndModifyDataFromDataSourceResult:
		return numberFound(of.Value)
	}
	switch v := reflect.ValueOf(result); {
	case v.Kind() == reflect.Slice:
		return int64(v.Len())
	case v.Kind() == reflect.Pointer && v.IsNil():
		return 0
	default:
		return 1
	}
}
