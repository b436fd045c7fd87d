package datasources

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
)

// FindAndModifyDataFromDataSource implements datasource.Operations.
func (s *Service) FindAndModifyDataFromDataSource(
	ctx context.Context, p datasource.FindAndModifyParams,
) (datasource.FindAndModifyResult, error) {
	var result datasource.FindAndModifyResult
	entries, err := s.open("dataSourceId", p.DataSourceID)
	if err != nil {
		return result, err
	}
	if p.Filter.IsZero() {
		return result, boterr.Invalid("filter", "is missing; an empty object selects all entries")
	}
	if err := record.CheckOptions("option", p.Option.Unknown); err != nil {
		return result, err
	}
	returned := returned(p.Option)
	returnNew, err := returned.ReturnsNew()
	if err != nil {
		return result, boterr.PrefixField("option", err)
	}
	projection, err := returned.Shown()
	if err != nil {
		return result, boterr.PrefixField("option", err)
	}
	sortBy, err := record.OneSort(p.SortBy, p.Option.Sort)
	if err != nil {
		return result, boterr.PrefixField("option", err)
	}
	patch := record.Patch{
		Filter:       p.Filter,
		Patch:        p.Patch,
		WithModifier: p.WithModifier == nil || *p.WithModifier,
		ArrayFilters: p.Option.ArrayFilters,
		SortBy:       sortBy,
		Upsert:       p.Option.Upsert,
		Projection:   projection,
	}
	if err := s.checkUpsert(ctx, patch); err != nil {
		return result, err
	}
	found, err := entries.FindAndModify(ctx, patch, returnNew)
	if err != nil {
		return result, returned.InOption(err, p.SortBy)
	}
	result.OK = 1
	if !found.Document.IsZero() {
		result.Value = &found.Document
	}
	return result, nil
}

// PatchDataToDataSource implements datasource.Operations.
func (s *Service) PatchDataToDataSource(
	ctx context.Context, p datasource.PatchParams,
) (datasource.PatchResult, error) {
	var result datasource.PatchResult
	entries, err := s.collection(p.CollectionName, p.DataSourceID)
	if err != nil {
		return result, err
	}
	if err := record.CheckOptions("options", p.Options.Unknown); err != nil {
		return result, err
	}
	isMulti := p.Multi || p.Options.Multi
	if isMulti && p.Options.Sort.Len() > 0 {
		return result, boterr.Invalid("options.sort", "cannot be combined with multi; leave one of them out")
	}
	patch := record.Patch{
		Filter:       p.Filter,
		Patch:        p.Patch,
		WithModifier: p.WithModifier,
		ArrayFilters: p.Options.ArrayFilters,
		SortBy:       p.Options.Sort,
		Upsert:       p.Options.Upsert,
		Multi:        isMulti,
	}
	if err := s.checkUpsert(ctx, patch); err != nil {
		return result, err
	}
	updated, err := entries.Update(ctx, patch)
	if err != nil {
		return result, record.RenameField(record.RenameField(err, "arrayFilters", "options.arrayFilters"), "sortBy", "options.sort")
	}
	result.Matched, result.Modified = updated.Matched, updated.Modified
	if updated.UpsertedID != nil {
		result.Inserted = 1
	}
	return result, nil
}

func returned(o datasource.FindAndModifyOption) record.ReturnOptions {
	return record.ReturnOptions{
		New: o.New, ReturnDocument: o.ReturnDocument, ReturnOriginal: o.ReturnOriginal,
		Projection: o.Projection, Fields: o.Fields,
	}
}

// UpsertDataToDataSource implements datasource.Operations.
func (s *Service) UpsertDataToDataSource(
	ctx context.Context, p datasource.UpsertParams,
) (datasource.UpsertResult, error) {
	entries, err := s.open("dataSourceId", p.DataSourceID)
	if err != nil {
		return datasource.UpsertResult{}, err
	}
	if p.Data == nil {
		return datasource.UpsertResult{}, boterr.Missing("data", "an entry or a list of entries")
	}
	elements, err := readElements(p.Data)
	if err != nil {
		return datasource.UpsertResult{}, err
	}
	if err := checkCreatedAt(ctx, &entries, elements); err != nil {
		return datasource.UpsertResult{}, err
	}
	outcome := datasource.UpsertOutcome{DocsIDs: datasource.UpsertedIDs{Updated: []any{}, Inserted: []any{}, Upserted: []any{}}}
	for i := range elements {
		if err := write(ctx, &outcome, &entries, &elements[i]); err != nil {
			return datasource.UpsertResult{}, boterr.PrefixField(elements[i].field, err)
		}
	}
	return datasource.UpsertResult{Result: outcome}, nil
}

type element struct {
	// field is the path of the element, for errors.
	field string
	// id is the element's _id, or nil.
	id any
	// columns are the element's fields without _id or createdAt. The collection ignores updatedAt.
	columns document.Object
	// createdAt is the element's createdAt. A fetched entry has one.
	createdAt    any
	hasCreatedAt bool
}

// readElements validates and parses the elements.
func readElements(data []document.Object) ([]element, error) {
	elements := make([]element, len(data))
	seen := map[string]struct{}{}
	for i, given := range data {
		field := "data[" + strconv.Itoa(i) + "]"
		read, err := readElement(given)
		if err != nil {
			return nil, boterr.PrefixField(field, err)
		}
		read.field = field
		elements[i] = read
		if read.id == nil {
			continue
		}
		key := string(document.AppendKey(nil, read.id))
		if _, twice := seen[key]; twice {
			return nil, boterr.Invalid(field+"._id", "appears twice in one call: %v", read.id)
		}
		seen[key] = struct{}{}
	}
	return elements, nil
}

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
			read.createdAt, read.hasCreatedAt = value, true
		case column == "" || column[0] == '$' || strings.ContainsAny(column, ".\x00"):
			return read, boterr.Invalid(column,
				"%q is not a valid column name; a name is not empty, does not begin with $, and contains no dot and no NUL", column)
		default:
			columns = append(columns, column, value)
		}
	}
	read.columns = document.O(columns...)
	return read, document.CheckExtent(read.columns, maxColumns)
}

// maxColumns is the maximum size in bytes of an element's columns. The rest of document.MaxSize is
// room for the timestamps and an _id of up to a kilobyte.
const maxColumns = document.MaxSize - 1<<10 - 1<<7

// checkCreatedAt refuses elements that would change createdAt. It accepts the stored createdAt, so that a fetched
// entry can be written back.
func checkCreatedAt(ctx context.Context, entries *record.Collection, elements []element) error {
	for i := range elements {
		given := &elements[i]
		if !given.hasCreatedAt {
			continue
		}
		refusal := boterr.Invalid(given.field+".createdAt", "is not the stored value, and a new entry gets its own; leave it out")
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

func byID(id any) document.Object {
	return document.O(record.FieldID, document.O("$eq", id))
}

// write stores one element and counts the outcome.
func write(ctx context.Context, o *datasource.UpsertOutcome, entries *record.Collection, given *element) error {
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
	done, err := update(ctx, o, entries, given)
	if done || err != nil {
		return err
	}
	// Insert, unlike an upsert, keeps the order of the columns.
	added := given.columns.With(record.FieldID, given.id)
	_, err = entries.Insert(ctx, added)
	if errors.Is(err, boterr.AlreadyExists) { // Another call inserted the _id, or a unique index refuses a column.
		if done, failed := update(ctx, o, entries, given); done || failed != nil {
			return failed
		}
		_, err = entries.Insert(ctx, added) // Another call may have removed the entry since.
	}
	if err != nil {
		return err
	}
	o.DocsIDs.Upserted = append(o.DocsIDs.Upserted, given.id)
	o.Inserted++
	return nil
}

// update sets the columns of the entry with the element's _id. It reports whether there is such an entry.
func update(ctx context.Context, o *datasource.UpsertOutcome, entries *record.Collection, given *element) (bool, error) {
	updated, err := entries.Update(ctx, record.Patch{Filter: byID(given.id), Patch: given.columns})
	if err != nil || updated.Matched == 0 {
		return false, record.RenameField(err, "patch", "")
	}
	o.DocsIDs.Updated = append(o.DocsIDs.Updated, given.id)
	o.Matched += updated.Matched
	o.Modified += updated.Modified
	return true, nil
}
