package storetest_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/conformance"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/storetest"
)

// violations returns what is reported where a store is checked against a rule.
func violations(ctx context.Context, rule storetest.Rule, store store.Store) []string {
	return conformance.Violations(ctx, func(t storetest.T) { rule.Check(t, store) })
}

func TestSuite_ReportsWhatIsBroken(t *testing.T) {
	t.Parallel()
	for name, test := range breakages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			broken := []string{}
			for _, rule := range storetest.Rules() {
				if test.only && !slices.Contains(test.breaks, rule.Name) {
					continue
				}
				if reports := violations(t.Context(), rule, test.newStore()); len(reports) > 0 {
					require.True(t, strings.HasPrefix(reports[0], "rule broken: "+rule.Text), reports[0])
					broken = append(broken, rule.Name)
				}
			}
			if test.others {
				require.Subset(t, broken, test.breaks)
			} else {
				require.ElementsMatch(t, test.breaks, broken)
			}
		})
	}
}

func TestRules_NamedAndQuoted(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, rule := range storetest.Rules() {
		require.False(t, seen[rule.Name], "%s comes twice", rule.Name)
		seen[rule.Name] = true
		require.Regexp(t, `^([A-Z]+[a-z]*)+$`, rule.Name)
		require.NotEmpty(t, rule.Text, rule.Name)
	}
}

func TestRules_LackOfACapability(t *testing.T) {
	t.Parallel()
	for _, capability := range []storetest.Capability{
		storetest.GeoQueries, storetest.GeoIndexes, storetest.UniqueIndexes, storetest.SparseIndexes,
		storetest.ArrayFilters, storetest.UpdateSort, storetest.GeoFilters, storetest.Expressions,
		storetest.NestedArrays, storetest.Infinity,
	} {
		t.Run(string(capability), func(t *testing.T) {
			t.Parallel()
			rules := storetest.Rules(capability)
			for _, rule := range rules {
				require.NotContains(t, rule.Needs, capability)
			}
			lack := rules[len(rules)-1]
			require.Equal(t, "LackOf"+string(capability)+"IsUnsupported", lack.Name)
			require.NotEmpty(t, violations(t.Context(), lack, memstore.New()), "a store that does not lack it")
			lacking := breaking(func(c collection) collection { return unsupporting{c} })
			require.Empty(t, violations(t.Context(), lack, lacking()))
		})
	}

	t.Run("unknown", func(t *testing.T) {
		t.Parallel()
		rules := storetest.Rules("Telepathy")
		reports := violations(t.Context(), rules[len(rules)-1], memstore.New())
		require.Len(t, reports, 1)
		require.Contains(t, reports[0], `"Telepathy" is no capability`)
	})
}

// collection is short for the functions below.
type collection = store.Collection

// breakage is a store with a defect, and what the suite must say of it.
type breakage struct {
	newStore func() store.Store
	// breaks are the rules that the store breaks, and, unless others may be broken
	// by the same defect, all of them.
	breaks []string
	others bool
	// only tells that no other rules are checked, because the store cannot get
	// through them.
	only bool
}

var breakages = map[string]breakage{
	"loose names": {
		newStore: func() store.Store { return looseNames{memstore.New()} },
		breaks:   []string{"BadCollectionNamesAreRefused", "CollectionsAreApart", "LongCollectionNamesAreTaken"},
	},
	"no clock": {
		newStore: func() store.Store { return noClock{memstore.New()} },
		breaks:   []string{"NowIsTheStoresClock", "ExprKnowsTheStoresTime", "EndedContextIsCanceled", "PassedDeadlineIsCanceled"},
	},
	"order of _ids": {
		newStore: breaking(func(c collection) collection { return byID{c} }),
		breaks: []string{
			"InsertIsAllOrNone", "InsertTakesAnyIDButArrays", "FindReturnsInsertionOrder",
			"UpdateChangesTheFirstMatch", "DeleteRemovesTheFirstMatch", "NearComesNearestFirst",
		},
	},
	"no limit": {
		newStore: breaking(func(c collection) collection { return unlimited{c} }),
		breaks:   []string{"FindSkipsAndLimits", "SortOrdersByEachKeyInTurn", "SortTiesKeepInsertionOrder"},
	},
	"no patterns": {
		newStore: breaking(func(c collection) collection { return patternless{c} }),
		breaks:   []string{"FiltersFindPatterns", "ArraysFindPatterns"},
	},
	"no projections": {
		newStore: breaking(func(c collection) collection { return unprojecting{c} }),
		breaks: []string{
			"FindProjects", "FilterAndSortSeeWholeDocuments", "ProjectionCutsArrays", "ProjectionWithoutAPositionIsRefused",
			"FindAndModifyProjects", "FindAndModifyRefusesAProjectionWhole",
		},
	},
	"projections before filters": {
		newStore: breaking(func(c collection) collection { return projectingFirst{c} }),
		breaks:   []string{"FilterAndSortSeeWholeDocuments", "ProjectionWithoutAPositionIsRefused"},
	},
	"projections after the change": {
		newStore: breaking(func(c collection) collection { return projectingLate{c} }),
		breaks:   []string{"FindAndModifyRefusesAProjectionWhole"},
	},
	"nil slices": {
		newStore: breaking(func(c collection) collection { return nilSlices{c} }),
		breaks:   []string{"FindReturnsMatches"},
	},
	"cached slices": {
		newStore: breaking(func(c collection) collection { return cached{c, &sync.Mutex{}, new([]document.Object)} }),
		breaks:   []string{"NothingStoredIsAliased"},
		others:   true,
	},
	"unstable sort": {
		newStore: breaking(func(c collection) collection { return unstableSort{c} }),
		breaks: []string{
			"SortOrdersAllTypes", "SortTiesKeepInsertionOrder", "SortTakesTheElementOfAnIndex", "SortRefusesArraysSideBySide",
		},
	},
	"integers as doubles": {
		newStore: rewritingWith(intsAsDoubles),
		breaks:   []string{"NumbersKeepTheirType"},
		others:   true,
	},
	"doubles as integers": {
		newStore: rewritingWith(wholeDoublesAsInts),
		breaks:   []string{"NumbersKeepTheirType", "GeoNearWritesIntoResultsOnly"},
	},
	"sorted fields": {
		newStore: rewritingWith(sortedFields),
		breaks:   []string{"FieldsKeepTheirOrder"},
		others:   true,
	},
	"whole seconds": {
		newStore: rewritingWith(wholeSeconds),
		breaks:   []string{"InsertTakesAnyIDButArrays", "TimesKeepMilliseconds", "GetFindsByID"},
	},
	"strings cut at NUL": {
		newStore: rewritingWith(cutAtNUL),
		breaks:   []string{"OddStringsAreKept"},
	},
	"no null": {
		newStore: rewritingWith(withoutNull),
		breaks: []string{
			"EmptyAndNestedValuesAreKept", "DistinctLeavesOutWhatIsMissing", "SparseIndexLeavesOutWhatIsMissing",
		},
	},
	"inserts one by one": {
		newStore: breaking(func(c collection) collection { return oneByOne{c} }),
		breaks:   []string{"InsertIsAllOrNone", "InsertRefusesBadDocuments", "UniqueIndexRefusesASecondKey"},
	},
	"overwriting inserts": {
		newStore: breaking(func(c collection) collection { return overwriting{c} }),
		breaks:   []string{"InsertIsAllOrNone", "InsertRefusesAnIDThatExists", "ConcurrentInsertsOfOneID"},
	},
	"updates one by one": {
		newStore: breaking(func(c collection) collection { return partly{c} }),
		breaks:   []string{"UpdateMultiIsAllOrNone", "UniqueIndexRefusesASecondKey"},
	},
	"partly means the first": {
		newStore: breaking(func(c collection) collection { return partlyFirst{c} }),
		breaks:   []string{"UpdatePartlyChangesAllMatches", "UpdatePartlyLeavesEachDocumentWhole"},
	},
	"partly means in halves": {
		newStore: breaking(func(c collection) collection { return inHalves{c} }),
		breaks:   []string{"UpdatePartlyLeavesEachDocumentWhole"},
		others:   true,
	},
	"no stamps": {
		newStore: changingWith(withoutStamps),
		breaks:   []string{"StampsAreRenewedByAChange", "StampsStayWithoutAChange", "UpdatesDoNotReachStamps", "OnInsertCompletesAnUpsert"},
	},
	"no fixed fields": {
		newStore: changingWith(withoutFixed),
		breaks:   []string{"FixedFieldsStay", "ReplacementKeepsFixedFields", "OnInsertKeepsFixedFields"},
	},
	"no $expr": {
		newStore: breaking(func(c collection) collection { return exprBlind{c} }),
		breaks:   []string{"ExprComparesFields", "ExprThatFailsFailsTheOperation", "ExprKnowsTheStoresTime"},
	},
	"$expr that forgives": {
		newStore: breaking(func(c collection) collection { return forgiving{c} }),
		breaks:   []string{"ExprThatFailsFailsTheOperation"},
	},
	"no OnInsert": {
		newStore: changingWith(withoutOnInsert),
		breaks:   []string{"OnInsertCompletesAnUpsert"},
	},
	"modified is matched": {
		newStore: breaking(func(c collection) collection { return modifiedIsMatched{c} }),
		breaks: []string{
			"UpdateCountsWhatChanged", "StampsStayWithoutAChange", "UpdatesDoNotReachStamps", "UpsertChangesAMatch",
		},
	},
	"always the new document": {
		newStore: breaking(func(c collection) collection { return alwaysNew{c} }),
		breaks:   []string{"FindAndModifyReturnsBeforeOrAfter", "FindAndModifyUpserts", "FindAndModifyProjects"},
	},
	"unsorted findAndModify": {
		newStore: breaking(func(c collection) collection { return unsortedModify{c} }),
		breaks:   []string{"FindAndModifyTakesTheFirst", "SortRefusesArraysSideBySide"},
	},
	"deletes one": {
		newStore: breaking(func(c collection) collection { return oneRemoved{c} }),
		breaks:   []string{"DeleteMultiRemovesAllMatches"},
	},
	"inserts after the end": {
		newStore: breaking(func(c collection) collection { return uncanceled{c} }),
		breaks:   []string{"EndedContextIsCanceled", "PassedDeadlineIsCanceled"},
	},
	"no unique indexes": {
		newStore: indexingWith(withoutUnique),
		breaks: []string{
			"EnsureIndexWithOtherOptions", "UniqueIndexRefusesASecondKey", "UniqueIndexFreesKeys",
			"UniqueIndexCountsMissingAsNull", "SparseIndexLeavesOutWhatIsMissing", "UniqueIndexCountsElements",
			"UniqueIndexOfSeveralKeys", "UniqueIndexRefusesWhatIsThere",
		},
	},
	"no sparse indexes": {
		newStore: indexingWith(withoutSparse),
		breaks:   []string{"SparseIndexLeavesOutWhatIsMissing"},
	},
	"distinct to the letter": {
		newStore: breaking(func(c collection) collection { return distinctToTheLetter{c} }),
		breaks:   []string{"DistinctReturnsEachValueOnce", "DistinctLeavesOutWhatIsMissing", "DistinctRefusesBadPaths"},
	},
	"gets by text": {
		newStore: breaking(func(c collection) collection { return gettingByText{c} }),
		breaks:   []string{"GetFindsByID"},
	},
	"farthest first": {
		newStore: breaking(func(c collection) collection { return farthestFirst{c} }),
		breaks:   []string{"GeoNearReturnsNearestFirst", "GeoNearKeepsToItsBounds", "GeoNearMeasuresLegacyPairs"},
	},
	"near in disorder": {
		newStore: breaking(func(c collection) collection { return nearInDisorder{c} }),
		breaks:   []string{"NearComesNearestFirst"},
	},
	"near makes its index": {
		newStore: breaking(func(c collection) collection { return indexingNear{c} }),
		breaks:   []string{"NearNeedsAnIndex"},
	},
	"places by an index only": {
		newStore: breaking(newIndexedPlaces),
		breaks:   []string{"PlacesAreComparedWithoutAnIndex"},
	},
	"no geo indexes": {
		newStore: breaking(func(c collection) collection { return withoutGeoIndexes{c} }),
		breaks:   []string{"GeoIndexesAreTaken", "NearComesNearestFirst", "GeoIndexesRefuseWhatIsNoPlace"},
	},
	"no codes": {
		newStore: breaking(func(c collection) collection { return internalErrors{c} }),
		breaks:   []string{"InsertRefusesAnIDThatExists", "UniqueIndexRefusesASecondKey"},
		others:   true,
	},
	"findAndModify in two steps": {
		newStore: breaking(newTwoSteps),
		breaks:   []string{"FindAndModifyIsOneStep", "ClaimsAreDisjoint"},
		only:     true,
	},
}
