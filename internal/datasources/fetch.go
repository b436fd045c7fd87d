package datasources

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/display"
	"github.com/botctx/go-sdk/internal/query"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/store"
)

// CountDataSource implements datasource.Operations.
func (s *Service) CountDataSource(ctx context.Context, p datasource.CountParams) (int64, error) {
	entries, err := s.collection(p.CollectionName, p.DataSourceID)
	if err != nil {
		return 0, err
	}
	return entries.Count(ctx, p.Filter)
}

// FetchDataFromDataSource implements datasource.Operations.
func (s *Service) FetchDataFromDataSource(
	ctx context.Context, p datasource.FetchParams,
) (datasource.FetchResult, error) {
	var result datasource.FetchResult
	entries, err := s.collection(p.CollectionName, p.DataSourceID)
	if err != nil {
		return result, err
	}
	if p.Count { // A count needs neither order nor page, but refuses what a search would refuse.
		if _, err := query.CompileSort(p.SortBy); err != nil {
			return result, boterr.PrefixField("sortBy", err)
		}
		page := store.FindOptions{Skip: p.Skip, Limit: p.Limit}
		if err := page.Check(); err != nil {
			return result, err
		}
		result.Count, err = entries.Count(ctx, p.Filter)
		return result, err
	}
	result.Entries, err = entries.Find(ctx, record.Query{Filter: p.Filter, SortBy: p.SortBy, Skip: p.Skip, Limit: p.Limit})
	result.Count = int64(len(result.Entries))
	return result, err
}

// FetchDistinctDataFromDataSource implements datasource.Operations.
func (s *Service) FetchDistinctDataFromDataSource(
	ctx context.Context, p datasource.FetchDistinctParams,
) (datasource.FetchDistinctResult, error) {
	var result datasource.FetchDistinctResult
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

// checkColumn returns an error if path is not the name of a column.
func checkColumn(path string) error {
	if path == "" {
		return boterr.Invalid("", "is missing; name a column")
	}
	if path[0] == '$' {
		return boterr.Invalid("", "the name of a column cannot begin with $")
	}
	return document.CheckReadPath(path)
}

const (
	geoNear = "near"
	geoKey  = "key"
)

// FetchGeoNearFromDataSource implements datasource.Operations.
func (s *Service) FetchGeoNearFromDataSource(
	ctx context.Context, p datasource.FetchGeoNearParams,
) (datasource.FetchGeoNearResult, error) {
	var result datasource.FetchGeoNearResult
	entries, err := s.collection(p.CollectionName, p.DataSourceID)
	if err != nil {
		return result, err
	}
	found, err := near(ctx, &entries, withoutNulls(p.Data))
	if err != nil {
		return result, boterr.PrefixField("data", err)
	}
	result.Entries = make([]document.Object, len(found))
	for i, near := range found {
		result.Entries[i] = near.Document
	}
	result.Count = int64(len(found))
	return result, nil
}

// withoutNulls returns the data of a geo query without fields that are null.
func withoutNulls(data document.Object) document.Object {
	for name, value := range data.All() {
		if value == nil {
			data = data.Without(name)
		}
	}
	return data
}

// near searches the column that data names, or else the column of the store's geo index. If there is neither, it
// searches query.DefaultGeoKey and, if that has no points, the only column with points.
func near(ctx context.Context, entries *record.Collection, data document.Object) ([]query.GeoResult, error) {
	found, err := entries.GeoNear(ctx, data)
	if !errors.Is(err, query.ErrNoGeoIndex) {
		return found, err
	}
	found, err = entries.GeoNear(ctx, data.With(geoKey, query.DefaultGeoKey))
	if err != nil || len(found) > 0 {
		return found, err
	}
	column, err := columnOfPoints(ctx, entries, data)
	if err != nil || column == "" {
		return found, err
	}
	return entries.GeoNear(ctx, data.With(geoKey, column))
}

// columnOfPoints returns the column that contains points. It returns "" if there is none, or if
// query.DefaultGeoKey contains points, and InvalidArgument if there are several. Columns of GeoJSON
// points take precedence over columns of pairs, because a pair may be any two numbers.
func columnOfPoints(ctx context.Context, entries *record.Collection, data document.Object) (string, error) {
	near, _ := data.Field(geoNear)
	points, err := query.CompileGeoNear(document.O(geoNear, near))
	if err != nil {
		return "", err
	}
	all, err := entries.Find(ctx, record.Query{})
	if err != nil {
		return "", err
	}
	call := query.NewEvaluation(ctx)
	pairs, geoJSON := map[string]struct{}{}, map[string]struct{}{}
	for _, entry := range all {
		call.Visit(entry)
		for column, value := range entry.All() {
			_, isPoint, err := call.Measure(points.WithKey(column), entry)
			switch {
			case err != nil:
				return "", err
			case !isPoint:
			case column == query.DefaultGeoKey:
				return "", nil
			case isGeoJSON(value):
				geoJSON[column] = struct{}{}
			default:
				pairs[column] = struct{}{}
			}
		}
	}
	if len(geoJSON) > 0 {
		return onlyColumn(geoJSON)
	}
	return onlyColumn(pairs)
}

func isGeoJSON(value any) bool {
	o, _ := value.(document.Object)
	kind, _ := o.Field("type")
	return kind == "Point"
}

// onlyColumn returns the only column, or "" if there are none.
func onlyColumn(among map[string]struct{}) (string, error) {
	columns := slices.Sorted(maps.Keys(among))
	switch len(columns) {
	case 0:
		return "", nil
	case 1:
		return columns[0], nil
	default:
		return "", boterr.Invalid(geoKey, "is missing; the columns %s contain points, so name one of them",
			display.List(len(columns), func(i int) string { return strconv.Quote(columns[i]) }))
	}
}
