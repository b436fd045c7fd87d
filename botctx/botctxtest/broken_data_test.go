package botctxtest_test

import (
	"context"
	"slices"
	"sync"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
)

// Short for the tables below.
type (
	findParams     = datasource.FindAndModifyDataFromDataSourceParams
	findResult     = datasource.FindAndModifyDataFromDataSourceResult
	upsertParams   = datasource.UpsertDataToDataSourceParams
	upsertResult   = datasource.UpsertDataToDataSourceResult
	countParams    = datasource.CountDataSourceParams
	fetchParams    = datasource.FetchDataFromDataSourceParams
	fetchResult    = datasource.FetchDataFromDataSourceResult
	distinctParams = datasource.FetchDistinctDataFromDataSourceParams
	distinctResult = datasource.FetchDistinctDataFromDataSourceResult
	geoParams      = datasource.FetchGeoNearFromDataSourceParams
	geoResult      = datasource.FetchGeoNearFromDataSourceResult
	patchParams    = datasource.PatchDataToDataSourceParams
	patchResult    = datasource.PatchDataToDataSourceResult
)

// brokenData are the defects of operations on data sources.
var brokenData = map[string]breakage{
	"findAndModifyData without modifiers by default": {
		breaking: given(func(p *findParams) {
			if p.WithModifier == nil {
				p.WithModifier = new(false)
			}
		}),
		breaks: []string{
			"FindAndModifyDataFromDataSourceTakesModifiers", "FindAndModifyDataFromDataSourceReturnsBeforeOrAfter",
			"FindAndModifyDataFromDataSourceOfNothing", "FindAndModifyDataFromDataSourceTakesTheFirst",
			"FindAndModifyDataFromDataSourceUpserts", "FindAndModifyDataFromDataSourceFiltersElements",
			"FindAndModifyDataFromDataSourceRefusesAnIDThatExists", "FindAndModifyDataFromDataSourceRefusesBadInput",
			"FindAndModifyDataFromDataSourceReturnsByAnySpelling", "FindAndModifyDataFromDataSourceShowsTheProjection",
			"FindAndModifyDataFromDataSourceTakesOptionsOfDrivers", "FindAndModifyDataFromDataSourceRefusesOptions",
			"EntriesTellWhenTheyChanged", "DataOfAnotherAppIsNotWritten", "FindAndModifyDataFromDataSourceClaimsEachOnce",
			"OperationsAreSafeForConcurrentUse", "FindAndModifyDataFromDataSourceAnswersAsDocumented",
		},
	},
	"findAndModifyData changes nothing": {
		breaking: answers(func(*botctx.Call, findParams) findResult { return findResult{OK: 1} }),
		breaks: []string{
			"FindAndModifyDataFromDataSourceTakesModifiers", "FindAndModifyDataFromDataSourceSetsFields", "FindAndModifyDataFromDataSourceReturnsBeforeOrAfter",
			"FindAndModifyDataFromDataSourceUpserts",
		},
		others: true,
	},
	"findAndModifyData is constant": {
		breaking: gives(func(_ findParams, r *findResult) { r.Value = new(document.O("_id", "a", "n", 1)) }),
		breaks:   []string{"FindAndModifyDataFromDataSourceReturnsBeforeOrAfter", "FindAndModifyDataFromDataSourceOfNothing", "FindAndModifyDataFromDataSourceTakesTheFirst"},
		others:   true,
	},
	"findAndModifyData with modifiers always": {
		breaking: given(func(p *findParams) { p.WithModifier = nil }),
		breaks:   []string{"FindAndModifyDataFromDataSourceSetsFields", "FindAndModifyDataFromDataSourceRefusesBadInput"},
	},
	"findAndModifyData returns the new entry always": {
		breaking: given(func(p *findParams) { p.Option.New = true }),
		breaks: []string{
			"FindAndModifyDataFromDataSourceReturnsBeforeOrAfter", "FindAndModifyDataFromDataSourceUpserts", "FindAndModifyDataFromDataSourceReturnsByAnySpelling",
			"FindAndModifyDataFromDataSourceShowsTheProjection",
		},
	},
	"findAndModifyData does not sort": {
		breaking: given(func(p *findParams) { p.SortBy = document.Object{} }),
		breaks:   []string{"FindAndModifyDataFromDataSourceTakesTheFirst", "FindAndModifyDataFromDataSourceRefusesBadInput"},
	},
	"findAndModifyData does not upsert": {
		breaking: given(func(p *findParams) { p.Option.Upsert = false }),
		breaks:   []string{"FindAndModifyDataFromDataSourceUpserts", "FindAndModifyDataFromDataSourceRefusesAnIDThatExists"},
	},
	"findAndModifyData ignores arrayFilters": {
		breaking: given(func(p *findParams) {
			if len(p.Option.ArrayFilters) > 0 {
				p.Option.ArrayFilters = []document.Object{document.O(arrayFilterName(p.Option.ArrayFilters[0]), document.O("$exists", true))}
			}
		}),
		breaks: []string{"FindAndModifyDataFromDataSourceFiltersElements", "FindAndModifyDataFromDataSourceRefusesBadInput"},
	},
	"findAndModifyData upserts always": {
		breaking: given(func(p *findParams) { p.Option.Upsert = true }),
		breaks:   []string{"FindAndModifyDataFromDataSourceOfNothing", "DataOfAnotherAppIsNotWritten"},
	},
	"findAndModifyData in two steps": {breaking: claimInTwoSteps, breaks: []string{"FindAndModifyDataFromDataSourceClaimsEachOnce"}, only: true},
	"upsert changes nothing": {
		breaking: answers(func(*botctx.Call, upsertParams) upsertResult { return upsertResult{} }),
		breaks:   []string{"UpsertDataToDataSourceUpdatesWhatExists", "UpsertDataToDataSourceInsertsWithTheGivenID", "UpsertDataToDataSourceInsertsWithANewID", "EntriesTellWhenTheyChanged"},
		others:   true,
	},
	"upsert counts new ids alone": {
		breaking: gives(func(_ upsertParams, r *upsertResult) { r.Result.Inserted = int64(len(r.Result.DocsIDs.Inserted)) }),
		breaks: []string{
			"UpsertDataToDataSourceCountsAllInserted", "DataOfAnotherAppIsNotWritten", "DataSourcesAreApart",
			"UpsertDataToDataSourceInsertsOnceOfMany",
		},
	},
	"upsert calls all inserted": {
		breaking: gives(func(_ upsertParams, r *upsertResult) {
			r.Result.DocsIDs.Inserted = append(r.Result.DocsIDs.Inserted, r.Result.DocsIDs.Upserted...)
			r.Result.DocsIDs.Upserted = []any{}
		}),
		breaks: []string{
			"UpsertDataToDataSourceInsertsWithTheGivenID", "UpsertDataToDataSourceCountsAllInserted", "UpsertDataToDataSourceTakesAnyScalarAsID",
			"UpsertDataToDataSourceTakesCopies",
		},
	},
	"upsert counts matched as modified": {
		breaking: gives(func(_ upsertParams, r *upsertResult) { r.Result.Modified = r.Result.Matched }),
		breaks:   []string{"UpsertDataToDataSourceUpdatesWhatExists", "UpsertDataToDataSourceTakesWhatWasFetched"},
	},
	"upsert lists are null": {
		breaking: gives(func(_ upsertParams, r *upsertResult) {
			if len(r.Result.DocsIDs.Updated) == 0 {
				r.Result.DocsIDs.Updated = nil
			}
		}),
		breaks: []string{"UpsertDataToDataSourceOfNothing"},
	},
	"upsert keeps the first of what comes twice": {
		breaking: given(func(p *upsertParams) {
			seen := map[any]bool{}
			p.Data = slices.DeleteFunc(slices.Clone(p.Data), func(o document.Object) bool {
				id, ok := o.Field("_id")
				text, isText := id.(string)
				isTwice := ok && isText && seen[text]
				seen[text] = true
				return isTwice
			})
		}),
		breaks: []string{"UpsertDataToDataSourceRefusesBadInput"},
	},
	"ids are texts": {
		breaking: given(func(p *upsertParams) {
			for i, o := range p.Data {
				if id, ok := o.Field("_id"); ok && document.TypeName(id) == "double" {
					p.Data = slices.Clone(p.Data)
					p.Data[i] = o.With("_id", "1.5")
				}
			}
		}),
		breaks: []string{"UpsertDataToDataSourceTakesAnyScalarAsID"},
	},
	"upsert forgets data of other names": {
		breaking: given(func(p *upsertParams) {
			for i, o := range p.Data {
				p.Data = slices.Clone(p.Data)
				p.Data[i] = o.Without("app")
			}
		}),
		breaks: []string{"DataOfAnotherAppIsNotWritten", "ColumnsMayBeCalledApp"},
	},
	"count finds nothing": {
		breaking: answers(func(*botctx.Call, countParams) int64 { return 0 }),
		breaks: []string{
			"CountDataSourceCountsWhatMatches", "CountDataSourceRefusesBadInput", "EndedContextIsCanceled",
			"PassedDeadlineIsCanceled", "CountDataSourceAnswersAsDocumented",
		},
	},
	"count is constant": {
		breaking: answers(func(*botctx.Call, countParams) int64 { return 4 }),
		breaks:   []string{"CountDataSourceCountsWhatMatches", "CountDataSourceRefusesBadInput"},
		others:   true,
	},
	"count ignores the filter": {
		breaking: given(func(p *countParams) { p.Filter = document.Object{} }),
		breaks:   []string{"CountDataSourceCountsWhatMatches", "CountDataSourceRefusesBadInput"},
	},
	"fetch is empty": {
		breaking: answers(func(*botctx.Call, fetchParams) fetchResult { return fetchResult{Entries: []document.Object{}} }),
		breaks:   []string{"FetchDataFromDataSourceReturnsWhatMatches", "FetchDataFromDataSourceOrders", "FetchDataFromDataSourceCounts"},
		others:   true,
	},
	"fetch counts always": {
		breaking: given(func(p *fetchParams) { p.Count = true }),
		breaks:   []string{"FetchDataFromDataSourceReturnsWhatMatches", "FetchDataFromDataSourceCounts", "FetchDataFromDataSourceOfNothing"},
		others:   true,
	},
	"fetch never counts": {
		breaking: given(func(p *fetchParams) { p.Count = false }),
		breaks:   []string{"FetchDataFromDataSourceCounts"},
		others:   true,
	},
	"fetch sorts by the last key": {
		breaking: given(func(p *fetchParams) {
			if p.SortBy.Len() > 1 {
				last := p.SortBy.Keys()[p.SortBy.Len()-1]
				direction, _ := p.SortBy.Field(last)
				p.SortBy = document.O(last, direction)
			}
		}),
		breaks: []string{"FetchDataFromDataSourceOrders"},
	},
	"fetch leaves out one entry": {
		breaking: given(func(p *fetchParams) { p.Skip++ }),
		breaks:   []string{"FetchDataFromDataSourceReturnsWhatMatches", "FetchDataFromDataSourcePages"},
		others:   true,
	},
	"fetch skips nothing": {
		breaking: given(func(p *fetchParams) { p.Skip = 0 }),
		breaks:   []string{"FetchDataFromDataSourcePages"},
		others:   true,
	},
	"fetch has a limit of one": {
		breaking: given(func(p *fetchParams) { p.Limit = 1 }),
		breaks:   []string{"FetchDataFromDataSourceReturnsWhatMatches", "FetchDataFromDataSourcePages"},
		others:   true,
	},
	"fetch has no limit": {
		breaking: given(func(p *fetchParams) { p.Limit = 0 }),
		breaks:   []string{"FetchDataFromDataSourcePages"},
		others:   true,
	},
	"fetch returns null": {
		breaking: gives(func(_ fetchParams, r *fetchResult) {
			if len(r.Entries) == 0 {
				r.Entries = nil
			}
		}),
		breaks: []string{"FetchDataFromDataSourceOfNothing"},
	},
	"fetch returns the same list again": {
		breaking: sharedEntries,
		breaks:   []string{"UpsertDataToDataSourceTakesCopies", "FetchDataFromDataSourceIsTheCallersOwn"},
	},
	"data sources without case": {
		breaking: given(func(p *upsertParams) {
			if p.DataSourceID == "Things" {
				p.DataSourceID = "things"
			}
		}),
		breaks: []string{"DataSourcesAreApart"},
	},
	"distinct returns every value": {
		breaking: everyValue,
		breaks:   []string{"FetchDistinctDataFromDataSourceReturnsEachValueOnce", "FetchDistinctDataFromDataSourceCounts"},
	},
	"distinct finds nothing": {
		breaking: answers(func(*botctx.Call, distinctParams) distinctResult { return distinctResult{Entries: []any{}} }),
		breaks:   []string{"FetchDistinctDataFromDataSourceReturnsEachValueOnce", "FetchDistinctDataFromDataSourceCounts"},
		others:   true,
	},
	"distinct is constant": {
		breaking: answers(func(*botctx.Call, distinctParams) distinctResult {
			return distinctResult{Entries: []any{"Rome", "Bern"}, Count: 2}
		}),
		breaks: []string{"FetchDistinctDataFromDataSourceReturnsEachValueOnce", "FetchDistinctDataFromDataSourceCounts", "FetchDistinctDataFromDataSourceOfNothing"},
		others: true,
	},
	"distinct counts always": {
		breaking: given(func(p *distinctParams) { p.Count = true }),
		breaks:   []string{"FetchDistinctDataFromDataSourceReturnsEachValueOnce", "FetchDistinctDataFromDataSourceCounts", "FetchDistinctDataFromDataSourceOfNothing", "ColumnsMayBeCalledApp"},
	},
	"distinct is null": {
		breaking: gives(func(_ distinctParams, r *distinctResult) {
			if len(r.Entries) == 0 {
				r.Entries = nil
			}
		}),
		breaks: []string{"FetchDistinctDataFromDataSourceOfNothing"},
	},
	"distinct never counts": {
		breaking: given(func(p *distinctParams) { p.Count = false }),
		breaks:   []string{"FetchDistinctDataFromDataSourceCounts"},
	},
	"geoNear returns the farthest first": {
		breaking: gives(func(_ geoParams, r *geoResult) { slices.Reverse(r.Entries) }),
		breaks: []string{
			"FetchGeoNearFromDataSourceReturnsNearestFirst", "FetchGeoNearFromDataSourceKeepsToItsBounds", "FetchGeoNearFromDataSourceMeasures", "FetchGeoNearFromDataSourceTakesAKey",
		},
	},
	"geoNear finds nothing": {
		breaking: answers(func(*botctx.Call, geoParams) geoResult { return geoResult{Entries: []document.Object{}} }),
		breaks:   []string{"FetchGeoNearFromDataSourceReturnsNearestFirst", "FetchGeoNearFromDataSourceKeepsToItsBounds", "FetchGeoNearFromDataSourceMeasures", "FetchGeoNearFromDataSourceTakesAKey"},
		others:   true,
	},
	"geoNear is constant": {
		breaking: answers(func(*botctx.Call, geoParams) geoResult {
			near := document.O("_id", "near", "location", document.A(1, 0), "open", true)
			return geoResult{Entries: []document.Object{near}, Count: 1}
		}),
		breaks: []string{"FetchGeoNearFromDataSourceReturnsNearestFirst", "FetchGeoNearFromDataSourceKeepsToItsBounds", "FetchGeoNearFromDataSourceMeasures", "FetchGeoNearFromDataSourceTakesAKey"},
		others: true,
	},
	"geoNear is spherical by default": {
		breaking: given(func(p *geoParams) {
			if p.Data.Len() > 0 && !p.Data.Has("spherical") {
				p.Data = p.Data.With("spherical", true)
			}
		}),
		breaks: []string{"FetchGeoNearFromDataSourceKeepsToItsBounds"},
		others: true,
	},
	"geoNear has no limit": {
		breaking: given(func(p *geoParams) {
			if n, _ := p.Data.Field("limit"); document.TypeName(n) == "int" || document.TypeName(n) == "long" {
				p.Data = p.Data.Without("limit")
			}
		}),
		breaks: []string{"FetchGeoNearFromDataSourceKeepsToItsBounds", "FetchGeoNearFromDataSourceRefusesBadInput"},
	},
	"geoNear looks at location alone": {
		breaking: given(func(p *geoParams) { p.Data = p.Data.Without("key") }),
		breaks:   []string{"FetchGeoNearFromDataSourceTakesAKey", "FetchGeoNearFromDataSourceRefusesBadInput"},
	},
	"geoNear measures in kilometres": {
		breaking: given(func(p *geoParams) {
			if p.Data.Has("distanceField") && !p.Data.Has("distanceMultiplier") {
				p.Data = p.Data.With("distanceMultiplier", 0.001)
			}
		}),
		breaks: []string{"FetchGeoNearFromDataSourceMeasures"},
	},
	"patchData changes all": {
		breaking: given(func(p *patchParams) { p.Multi = true }),
		breaks: []string{
			"PatchDataToDataSourceTakesModifiers", "PatchDataToDataSourceChangesOneOrAll", "PatchDataToDataSourceCounts", "PatchDataToDataSourceTakesASort",
		},
	},
	"patchData changes one": {
		breaking: given(func(p *patchParams) { p.Multi = false }),
		breaks: []string{
			"PatchDataToDataSourceChangesOneOrAll", "PatchDataToDataSourceCounts", "PatchDataToDataSourceIsAllOrNone", "PatchDataToDataSourceRefusesBadInput",
			"PatchDataToDataSourceLosesNoChange",
		},
	},
	"patchData with modifiers always": {
		breaking: given(func(p *patchParams) { p.WithModifier = true }),
		breaks: []string{
			"PatchDataToDataSourceSetsFields", "PatchDataToDataSourceChangesOneOrAll", "PatchDataToDataSourceCounts", "PatchDataToDataSourceFiltersElements", "PatchDataToDataSourceUpserts",
			"PatchDataToDataSourceRefusesBadInput", "DataOfAnotherAppIsNotWritten", "ColumnsMayBeCalledApp",
		},
	},
	"patchData without modifiers always": {
		breaking: given(func(p *patchParams) { p.WithModifier = false }),
		breaks: []string{
			"PatchDataToDataSourceTakesModifiers", "PatchDataToDataSourceRefusesBadInput",
			"PatchDataToDataSourceTakesOptionsOfDrivers", "PatchDataToDataSourceLosesNoChange",
			"OperationsAreSafeForConcurrentUse", "PatchDataToDataSourceAnswersAsDocumented",
		},
	},
	"patchData counts matched as modified": {
		breaking: gives(func(_ patchParams, r *patchResult) { r.Modified = r.Matched }),
		breaks:   []string{"PatchDataToDataSourceCounts", "PatchDataToDataSourceUpserts"},
	},
	"patchData upserts always": {
		breaking: given(func(p *patchParams) { p.Options.Upsert = true }),
		breaks:   []string{"PatchDataToDataSourceCounts"},
		others:   true,
	},
	"patchData does not upsert": {
		breaking: given(func(p *patchParams) { p.Options.Upsert = false }),
		breaks:   []string{"PatchDataToDataSourceUpserts"},
	},
	"patchData does not sort": {
		breaking: given(func(p *patchParams) { p.Options.Sort = document.Object{} }),
		breaks:   []string{"PatchDataToDataSourceTakesASort", "PatchDataToDataSourceRefusesBadInput"},
	},
	"patchData ignores arrayFilters": {
		breaking: given(func(p *patchParams) {
			if len(p.Options.ArrayFilters) > 0 {
				p.Options.ArrayFilters = []document.Object{document.O(arrayFilterName(p.Options.ArrayFilters[0]), document.O("$exists", true))}
			}
		}),
		breaks: []string{"PatchDataToDataSourceFiltersElements", "PatchDataToDataSourceRefusesBadInput"},
	},
	"patchData changes nothing": {
		breaking: answers(func(*botctx.Call, patchParams) patchResult { return patchResult{Matched: 1, Modified: 1} }),
		breaks:   []string{"PatchDataToDataSourceSetsFields", "PatchDataToDataSourceTakesModifiers", "PatchDataToDataSourceUpserts"},
		others:   true,
	},
}

// claimInTwoSteps finds an entry first and takes it then.
func claimInTwoSteps() botctx.Interceptor {
	together := newMeeting()
	return func(ctx context.Context, call *botctx.Call, next botctx.Next) (any, error) {
		p, ok := call.Params.(findParams)
		if !ok {
			return next(ctx)
		}
		found, err := call.Context.FetchDataFromDataSource(ctx, fetchParams{DataSourceID: p.DataSourceID, Filter: p.Filter})
		if err != nil {
			return nil, err
		}
		together.join()
		if len(found.Entries) > 0 {
			p.Filter = document.O("_id", document.Get(found.Entries[0], "_id", -1))
			call.Params = p
		}
		return next(ctx)
	}
}

// sharedEntries gives the same list to all who fetch the same entries.
func sharedEntries() botctx.Interceptor {
	var mu sync.Mutex
	kept := map[string]fetchResult{}
	return func(ctx context.Context, call *botctx.Call, next botctx.Next) (any, error) {
		answer, err := next(ctx)
		result, ok := answer.(fetchResult)
		if !ok || err != nil {
			return answer, err
		}
		key := call.Context.Scope().App + document.A(result.Entries).String()
		mu.Lock()
		defer mu.Unlock()
		if _, ok := kept[key]; !ok {
			kept[key] = result
		}
		return kept[key], nil
	}
}

// everyValue returns the values of distinct with each as often as it is there.
func everyValue() botctx.Interceptor {
	return func(ctx context.Context, call *botctx.Call, next botctx.Next) (any, error) {
		answer, err := next(ctx)
		p, ok := call.Params.(distinctParams)
		if !ok || err != nil {
			return answer, err
		}
		found, err := call.Context.FetchDataFromDataSource(ctx, fetchParams{
			CollectionName: p.CollectionName, DataSourceID: p.DataSourceID, Filter: p.Filter,
		})
		result := distinctResult{Entries: []any{}}
		for _, entry := range found.Entries {
			if value, ok := entry.Lookup(p.Key); ok {
				result.Entries = append(result.Entries, value)
			}
		}
		result.Count = int64(len(result.Entries))
		if p.Count {
			result.Entries = nil
		}
		return result, err
	}
}
