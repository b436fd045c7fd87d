// Package datasource defines the table-like storage of bot logic: entries in data sources, and the
// seven operations on them.
//
//   - To read entries as structs, use [Fetch].
//   - To claim an entry before any other caller does, use [FindAndModify].
//   - For everything else, use the [Operations]. To speed up a filter, call
//     botctx.EnsureDataSourceIndex in the host.
//
// Each data source of an app is a separate collection. An entry has _id, createdAt and updatedAt,
// and the columns that its writer chose. An _id is any string, number, boolean or date.
package datasource

import (
	"context"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// EncodeValue returns the entries, or their number if Count was set.
func (r FetchResult) EncodeValue() (any, error) {
	return listOrCount(r.Entries, r.Count), nil
}

// DecodeValue reads an array of entries or a number.
func (r *FetchResult) DecodeValue(value any) error {
	return decodeListOrCount(value, &r.Entries, &r.Count)
}

// MarshalJSON writes the entries, or their number if Count was set.
func (r FetchResult) MarshalJSON() ([]byte, error) {
	return document.EncodeLossyJSON(listOrCount(r.Entries, r.Count))
}

// UnmarshalJSON reads an array of entries or a number.
func (r *FetchResult) UnmarshalJSON(text []byte) error {
	return document.DecodeJSON(text, r)
}

// EncodeValue returns the values, or their number if Count was set.
func (r FetchDistinctResult) EncodeValue() (any, error) {
	return listOrCount(r.Entries, r.Count), nil
}

// DecodeValue reads an array of values or a number.
func (r *FetchDistinctResult) DecodeValue(value any) error {
	return decodeListOrCount(value, &r.Entries, &r.Count)
}

// MarshalJSON writes the values, or their number if Count was set.
func (r FetchDistinctResult) MarshalJSON() ([]byte, error) {
	return document.EncodeLossyJSON(listOrCount(r.Entries, r.Count))
}

// UnmarshalJSON reads an array of values or a number.
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
	return document.EncodeLossyJSON(r.Entries)
}

// UnmarshalJSON reads an array of entries.
func (r *FetchGeoNearResult) UnmarshalJSON(text []byte) error {
	return document.DecodeJSON(text, r)
}

// listOrCount returns entries, or count if entries is nil.
func listOrCount[T any](entries []T, count int64) any {
	if entries == nil {
		return count
	}
	return entries
}

// decodeListOrCount is the inverse of listOrCount.
func decodeListOrCount[T any](value any, entries *[]T, count *int64) error {
	if _, ok := value.(document.Array); !ok {
		return document.DecodeValue(value, count)
	}
	err := document.DecodeValue(value, entries)
	*count = int64(len(*entries))
	return err
}

const (
	opFetch         = "fetchDataFromDataSource"
	opFindAndModify = "findAndModifyDataFromDataSource"
)

// Fetcher is the operation that Fetch needs. *botctx.Context implements it.
type Fetcher interface {
	// FetchDataFromDataSource is described in Operations.
	FetchDataFromDataSource(ctx context.Context, p FetchParams) (FetchResult, error)
}

// Modifier is the operation that FindAndModify needs. *botctx.Context implements it.
type Modifier interface {
	// FindAndModifyDataFromDataSource is described in Operations.
	FindAndModifyDataFromDataSource(
		ctx context.Context, p FindAndModifyParams) (FindAndModifyResult, error)
}

// Fetch calls FetchDataFromDataSource and decodes each entry into a T, a struct with JSON tags, by
// the rules of document.As:
//
//	orders, err := datasource.Fetch[Order](ctx, bot, datasource.FetchParams{DataSourceID: "orders"})
//
// In addition to the errors of the operation, it returns:
//   - FailedPrecondition: an entry does not fit T. Field is the path in the entries, such as
//     "[2].price". No entries are returned.
//   - InvalidArgument: Count is set. Use CountDataSource to count.
func Fetch[T any](ctx context.Context, from Fetcher, p FetchParams) ([]T, error) {
	if p.Count {
		return nil, boterr.Wrap(opFetch, boterr.Invalid("count", "is not supported by Fetch; call CountDataSource to count"))
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

// FindAndModify calls FindAndModifyDataFromDataSource and decodes the entry into a T, by the rules
// of document.As. The result is nil if no entry matched, or if one was inserted without Option.New.
//
// In addition to the errors of the operation, it returns:
//   - FailedPrecondition: the entry does not fit T. Field is the path in the result, such as
//     "value.price". The entry has been changed nevertheless.
func FindAndModify[T any](ctx context.Context, in Modifier, p FindAndModifyParams) (*T, error) {
	found, err := in.FindAndModifyDataFromDataSource(ctx, p)
	if err != nil || found.Value == nil {
		return nil, err //nolint:nilnil // As in the operation, nil means that no entry matched.
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
