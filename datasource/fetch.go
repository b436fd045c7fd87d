package datasource

import (
	"context"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/store"
)

// CountDataSource implements Operations.
func (s *Service) CountDataSource(ctx context.Context, p CountDataSourceParams) (int64, error) {
	entries, err := s.collection(p.CollectionName, p.DataSourceID)
	if err != nil {
		return 0, err
	}
	return entries.Count(ctx, p.Filter)
}

// FetchDataFromDataSource implements Operations.
func (s *Service) FetchDataFromDataSource(
	ctx context.Context, p FetchDataFromDataSourceParams,
) (FetchDataFromDataSourceResult, error) {
	var result FetchDataFromDataSourceResult
	entries, err := s.collection(p.CollectionName, p.DataSourceID)
	if err != nil {
		return result, err
	}
	if _, err := s.env.Compiler.Sort(p.SortBy); err != nil {
		return result, boterr.PrefixField("sortBy", err)
	}
	page := store.FindOptions{Skip: p.Skip, Limit: p.Limit}
	if err := page.Check(); err != nil {
		return result, err
	}
	if p.Count {
		result.Count, err = entries.Count(ctx, p.Filter)
		return result, err
	}
	result.Entries, err = entries.Find(ctx, record.Query{Filter: p.Filter, SortBy: p.SortBy, Skip: p.Skip, Limit: p.Limit})
	result.Count = int64(len(result.Entries))
	return result, err
}

// FetchDistinctDataFromDataSource implements Operations.
func (s *Service) FetchDistinctDataFromDataSource(
	ctx context.Context, p FetchDistinctDataFromDataSourceParams,
) (FetchDistinctDataFromDataSourceResult, error) {
	var result FetchDistinctDataFromDataSourceResult
	entries, err := s.collection(p.CollectionName, p.DataSourceID)
	if err != nil {
		return result, err
	}
	if err := checkColumn(p.Key); err != nil {
		return result, boterr.PrefixField("key", err)
	}
	values, err := entries.Distinct(ctx, p.Key, p.Filter)
	if err != nil {
		return result, err
	}
	result.Count = int64(len(values))
	if !p.Count {
		result.Entries = append([]any{}, values...)
	}
	return result, nil
}

// checkColumn refuses what no column can be named.
func checkColumn(path string) error {
	if path == "" {
		return boterr.Invalid("", "is missing: name a column")
	}
	if path[0] == '$' {
		return boterr.Invalid("", "the name of a column cannot begin with $")
	}
	return document.CheckReadPath(path)
}
