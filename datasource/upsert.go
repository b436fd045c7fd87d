package datasource

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/record"
)

// UpsertDataToDataSource implements Operations.
func (s *Service) UpsertDataToDataSource(
	ctx context.Context, p UpsertDataToDataSourceParams,
) (UpsertDataToDataSourceResult, error) {
	entries, err := s.open("dataSourceId", p.DataSourceID)
	if err != nil {
		return UpsertDataToDataSourceResult{}, err
	}
	if p.Data == nil {
		return UpsertDataToDataSourceResult{}, boterr.Missing("data", "an entry or a list of entries")
	}
	elements, err := readElements(p.Data)
	if err != nil {
		return UpsertDataToDataSourceResult{}, err
	}
	if err := checkCreatedAt(ctx, entries, elements); err != nil {
		return UpsertDataToDataSourceResult{}, err
	}
	outcome := UpsertOutcome{DocsIDs: UpsertedIDs{Updated: []any{}, Inserted: []any{}, Upserted: []any{}}}
	for some := range slices.Chunk(elements, mostAtOnce) {
		if err := outcome.writeAll(ctx, entries, some); err != nil {
			return UpsertDataToDataSourceResult{}, err
		}
	}
	return UpsertDataToDataSourceResult{Result: outcome}, nil
}

const (
	// mostAtOnce is the number of elements that are looked for at once, bytesAtOnce the size in bytes from
	// which on no further one is inserted together with others.
	mostAtOnce  = 1_000
	bytesAtOnce = 1 << 20
)

// element is one element of an upsert.
type element struct {
	// field is its path in errors.
	field string
	// id is its _id, nil where it has none, and key what tells it from others.
	id  any
	key string
	// columns are its fields but those that every entry has.
	columns document.Object
	// createdAt is given where the element was read from the data source before.
	createdAt any
}

// readElements checks the elements and takes them apart.
func readElements(data []document.Object) ([]element, error) {
	elements := make([]element, len(data))
	seen := map[string]struct{}{}
	for i, given := range data {
		field := "data[" + strconv.Itoa(i) + "]"
		read, err := readElement(given)
		if err != nil {
			return nil, boterr.In(field, err)
		}
		read.field = field
		elements[i] = read
		if read.id == nil {
			continue
		}
		elements[i].key = keyOf(read.id)
		if _, twice := seen[elements[i].key]; twice {
			return nil, boterr.Invalid(field+"._id", "comes twice in one call: %v", read.id)
		}
		seen[elements[i].key] = struct{}{}
	}
	return elements, nil
}

// keyOf returns the same for two ids where they are one.
func keyOf(id any) string { return string(document.AppendKey(nil, id)) }

// readElement checks one element and takes it apart.
func readElement(given document.Object) (element, error) {
	if given.IsZero() {
		return element{}, boterr.Invalid("", "must be an object, got null")
	}
	if err := given.Err(); err != nil {
		return element{}, err
	}
	var read element
	columns := make([]any, 0, 2*given.Len())
	for column, value := range given.All() {
		switch {
		case column == record.FieldID:
			if err := checkID(value); err != nil {
				return read, err
			}
			read.id = value
		case column == record.FieldCreatedAt:
			read.createdAt = value
		case column == record.FieldUpdatedAt: // Renewed where the entry changes.
		case column == "" || column[0] == '$' || strings.ContainsAny(column, ".\x00"):
			return read, boterr.Invalid(column,
				"%q is no name of a column: names are not empty, do not begin with $, and hold no dot and no NUL", column)
		default:
			columns = append(columns, column, value)
		}
	}
	read.columns = document.O(columns...)
	return read, read.columns.Err()
}

// checkCreatedAt refuses elements that would change when an entry was made. An entry
// that was fetched can be given back as it is.
func checkCreatedAt(ctx context.Context, entries *record.Collection, elements []element) error {
	for i := range elements {
		given := &elements[i]
		if given.createdAt == nil {
			continue
		}
		refusal := boterr.Invalid(given.field+".createdAt", "is set when the entry is made, and fixed from then on: leave it out")
		if given.id == nil {
			return refusal
		}
		found, err := entries.Find(ctx, record.Query{Filter: byID(given.id), Limit: 1})
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return refusal
		}
		if stored, _ := found[0].Field(record.FieldCreatedAt); !document.Equal(stored, given.createdAt) {
			return refusal
		}
	}
	return nil
}

// byID is the filter for one entry.
func byID(id any) document.Object {
	return document.O(record.FieldID, document.O("$eq", id))
}

// writeAll writes elements in their order. Those next to each other of which no entry is there are inserted
// together, so that a database is asked once.
func (o *UpsertOutcome) writeAll(ctx context.Context, entries *record.Collection, given []element) error {
	there, err := keysThere(ctx, entries, given)
	if err != nil {
		return boterr.In(given[0].field, err)
	}
	for len(given) > 0 {
		some := given[:newAtFront(given, there)]
		given = given[len(some):]
		if isInserted, err := o.insertAll(ctx, entries, some); err != nil {
			return boterr.In(some[0].field, err)
		} else if isInserted {
			continue
		}
		for i := range some {
			if err := o.write(ctx, entries, &some[i]); err != nil {
				return boterr.In(some[i].field, err)
			}
		}
	}
	return nil
}

// keysThere returns the keys of the elements that have an entry. One element alone is not looked for.
func keysThere(ctx context.Context, entries *record.Collection, given []element) (map[string]struct{}, error) {
	ids := make([]any, 0, len(given))
	for i := range given {
		if given[i].id != nil {
			ids = append(ids, given[i].id)
		}
	}
	if len(given) == 1 || len(ids) == 0 {
		return nil, nil
	}
	found, err := entries.Distinct(ctx, record.FieldID, document.O(record.FieldID, document.O("$in", document.ArrayOf(ids))))
	if err != nil {
		return nil, err
	}
	there := make(map[string]struct{}, len(found))
	for _, id := range found {
		there[keyOf(id)] = struct{}{}
	}
	return there, nil
}

// newAtFront returns the number of elements at the front that are inserted together, and 1 where there are
// none.
func newAtFront(given []element, there map[string]struct{}) int {
	n, size := 0, 0
	for n < len(given) && size < bytesAtOnce {
		if _, isThere := there[given[n].key]; isThere {
			break
		}
		size += given[n].columns.Size()
		n++
	}
	return max(n, 1)
}

// insertAll inserts elements together, and counts them. It reports false where they are to be written one by one:
// there is one alone, or the store has refused one of them, such as an entry that another call has made meanwhile.
func (o *UpsertOutcome) insertAll(ctx context.Context, entries *record.Collection, given []element) (isInserted bool, err error) {
	if len(given) == 1 {
		return false, nil
	}
	added := make([]document.Object, len(given))
	for i := range given {
		if added[i] = given[i].columns; given[i].id != nil {
			added[i] = added[i].With(record.FieldID, given[i].id)
		}
	}
	stored, err := entries.InsertAll(ctx, added)
	if errors.Is(err, boterr.AlreadyExists) || errors.Is(err, boterr.InvalidArgument) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	for i := range given {
		if given[i].id != nil {
			o.DocsIDs.Upserted = append(o.DocsIDs.Upserted, given[i].id)
		} else {
			o.DocsIDs.Inserted = append(o.DocsIDs.Inserted, stored[i].Value(record.FieldID))
		}
	}
	o.Inserted += int64(len(given))
	return true, nil
}

// write writes one element and counts what became of it.
func (o *UpsertOutcome) write(ctx context.Context, entries *record.Collection, given *element) error {
	if given.id == nil {
		stored, err := entries.Insert(ctx, given.columns)
		if err != nil {
			return err
		}
		id, _ := stored.Field(record.FieldID)
		o.DocsIDs.Inserted = append(o.DocsIDs.Inserted, id)
		o.Inserted++
		return nil
	}
	done, err := o.update(ctx, entries, given)
	if done || err != nil {
		return err
	}
	// It is inserted rather than upserted, so that its columns keep their order.
	_, err = entries.Insert(ctx, given.columns.With(record.FieldID, given.id))
	if errors.Is(err, boterr.AlreadyExists) { // Another call was faster.
		_, err = o.update(ctx, entries, given)
		return err
	}
	if err != nil {
		return err
	}
	o.DocsIDs.Upserted = append(o.DocsIDs.Upserted, given.id)
	o.Inserted++
	return nil
}

// update sets the columns of the entry with the element's _id, and reports whether
// there is one.
func (o *UpsertOutcome) update(ctx context.Context, entries *record.Collection, given *element) (bool, error) {
	updated, err := entries.Update(ctx, record.Patch{Filter: byID(given.id), Patch: given.columns})
	if err != nil || updated.Matched == 0 {
		return false, err
	}
	o.DocsIDs.Updated = append(o.DocsIDs.Updated, given.id)
	o.Matched += updated.Matched
	o.Modified += updated.Modified
	return true, nil
}
