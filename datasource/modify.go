package datasource

import (
	"context"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/record"
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
	if err := checkOptions("option", p.Option.Unknown); err != nil {
		return result, err
	}
	patch := record.Patch{
		Filter:       p.Filter,
		Patch:        p.Patch,
		WithModifier: p.WithModifier == nil || *p.WithModifier,
		ArrayFilters: p.Option.ArrayFilters,
		SortBy:       p.SortBy,
		Upsert:       p.Option.Upsert,
		Projection:   p.Option.Projection,
	}
	if err := s.checkUpsert(patch); err != nil {
		return result, err
	}
	found, err := entries.FindAndModify(ctx, patch, p.Option.New)
	if err != nil {
		err = record.RenameField(err, "arrayFilters", "option.arrayFilters")
		return result, record.RenameField(err, "projection", "option.projection")
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
	entries, err := s.either(p.CollectionName, p.DataSourceID)
	if err != nil {
		return result, err
	}
	if err := checkOptions("options", p.Options.Unknown); err != nil {
		return result, err
	}
	if p.Multi && p.Options.Sort.Len() > 0 {
		return result, boterr.Invalid("options.sort", "says which entry is the first, and cannot stand beside multi")
	}
	patch := record.Patch{
		Filter:       p.Filter,
		Patch:        p.Patch,
		WithModifier: p.WithModifier,
		ArrayFilters: p.Options.ArrayFilters,
		SortBy:       p.Options.Sort,
		Upsert:       p.Options.Upsert,
		Multi:        p.Multi,
	}
	if err := s.checkUpsert(patch); err != nil {
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

// checkOptions refuses options that are not known.
func checkOptions(field string, unknown document.Object) error {
	if unknown.Len() == 0 {
		return nil
	}
	return boterr.Invalid(field+"."+unknown.Keys()[0], "is no option that is supported here")
}
