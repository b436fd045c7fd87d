package datasource

import (
	"context"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/record"
)

// FindAndModifyDataFromDataSource implements Operations.
func (s *Service) FindAndModifyDataFromDataSource(
	ctx context.Context, p FindAndModifyDataFromDataSourceParams,
) (FindAndModifyDataFromDataSourceResult, error) {
	var result FindAndModifyDataFromDataSourceResult
	entries, err := s.open("dataSourceId", p.DataSourceID)
	if err != nil {
		return result, err
	}
	if p.Filter.IsZero() {
		return result, boterr.Invalid("filter", "is missing: an empty object means all entries")
	}
	if err := record.CheckOptions("option", p.Option.Unknown); err != nil {
		return result, err
	}
	returned := p.Option.returned()
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

// PatchDataToDataSource implements Operations.
func (s *Service) PatchDataToDataSource(
	ctx context.Context, p PatchDataToDataSourceParams,
) (PatchDataToDataSourceResult, error) {
	var result PatchDataToDataSourceResult
	entries, err := s.collection(p.CollectionName, p.DataSourceID)
	if err != nil {
		return result, err
	}
	if err := record.CheckOptions("options", p.Options.Unknown); err != nil {
		return result, err
	}
	isMulti := p.Multi || p.Options.Multi
	if isMulti && p.Options.Sort.Len() > 0 {
		return result, boterr.Invalid("options.sort", "says which entry is the first, and cannot stand beside multi")
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

// returned is what the options say of what comes back.
func (o FindAndModifyOption) returned() record.ReturnOptions {
	return record.ReturnOptions{
		New: o.New, ReturnDocument: o.ReturnDocument, ReturnOriginal: o.ReturnOriginal,
		Projection: o.Projection, Fields: o.Fields,
	}
}
