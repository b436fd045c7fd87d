// Package datasource is the table-like storage of bot logic: entries in data
// sources, and the seven operations on them.
//
//   - To read entries as structs, use [Fetch].
//   - To take one that nobody else gets, use [FindAndModify].
//   - To make a filter fast, use botctx.EnsureDataSourceIndex in the host. [Operations] are all that bot logic has.
//
// The entries of one data source of one app are a collection of their own. An entry
// has _id, createdAt and updatedAt, and the columns that its writer chose. Its _id is
// any string, number, boolean or date.
package datasource

import (
	"context"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// EncodeValue returns the array of entries, or their number.
func (r FetchResult) EncodeValue() (any, error) {
	return listOrCount(r.Entries, r.Count), nil
}

// DecodeValue reads an array of entries, or their number.
func (r *FetchResult) DecodeValue(value any) error {
	return decodeListOrCount(value, &r.Entries, &r.Count)
}

// MarshalJSON writes the array of entries, or their number.
func (r FetchResult) MarshalJSON() ([]byte, error) {
	return document.EncodeJSON(listOrCount(r.Entries, r.Count))
}

// UnmarshalJSON reads an array of entries, or their number.
func (r *FetchResult) UnmarshalJSON(text []byte) error {
	return document.DecodeJSON(text, r)
}

// EncodeValue returns the array of values, or their number.
func (r FetchDistinctResult) EncodeValue() (any, error) {
	return listOrCount(r.Entries, r.Count), nil
}

// DecodeValue reads an array of values, or their number.
func (r *FetchDistinctResult) DecodeValue(value any) error {
	return decodeListOrCount(value, &r.Entries, &r.Count)
}

// MarshalJSON writes the array of values, or their number.
func (r FetchDistinctResult) MarshalJSON() ([]byte, error) {
	return document.EncodeJSON(listOrCount(r.Entries, r.Count))
}

// UnmarshalJSON reads an array of values, or their number.
func (r *FetchDistinctResult) UnmarshalJSON(text []byte) error {
	return document.DecodeJSON(text, r)
}

// EncodeValue returns the array of entries.
func (r FetchGeoNearResult) EncodeValue() (any, error) { return r.Entries, nil }

// DecodeValue reads an array of entries.
func (r *FetchGeoNearResult) DecodeValue(value any) error {
	return decodeListOrCount(value, &r.Entries, &r.Count)
}

// MarshalJSON writes the array of entries.
func (r FetchGeoNearResult) MarshalJSON() ([]byte, error) {
	return document.EncodeJSON(r.Entries)
}

// UnmarshalJSON reads an array of entries.
func (r *FetchGeoNearResult) UnmarshalJSON(text []byte) error {
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

// The operations that are called here, for errors.
const (
	opFetch         = "fetchDataFromDataSource"
	opFindAndModify = "findAndModifyDataFromDataSource"
)

// Fetcher is what Fetch calls: *botctx.Context, or other Operations.
type Fetcher interface {
	// FetchDataFromDataSource is that of Operations.
	FetchDataFromDataSource(ctx context.Context, p FetchParams) (FetchResult, error)
}

// Modifier is what FindAndModify calls: *botctx.Context, or other Operations.
type Modifier interface {
	// FindAndModifyDataFromDataSource is that of Operations.
	FindAndModifyDataFromDataSource(
		ctx context.Context, p FindAndModifyParams) (FindAndModifyResult, error)
}

// Fetch is FetchDataFromDataSource with each entry as a T, a struct with JSON tags, by the rules of
// document.As:
//
//	orders, err := datasource.Fetch[Order](ctx, bot, datasource.FetchParams{DataSourceID: "orders"})
//
// Beside the errors of the operation:
//   - FailedPrecondition: an entry does not fit T. Field is the place in the entries, such as
//     "[2].price"; nothing is returned.
//   - InvalidArgument: Count is set. CountDataSource counts.
func Fetch[T any](ctx context.Context, from Fetcher, p FetchParams) ([]T, error) {
	if p.Count {
		return nil, boterr.Wrap(opFetch, boterr.Invalid("count", "gives no entries: call CountDataSource for their number"))
	}
	found, err := from.FetchDataFromDataSource(ctx, p)
	if err != nil {
		return nil, err
	}
	all := make([]T, len(found.Entries))
	for i, entry := range found.Entries {
		if all[i], err = entryAs[T](entry); err != nil {
			return nil, boterr.Wrap(opFetch, boterr.PrefixField(boterr.Index(i), err))
		}
	}
	return all, nil
}

// FindAndModify is FindAndModifyDataFromDataSource with the entry as a T, by the rules of
// document.As. It is nil where none matched, and where one was inserted without Option.New.
//
// Beside the errors of the operation:
//   - FailedPrecondition: the entry does not fit T. Field is the place in the result, such as
//     "value.price". The entry has been changed all the same.
func FindAndModify[T any](ctx context.Context, in Modifier, p FindAndModifyParams) (*T, error) {
	found, err := in.FindAndModifyDataFromDataSource(ctx, p)
	if err != nil || found.Value == nil {
		return nil, err //nolint:nilnil // No entry is an answer, as it is of the operation.
	}
	entry, err := entryAs[T](*found.Value)
	if err != nil {
		return nil, boterr.Wrap(opFindAndModify, boterr.PrefixField("value", err))
	}
	return &entry, nil
}

func entryAs[T any](entry document.Object) (T, error) {
	read, err := document.As[T](entry)
	if boterr.CodeOf(err) != boterr.InvalidArgument {
		return read, err
	}
	wrong, _ := boterr.AsError(err)
	id, _ := entry.Field(document.IDField)
	return read, boterr.New(boterr.FailedPrecondition, wrong.Field, "the entry with _id %s does not fit a %T: %w",
		document.Excerpt(id), read, wrong.Err)
}
