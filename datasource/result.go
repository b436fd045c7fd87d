package datasource

import (
	"github.com/botctx/go-sdk/document"
)

// EncodeValue returns the array of entries, or their number.
func (r FetchDataFromDataSourceResult) EncodeValue() (any, error) {
	return listOrCount(r.Entries, r.Count), nil
}

// DecodeValue reads an array of entries, or their number.
func (r *FetchDataFromDataSourceResult) DecodeValue(value any) error {
	return decodeListOrCount(value, &r.Entries, &r.Count)
}

// MarshalJSON writes the array of entries, or their number.
func (r FetchDataFromDataSourceResult) MarshalJSON() ([]byte, error) {
	return document.EncodeJSON(listOrCount(r.Entries, r.Count))
}

// UnmarshalJSON reads an array of entries, or their number.
func (r *FetchDataFromDataSourceResult) UnmarshalJSON(text []byte) error {
	return document.DecodeJSON(text, r)
}

// EncodeValue returns the array of values, or their number.
func (r FetchDistinctDataFromDataSourceResult) EncodeValue() (any, error) {
	return listOrCount(r.Entries, r.Count), nil
}

// DecodeValue reads an array of values, or their number.
func (r *FetchDistinctDataFromDataSourceResult) DecodeValue(value any) error {
	return decodeListOrCount(value, &r.Entries, &r.Count)
}

// MarshalJSON writes the array of values, or their number.
func (r FetchDistinctDataFromDataSourceResult) MarshalJSON() ([]byte, error) {
	return document.EncodeJSON(listOrCount(r.Entries, r.Count))
}

// UnmarshalJSON reads an array of values, or their number.
func (r *FetchDistinctDataFromDataSourceResult) UnmarshalJSON(text []byte) error {
	return document.DecodeJSON(text, r)
}

// EncodeValue returns the array of entries.
func (r FetchGeoNearFromDataSourceResult) EncodeValue() (any, error) { return r.Entries, nil }

// DecodeValue reads an array of entries.
func (r *FetchGeoNearFromDataSourceResult) DecodeValue(value any) error {
	return decodeListOrCount(value, &r.Entries, &r.Count)
}

// MarshalJSON writes the array of entries.
func (r FetchGeoNearFromDataSourceResult) MarshalJSON() ([]byte, error) {
	return document.EncodeJSON(r.Entries)
}

// UnmarshalJSON reads an array of entries.
func (r *FetchGeoNearFromDataSourceResult) UnmarshalJSON(text []byte) error {
	return document.DecodeJSON(text, r)
}

// listOrCount is what the JSON of a result shows: the number where there is no list.
func listOrCount[T any](entries []T, count int64) any {
	if entries == nil {
		return count
	}
	return entries
}

// decodeListOrCount is the way back from listOrCount.
func decodeListOrCount[T any](value any, entries *[]T, count *int64) error {
	if _, ok := value.(document.Array); !ok {
		return document.DecodeValue(value, count)
	}
	err := document.DecodeValue(value, entries)
	*count = int64(len(*entries))
	return err
}
